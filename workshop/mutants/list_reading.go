package main

// ofCopies are lines of the scripts that keep copies in Redis right.
func ofCopies() []mutant {
	const (
		topn = "cache/topn/"
		test = "cache/topn "
	)
	return []mutant{
		{
			"B2", "an older build replaces a newer copy", topn + "publish.lua",
			`if c and less(ARGV[2], c.seq) then return { 'refused', c.seq } end`, ``, test + "TestStaleBuilderIsRefused",
		},
		{
			"B2", "an older build of another process replaces a newer copy", topn + "publish.lua",
			`if c and less(ARGV[2], c.seq) then return { 'refused', c.seq } end`, ``, "workshop/e2e TestBuilderIsRefusedBySeq",
		},
		{
			"B3", "a build is published whatever is left of it", topn + "publish.lua",
			`if size('ZCARD', KEYS[4]) ~= n or size('HLEN', KEYS[5]) ~= n then return { 'expired', '0' } end`, ``, test + "TestBuildThatFailsLeavesNothing",
		},
		{
			"B3", "a copy answers though entries are missing", topn + "head.lua",
			`if size('ZCARD', KEYS[1]) ~= n or size('HLEN', KEYS[2]) ~= n then return nil, 'damaged' end`, ``, test + "TestCopyIsRightOrSaysSo",
		},
		{
			"B2", "commits are applied over a gap", topn + "apply.lua",
			`if c.seq ~= from then return { 'gap', c.n } end`, ``, test + "TestCopyIsRightOrSaysSo",
		},
		{
			"B7", "commits of another branch are applied", topn + "apply.lua",
			`if (c.seq == from and c.as_of ~= ARGV[3]) or (c.seq == to and c.as_of ~= ARGV[5]) then`, `if false then`, test + "TestCopyIsRightOrSaysSo",
		},
		{
			"B7", "a copy is compared by seq alone", topn + "apply.go",
			`case period.Revision() == info.Revision:`, `case period.LastSeq == info.Seq:`, test + "TestForeignIncarnationIsDropped",
		},
		{
			"B7", "an id that was given again means the same period", topn + "apply.go",
			`case period.Incarnation != p.Incarnation:`, `case false:`, test + "TestOtherIncarnation",
		},
		{
			"B1", "tied ranks go by the whole key", topn + "head.lua",
			`'(' .. key:sub(1, 16)) + 1`, `'(' .. key) + 1`, test + "TestCopyConformance",
		},
		{
			"B1", "the sort key forgets who was first", "rank/key.go",
			`b = binary.BigEndian.AppendUint64(b, uint64(e.CreatedTime)^signBit)`, `b = binary.BigEndian.AppendUint64(b, ^uint64(e.CreatedTime)^signBit)`,
			"rank TestKeyOrderAllPairs",
		},
		{
			"A5", "a copy answers below min_seq", topn + "read.go",
			"\tcase h.Seq < q.MinSeq:\n\t\treturn nil, ErrBehind\n", "", test + "TestCopyConformance",
		},
	}
}

// ofBuilds are lines about leases and shared builds.
func ofBuilds() []mutant {
	return []mutant{
		{
			"C5", "a lease that is another's counts as held", "cache/topn/lease.go",
			`case err == nil, time.Since(renewed) >= trust:`, `case time.Since(renewed) >= trust:`, "refresher TestLostLeasePublishesNothing",
		},
		{
			"C5", "who loses the lease goes on", "refresher/build.go",
			"\t\t\tcancel(errLeaseLost)\n", "", "refresher TestLostLeaseCancels",
		},
		{
			"C4", "a lease of another is released", "cache/topn/release.lua",
			`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end`, ``, "cache/topn TestReleaseComparesToken",
		},
		{
			"C4", "temporary keys stay for ever", "cache/topn/build.go",
			"\t\tpipe.PExpire(ctx, b.top, b.copies.opts.TempTTL)\n", "", "cache/topn TestBuilderDiesAnywhere",
		},
		{
			"C1", "who lost the lease before the build builds", "refresher/build.go",
			"if err != nil || !held {", "if err != nil || lease == nil && !held {", "refresher TestFlushedUnderTheLease",
		},
		{
			"C3", "a build that began before it was asked for is enough", "refresher/build.go",
			`info.BuildStarted >= askedRedis`, `info.BuildStarted >= min(askedRedis, 0)`, "refresher TestEachRequestGetsItsBuild",
		},
		{
			"C3", "builds follow each other without a pause", "refresher/build.go",
			`return found{gap: c.minGap - since}, nil`, `return found{gap: min(0, c.minGap-since)}, nil`, "refresher TestBuildsKeepTheirDistance",
		},
	}
}

// ofFeed are lines that judge how old an answer is.
func ofFeed() []mutant {
	const (
		file = "cache/feed/feed.go"
		test = "cache/feed "
	)
	return []mutant{
		{
			"B6", "an answer that a restore took away stays fresh for a moment", file,
			"old), s)\n\tp.good.Store(nil)\n", "old), s)\n", "cache/feed TestRestored",
		},
		{
			"B6", "an answer goes out after a newer one did", file,
			"now\n\t\t\t\tp.good.Store(nil)\n", "now\n", "cache/feed TestOwnCommits",
		},
		{
			"B6", "what a statement showed long ago counts", file,
			"\tif now.Sub(latest.sent) > p.maxAge {\n", "\tif false {\n", test + "TestDatabaseAway",
		},
		{
			"B6", "any answer is fresh", file,
			`if s.exists && s.Revision == r || !denied && s.isBehind(r) {`, `if true {`, test + "TestVerdicts",
		},
		{
			"B6", "any answer of a server is fresh", file,
			`if s.exists && s.Revision == r || !denied && s.isBehind(r) {`, `if true {`, "workshop/e2e TestAnswersAreAsOldAsTheySay",
		},
		{
			"B6", "a server may go back", file,
			`if r.Incarnation == p.minFresh.Incarnation && r.Seq < p.minFresh.Seq {`, `if false {`, test + "TestOwnCommits",
		},
		{
			"B7", "revisions of one seq are the same", file,
			`s.Seq == r.Seq && s.AsOf != r.AsOf`, `false`, test + "TestSameSeqOfAnotherBranch",
		},
		{
			"B7", "another incarnation denies nothing", file,
			`return s.isBehind(r) || s.Incarnation != r.Incarnation`, `return s.isBehind(r)`, test + "TestOtherIncarnation",
		},
	}
}

// ofReading are lines of the layers of reading.
func ofReading() []mutant {
	return []mutant{
		{
			"A5", "a kept answer below min_seq is served", "cache/kept.go",
			"h.age(now) > k.opts.StaleLimit || !h.reaches(q) {", "h.age(now) > k.opts.StaleLimit {", "cache TestKeptMinSeq",
		},
		{
			"D5", "answers are served stale for ever", "cache/kept.go",
			`if !ok || h.age(now) > k.opts.StaleLimit ||`, `if !ok ||`, "cache TestReaderServesStale",
		},
		{
			"D1", "an answer of which nothing is known is called fresh", "cache/reader.go",
			`return q.stale(a), nil`, `return a, nil`, "cache TestAwayMarksEveryAnswer",
		},
		{
			"D1", "a period in memory of which nothing is known is called fresh", "cache/layer.go",
			`return a.From(a.At(0).Source, true)`, `return a`, "cache TestAwayMarksMemory",
		},
		{
			"B6", "boards ranked as one are fresh though one of them has become old", "cache/combined.go",
			`page.States[i].Stale || late`, `page.States[i].Stale`, "cache TestSlowestAnswerOutlastsOthers",
		},
		{
			"B6", "a member's past is fresh though one period has become old", "cache/past.go",
			`out[i].Stale || late`, `out[i].Stale`, "cache TestSlowestAnswerOutlastsOthers",
		},
		{
			"D3", "Redis is waited for as long as it likes", "cache/copies.go",
			`context.WithTimeout(ctx, c.opts.RedisDeadline) // for all`, `context.WithCancel(ctx) // for all`, "cache TestHungRedisDelays",
		},
		{
			"D3", "the breaker never opens", "cache/topn/breaker.go",
			`if b.failures >= BreakerFailures {`, `if false {`, "cache/topn TestBreaker",
		},
		{
			"D2", "questions to MySQL need no slot", "cache/batch/batch.go",
			"\t\treturn b.free > 0\n", "\t\treturn true\n", "cache TestFallbackBound",
		},
		{
			"E2", "questions are admitted that cannot be asked in time", "cache/batch/batch.go",
			`b.opts.Wait > 0 && expected > b.opts.Wait {`, `false {`, "cache/batch TestRefusesByTime",
		},
		{
			"E2", "questions of those who have left are asked", "cache/batch/batch.go",
			"\t\t\twithdraw()\n\t\t\treturn ctx.Err()\n", "\t\t\treturn ctx.Err()\n", "cache/batch TestWhoHasLeftIsNotSent",
		},
		{
			"C7", "a period is scanned by several at once", "store/internal/read/scans.go",
			`s.under[m] != nil || `, ``, "store/internal/read TestOneScanOfAPeriod",
		},
		{
			"C7", "what waits for an index keeps its slot", "cache/batch/batch.go",
			`func() { b.next(g, 0) })`, `func() {})`, "cache/batch TestWaitingBatchesHandTheirSlotsOn",
		},
		{
			"E5", "batches that hang are not seen before they end", "cache/batch/batch.go",
			`next, speed = min(next, took), speed`, `next, speed = 0, speed`, "cache/batch TestRefusesWhileBatchesHang",
		},
		{
			"C6", "a panic of a call takes the process along", "cache/calls.go",
			`if p := recover(); p != nil {`, `if p := any(nil); p != nil {`, "cache TestCallPanics",
		},
	}
}

// ofServing are lines of the HTTP interface and of the life of a process.
func ofServing() []mutant {
	return []mutant{
		{
			"G1", "a route that says nothing is for writers", "api/operations.go",
			"\tdefault:\n\t\treturn leaderboard.ScopeAdmin\n", "\tdefault:\n\t\treturn leaderboard.ScopeWrite\n", "httpapi TestEveryRouteDenies",
		},
		{
			"G1", "an unknown key is no key", "internal/guard/keys.go",
			`error { return wire.Reject(wire.CodeUnauthorized, "The key is not known.") }`, `error { return nil }`, "httpapi TestEveryRouteDenies",
		},
		{
			"G4", "a cursor of another incarnation is one of this period", "internal/wire/cursor.go",
			`return List{"entries", ref.Incarnation}`, `return List{"entries", ref.ID}`, "httpapi TestOtherIncarnation",
		},
		{
			"G4", "a cursor that was tampered with is taken", "internal/wire/cursor.go",
			`return after, binary.BigEndian.Uint32(raw[1:cursorHead]) == l.check(after)`, `return after, true`, "internal/wire FuzzCursor",
		},
		{
			"G4", "names go into statements as they are", "internal/mysql/sql.go",
			"\tt.b = append(t.b, \"x'\"...)\n\tt.b = hex.AppendEncode(t.b, []byte(s))\n", "\t_ = hex.EncodeToString\n\tt.b = append(append(t.b, '\\''), s...)\n", "internal/app FuzzServing",
		},
		{
			"G3", "a body may have any length", "httpapi/body.go",
			`limit := min(maxBody, c.shared.limits.MaxBody)`, `limit := int64(1 << 40)`, "httpapi TestBodyLimits",
		},
		{
			"G3", "the place of each value in a body is looked up", "internal/wire/decode.go",
			"\t\ttoken, err := dec.ReadToken()\n", "\t\ttoken, err := dec.ReadToken()\n\t\t_ = dec.StackPointer()\n", "httpapi TestWorkOfBodies",
		},
		{
			"G3", "a body may be as deep as it likes", "internal/wire/decode.go",
			`case of.Depth > MaxDepth:`, `case false:`, "httpapi TestWorkOfBodies",
		},
		{
			"G3", "a request may take any time to come", "httpapi/server.go",
			`ReadTimeout:       guard.ReadTimeout,`, `ReadTimeout:       100 * readTimeout,`, "httpapi TestServerLimits",
		},
		{
			"G3", "a head may have any length", "httpapi/server.go",
			`MaxHeaderBytes:    16 << 10,`, `MaxHeaderBytes:    16 << 20,`, "httpapi TestServerLimits",
		},
		{
			"G3", "the kernel keeps what it likes of a connection", "httpapi/listener.go",
			"\t\t\tsetBuffers(tcp, connBuffer)\n", "", "httpapi TestKernelKeepsLittle",
		},
		{
			"G3", "the kernel goes on to offer what a client did not take", "httpapi/listener.go",
			`_ = c.SetLinger(0)`, `_ = c`, "httpapi TestKernelKeepsLittle",
		},
		{
			"G3", "bodies that stall keep their memory", "internal/guard/budget.go",
			`for in.bytes-a.bytes+to > in.most {`, `for false {`, "internal/guard TestBodyBudget",
		},
		{
			"F5", "a call leaves a goroutine", "cache/calls.go",
			"\tgo func() {\n\t\tdefer close(f.done)\n", "\tgo func() { select {} }()\n\tgo func() {\n\t\tdefer close(f.done)\n", "workshop/e2e TestSoak",
		},
		{
			"A5", "two servers of one board read below min_seq", "cache/topn/read.go",
			"\tcase h.Seq < q.MinSeq:\n\t\treturn nil, ErrBehind\n", "", "workshop/e2e TestLinearizable",
		},
		{
			"F1", "clients are not told that a server stops", "internal/app/app.go",
			"\ta.api.SetDraining(true)\n", "", "internal/app TestDraining",
		},
		{
			"F1", "a server that stops cuts its requests off", "internal/app/app.go",
			`context.WithTimeout(ctx, a.cfg.ShutdownTimeout)`, `context.WithTimeout(ctx, 0)`, "workshop/e2e TestShutdownAnswersWhatIsUnderWay",
		},
	}
}

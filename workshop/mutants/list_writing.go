package main

import "slices"

// mutants returns all of them.
func mutants() []mutant {
	return slices.Concat(ofWriting(), ofAdmission(), ofTransactions(), ofHiddenAndDerived(), ofCopies(), ofBuilds(), ofFeed(), ofReading(), ofServing(), ofTables(), ofKeys(), ofServers(), ofEvents())
}

// ofWriting are lines of the write path that decide what counts.
func ofWriting() []mutant {
	const (
		commit = "store/commit/"
		store  = "store "
	)
	return []mutant{
		{
			"A4", "a batch locks nothing", commit + "lock.go",
			`AND b.state = 'open' FOR UPDATE;")`, `AND b.state = 'open';")`, store + "TestConcurrentSums",
		},
		{
			"F4", "the clock is read at the beginning of the wait for the lock", "internal/mysql/db.go",
			`d.Config.Clock("SYSDATE(6)")`, `d.Config.Clock("NOW(6)")`, store + "TestClockUnderLock",
		},
		{
			"B5", "created_time may be that of the entry before it", commit + "period.go",
			`now: max(p.clock, p.lastCreated+1)`, `now: p.clock`, "store/commit TestClock",
		},
		{
			"A3", "a key that was used counts again", commit + "batch.go",
			`if row, ok := known[h.key]; ok {`, `if row, ok := known[h.key]; ok && row.key == "" {`, "store/commit TestKeysInOneBatch",
		},
		{
			"A3", "a key stands for any body", commit + "batch.go",
			`row.hash == h.hash {`, `row.hash == h.hash || row.key != "" {`, "store/commit TestKeysInOneBatch",
		},
		{
			"A1", "the receipt of a key is not stored", commit + "write.go",
			`appendKeys(t, o.owner, o.clock, o.keys)`, `appendKeys(t, o.owner, o.clock, nil)`, store + "TestCommitLost",
		},
		{
			"A1", "a batch is answered before it is committed", commit + "outcome.go",
			"\terr := t.Commit(asked)\n", "\tgo t.Commit(asked)\n\tvar err error\n", store + "TestCommitLost",
		},
		{
			"A2", "a write whose COMMIT got no answer is repeated", commit + "retry.go",
			`if err == nil || errors.Is(err, leaderboard.ErrOutcomeUnknown) {`, `if err == nil {`, store + "TestCommitLost",
		},
		{
			"A4", "a condition holds of any entry", "leaderboard/policy.go",
			"\treturn r.meets(cur, sub)\n", "\treturn nil\n", store + "TestFlagIsSwappedOnce",
		},
		{
			"A4", "conditions are decided without the lock", commit + "lock.go",
			`AND b.state = 'open' FOR UPDATE;")`, `AND b.state = 'open';")`, store + "TestFlagIsSwappedOnce",
		},
		{
			"A7", "what is held is entered all the same", commit + "submission.go",
			`return p.Decided(a, decisions) })); why != nil {`, `return p.Decided(a, decisions) })); false && why != nil {`, "features/review TestConformance/mysql/held",
		},
		{
			"A7", "what was held is decided again", "features/review/decide.go",
			`case h.State != leaderboard.HeldStateWaiting:`, `case h.State == "":`, "features/review TestConformance/mysql/held",
		},
		{
			"A1", "an atomic request that fails stays in part", commit + "atomic.go",
			"\tundo()\n\tfor i := range list {", "\t_ = undo\n\tfor i := range list {", store + "TestConformance/mysql/atomic",
		},
		{
			"A8", "a row's metadata is shown beside any entry of its member", "features/metadata/store.go",
			`wanted.take(r.Body, r.Key == wanted.key)`, `wanted.take(r.Body, true)`, "features/metadata TestConformance/mysql/metadata",
		},
		{
			"A8", "what was known of an entry is shown when it comes back", "features/metadata/known.go",
			"k.bodies.Delete(memberKey{period, member})", "_ = f", "features/metadata TestKnown",
		},
		{
			"A8", "metadata is shown in answers after commits that were not heard of", "features/metadata/known.go",
			"if !h.to.Covers(q.At) {", "if false {", "features/metadata TestKnown",
		},
		{
			"A8", "an entry that comes without metadata keeps that of the one before", "features/metadata/part.go",
			`if b == nil && a.Sub.Edit != nil && a.Sub.Edit.NoScore && ok && was.key == p.Key(*old) {`, `if b == nil && ok {`, "features/metadata TestConformance/mysql/metadata",
		},
		{
			"A8", "an erasure leaves what its member's entries had on boards that lost the rule", "features/metadata/sweep.go",
			"\treturn steps(ctx, \"DELETE FROM metadata_bodies WHERE member = ? ORDER BY id LIMIT ?\", member)\n", "\treturn nil\n", "internal/app/installed TestForgetIsRestartable",
		},
		{
			"A1", "the store closes without its queues", commit + "queue.go",
			"\tqs.running.Wait()\n", "", store + "TestCloseDrains",
		},
	}
}

// ofAdmission are lines that decide which writes are taken on, and how often they are tried.
func ofAdmission() []mutant {
	const (
		commit = "store/commit/"
		test   = "store/commit "
	)
	return []mutant{
		{
			"E2", "writes are admitted that cannot be made in time", commit + "admission.go",
			`if expected = a.expected(one, large); expected > a.limits.Wait {`, `if expected = a.expected(one, large); false {`, test + "TestExpectedWait",
		},
		{
			"E2", "what waits may take any memory", commit + "admission.go",
			`if one.load.bytes+bytes > a.limits.Memory-a.bytes && a.bytes > 0 {`, `if false {`, test + "TestMemoryOfWhatWaits",
		},
		{
			"E2", "the writes of those who have left are made", commit + "queue.go",
			`if !h.state.CompareAndSwap(stateWaiting, stateWithdrawn) {`, `if true {`, test + "TestTheDepartedAreNotServed",
		},
		{
			"F1", "what waits at the end is told nothing", commit + "queue.go",
			"\tqs.refuseAll(errClosed)\n", "", test + "TestCloseAnswersWhatWaits",
		},
		{
			"A6", "requests for several boards hold the others while one is locked", commit + "mutex.go",
			`if blocked {`, `if false {`, test + "TestBlockedBoards",
		},
		{
			"E2", "those who are refused are answered as often as they ask", "internal/guard/throttle.go",
			`return max(0, wait)`, `return 0 * wait`, "internal/guard TestRefusalsTakeAShare",
		},
		{
			"E2", "recomputations need no permit", "features/derived/follow.go",
			"\tif err := d.long.Acquire(ctx, 1); err != nil {\n\t\treturn leaderboard.Run{}, err\n\t}\n\tdefer d.long.Release(1)\n", "",
			"features/derived TestRecomputationsAreFew",
		},
		{
			"E3", "batches are repeated as often as they fail", commit + "retry.go",
			`if b.owed+1 > retriesAtOnce {`, `if false {`, "store TestRetriesDoNotAmplify",
		},
		{
			"A6", "boards that another session keeps locked take all connections", commit + "mutex.go",
			"m.blocked[board] = blockage{time.Now().Add(m.term), stuck || m.blockage(board).stuck}", "_, _ = board, stuck", "store TestLockedBoardsStarveNobody",
		},
	}
}

// ofTransactions are lines about connections, transactions and the meaning of errors.
func ofTransactions() []mutant {
	const (
		db    = "internal/mysql/"
		store = "store "
	)
	return []mutant{
		{
			"A4", "no ROLLBACK after a lock wait", db + "tx.go",
			"\tif tx.begun && !tx.over {\n", "\tif false {\n", store + "TestLockWait",
		},
		{
			"A4", "nothing is tried twice", db + "tx.go",
			`const Attempts = 3`, `const Attempts = 1`, store + "TestDeadlock",
		},
		{
			"A2", "an unknown outcome is called unavailable", db + "tx.go",
			`return fmt.Errorf("%w: %w", leaderboard.ErrOutcomeUnknown, err)`, `return fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)`, store + "TestCommitLost",
		},
		{
			"D4", "reads have no limit in the server", db + "dialect.go",
			`return fmt.Sprintf("SELECT /*+ MAX_EXECUTION_TIME(%d) */%s", limit.Milliseconds(), strings.TrimPrefix(query, "SELECT"))`, `return query`,
			store + "TestStatementLimit",
		},
		{
			"A6", "sessions that lock rows may be silent for ever", db + "sessions.go",
			"params[name] = idle\n", "params[\"autocommit\"], _, _ = \"1\", name, idle\n", store + "TestSilentSession",
		},
		{
			"D1", "connections to a read-only server are kept", db + "server.go",
			"\ts.endEra()\n\treturn ErrReadOnly\n", "\treturn ErrReadOnly\n", "internal/app TestFailover",
		},
		{
			"D1", "an address that has moved is not noticed", db + "server.go",
			"\tcase s.name != name:\n\t\ts.era.Add(1)\n", "\tcase s.name != name:\n\t\treturn nil\n", "internal/app TestAddressMoves",
		},
		{
			"H1", "an engine on which nothing was run is let in", db + "dialect.go",
			"if strings.Contains(lower, name) {", "if strings.Contains(name, lower) {", store + "TestUnsupportedServer",
		},
		{
			"F2", "the lock of the migrations is not taken", "migrations/lock.go",
			`"SELECT GET_LOCK("+lockName+", 1)"`, `"SELECT 1"`, "migrations TestConcurrentUp",
		},
	}
}

// ofHiddenAndDerived are lines about members who are hidden and boards that follow others.
func ofHiddenAndDerived() []mutant {
	return []mutant{
		{
			"A1", "a hide does not wait for the batch under way", "store/hidden_move.go",
			`ORDER BY id LIMIT 1 FOR UPDATE"`, `ORDER BY id LIMIT 1"`, "store TestHideDuringBatch",
		},
		{
			"A1", "a batch leaves the entries of hidden members where they are", "store/commit/period.go",
			`case aside && visible != nil:`, `case aside && visible != nil && false:`, "store TestConformance",
		},
		{
			"A1", "two steps of a derived board may both be written", "store/commit/rewrite.go",
			"\tif !r.describes(b) {\n", "\tif false {\n", "features/derived TestDerivedTogether",
		},
	}
}

// ofTables are lines that decide how new the tables are that a server holds whole.
func ofTables() []mutant {
	return []mutant{
		{
			"G2", "a change of the keys is not read", "cache/table.go",
			"isCurrent, isFound := ok && k.isAt(shown), found(k.value)", "isCurrent, isFound := ok && k.isRead(), found(k.value)", "features/keys TestChangeCounts",
		},
		{
			"G2", "keys of an idle server are not confirmed", "cache/table.go",
			`if t.known.Load().isRead() {`, `if false {`, "features/keys TestIdleServer",
		},
		{
			"G2", "a revoked key may be as old as answers may be", "cache/feed/feed.go",
			`{maxAge: tableAge, `, `{maxAge: f.opts.MaxAge, `, "cache/feed TestTables",
		},
		{
			"G2", "ids of no key have statements sent without a pause", "cache/feed/feed.go",
			`!f.nextIsSoon() && rest > 0`, `false && rest > 0`, "cache/feed TestNext",
		},
	}
}

// ofKeys are lines that decide who may do what and how often, and which records of it are kept.
func ofKeys() []mutant {
	return []mutant{
		{
			"G7", "a token for another audience is good", "features/players/verify.go",
			`!slices.Contains(audiences, audience)`, `false && !slices.Contains(audiences, audience)`, "internal/app TestIssuerTokens",
		},
		{
			"G7", "any algorithm is taken", "features/players/verify.go",
			`allowed = allowed || string(a) == alg`, `allowed = true`, "internal/app TestIssuerTokens",
		},
		{
			"G7", "a bar is looked at once", "features/players/verify.go",
			`case v.issuedAt < r.bars[v.player.Member]:`, `case false:`, "features/players TestVerifiedOnce",
		},
		{
			"G7", "players submit for others", "httpapi/scores.go",
			`case entries[i].Member != c.Player.Member:`, `case false:`, "httpapi TestPlayerSubmits",
		},
		{
			"G8", "a play is left when it was submitted with", "features/plays/part.go",
			`p.over = true
		return`, `return`, "features/plays TestPlaysRaced",
		},
		{
			"G8", "refusals end no play", "features/plays/part.go",
			`p.refused, p.over = true, p.Refusals >= leaderboard.MaxPlayRefusals`, `p.refused = true`, "internal/app/installed TestConformance",
		},
		{
			"G8", "plays are not locked", "features/plays/part.go",
			`") FOR UPDATE;"`, `");"`, "features/plays TestPlayBeganDuringSubmit",
		},
		{
			"G8", "a play is good for all boards", "features/plays/handlers.go",
			`case play.Board != board || play.Member != c.Player.Member:`, `case play.Member != c.Player.Member:`, "features/plays TestPlaysOfOthers",
		},
		{
			"G7", "players read what is another's", "httpapi/access.go",
			"\treturn member == c.Player.Member\n", "\treturn member == c.Player.Member || member != \"\"\n", "httpapi TestPlayerReads",
		},
		{
			"G7", "an address without attempts has signatures verified", "internal/guard/guard.go",
			`func() error { return g.MayAttempt(r) }`, `func() error { return nil }`, "httpapi TestBadTokens",
		},
		{
			"G2", "a rotation ends a secret within its overlap", "features/keys/store.go",
			`AND (? = 0 OR previous_ends_at IS NULL`, `AND (? >= 0 OR previous_ends_at IS NULL`, "features/keys TestKeys",
		},
		{
			"G1", "a key for some boards writes to others", "httpapi/credentials.go",
			"\treturn guard.ErrNotCovered(who.Key, at...)\n", "\treturn nil\n", "httpapi TestNamesOfBoards",
		},
		{
			"G1", "a filter by board is for any key", "httpapi/serve.go",
			"\t\t\terr = mayFilter(c)\n", "\t\t\terr = nil\n", "httpapi TestNamesOfBoards",
		},
		{
			"G2", "hashes of keys are compared as far as they are the same", "leaderboard/key.go",
			"\treturn subtle.ConstantTimeCompare(h.sum[:], other.sum[:]) == 1\n", "\treturn subtle.ConstantTimeCompare(nil, nil) == 1 && string(h.sum[:]) == string(other.sum[:])\n", "leaderboard TestKeyHash",
		},
		{
			"G2", "a panic is logged with the header of its request", "httpapi/call.go",
			`slog.String("path", c.R.URL.EscapedPath())`, `slog.Any("header", c.R.Header)`, "internal/app TestNoSecretIsTold",
		},
		{
			"G2", "a span has the key of its request", "httpapi/span.go",
			`slog.String("url.scheme", scheme),`, `slog.String("url.scheme", scheme), slog.Any("authorization", r.Header["Authorization"]),`, "internal/app TestNoSecretIsTold",
		},
		{
			"E4", "what a key may not do is not charged", "httpapi/access.go",
			"what = leaderboard.Charge{leaderboard.QuotaKindRequests: what[leaderboard.QuotaKindRequests]}", "what = leaderboard.Charge{}", "httpapi TestDeniedIsCharged",
		},
		{
			"E4", "a page of the audit looks at all of it", "features/audit/store.go",
			`maxScanned = 20_000`, `maxScanned = 2_000_000`, "features/audit TestAuditLooksAtSoMany",
		},
		{
			"A1", "submissions that changed nothing are not recorded", "store/commit/write.go",
			`o.aside || o.parted ||`, `o.aside ||`, "features/records TestSubmissionsAreRecorded",
		},
	}
}

// ofServers are lines that keep servers from being worked with that are not safe to use.
func ofServers() []mutant {
	return []mutant{
		{
			"D1", "memory that lacks a commit does not answer when the database is gone", "cache/reader.go",
			"\tcase old != nil:\n\t\treturn q.stale(old), nil\n", "", "cache TestAwayBeforeMemoryFollowed",
		},
		{
			"A9", "a node of Galera without a majority is used", "internal/mysql/server.go",
			`inStep+"SELECT "`, `"SELECT "`, "store TestGaleraCutOff",
		},
		{
			"A9", "what a cut-off node of Galera has is told to be fresh", "internal/mysql/db.go",
			`wsrep_sync_wait = 1"`, `wsrep_sync_wait = 0"`, "store TestGaleraCutOff",
		},
		{
			"D1", "a board that is written to all the time is looked up again and again", "cache/catalog.go",
			`last.BoardID == ref.BoardID &&`, `last.BoardID != ref.BoardID &&`, "cache TestCatalogKeepsBesideCommits",
		},
		{
			"B6", "a look-up from before a change answers after it", "cache/catalog.go",
			"\tc.fetching.forget(name)\n", "", "cache TestChangedDuringALookUp",
		},
		{
			"B6", "a look-up from before a board was made answers after it", "cache/catalog_memo.go",
			`!k.read.Before(called), m.holds(ctx, &k.reading):`, `true:`, "cache TestBoardMadeDuringALookUp",
		},
		{
			"B6", "a board that has changed is taken for one that has not", "cache/catalog.go",
			`r.also...) != feed.VerdictFresh`, `r.also...) == feed.VerdictUnknown`, "cache TestBoardsMadeAllTheTime",
		},
		{
			"B6", "a board is taken for unchanged though the table of boards has changed", "cache/feed/feed.go",
			`p.(*period).table.Revision != a.table.Revision`, `p.(*period).table.Revision.Seq < 0`, "cache/feed TestBoardsAreAskedAboutAfterAChange",
		},
		{
			"D1", "a reader whose time runs out gets no stale answer", "cache/reader.go",
			`case errors.Is(ctx.Err(), context.Canceled):`, `case ctx.Err() != nil:`, "cache TestStaleAtTheDeadline",
		},
		{
			"H2", "a source that gives up waiting for its replica is not warned of", "internal/mysql/faults.go",
			`known && ms < semiSyncForever.Milliseconds()`, `known && ms < 0`, "internal/mysql TestFaultsOfVariables",
		},
		{
			"H2", "an evicting Redis is only warned of", "cache/topn/faults.go",
			`add(serverfault.CheckEviction, false,`, `add(serverfault.CheckEviction, true,`, "cache/topn TestFaultsOfRedis",
		},
		{
			"H2", "what was found of Redis ends nothing", "internal/app/background.go",
			"if err := checkFaults(placeOfRedis(a.cfg.RedisURL), l.faults, nil); err != nil {", "if err := checkFaults(placeOfRedis(a.cfg.RedisURL), nil, nil); err != nil {",
			"internal/app TestUnsafeServersEndTheStart",
		},
		{
			"H2", "packets may be as small as they like", "internal/mysql/faults.go",
			"known && packet < need.Packet", "known && packet < 0", "store TestFaults",
		},
		{
			"H2", "the right to delete is not tried", "internal/mysql/faults.go",
			`{"DELETE", "EXPLAIN DELETE " + all + " FROM " + all + " WHERE FALSE"},`, ``, "store TestRights",
		},
		{
			"H2", "a replica is waited for without end", "internal/app/schema.go",
			`case fault != nil && time.Since(since) >= faultWait:`, `case false:`, "internal/app TestFaultWait",
		},
	}
}

// ofEvents are lines that keep events from being lost.
func ofEvents() []mutant {
	return []mutant{
		{
			"B9", "the mark moves while others enter events", "features/events/spread.go",
			`"' FOR UPDATE NOWAIT")`, `"'")`, "features/events TestSpreadMissesNone",
		},
		{
			"B9", "notices of a log that was lost in a restore are entered", "features/notices/fold.go",
			`part.Err != nil || state != s.period.Revision()`, `part.Err != nil && state != s.period.Revision()`, "features/notices TestNoticesAfterRestore",
		},
		{
			"B9", "a notice has another id each time that the log is read", "features/notices/read.go",
			`s.period.Incarnation, " ", n.minute, " ", n.passed.Member),`, `s.period.Incarnation, " ", n.minute, " ", time.Now(), n.passed.Member),`, "features/notices TestNoticesAfterRestore",
		},
		{
			"B9", "notices stay in the later period when one is opened again", "internal/boards/rollover.go",
			`const back = "UPDATE notice_boards SET period_id = ?, seq = 0 WHERE board_id = ?`, `const back = "UPDATE notice_boards SET period_id = ?, seq = 0 WHERE 1 = 0 AND board_id = ?`, "features/notices TestNoticesOfReopened",
		},
		{
			"B9", "who closes a period does not keep endpoints from coming", "internal/outbox/enter.go",
			`Version + "' LOCK IN SHARE MODE))"`, `Version + "'))"`, "internal/outbox TestListen",
		},
		{
			"B9", "what was tried before comes after all that is new", "features/events/deliver.go",
			"limit-min(len(again), limit/2))", "limit)", "features/events TestDueIsShared",
		},
		{
			"B9", "a log that is read again gives other notices", "features/notices/read.go",
			`fmt.Sprint("member.passed ", `, `fmt.Sprint("member.passed ", leaderboard.NewEventID(), `, "features/notices TestNoticesOnceMore",
		},
		{
			"B9", "who was passed is what the present says", "features/notices/passed.go",
			"\t\tkeys[c.member] = c.old\n", "", "features/notices TestPassed",
		},
		{
			"B9", "what an endpoint refuses is delivered", "features/events/deliver.go",
			"\t\tif a.Delivered() {\n", "\t\tif a.Status > 0 {\n", "workshop/e2e TestKilledSenders",
		},
	}
}

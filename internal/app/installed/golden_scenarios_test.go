package installed_test

import (
	"fmt"
	"strings"

	"leaderboard/leaderboard"
)

type goldenScenario struct {
	name string
	run  func(*golden)
}

// goldenScenarios returns the scenarios whose batches are recorded: each kind of request, each policy, and each rule that has an
// effect on a submission.
func goldenScenarios() []goldenScenario {
	return []goldenScenario{
		{"plain: a board that is not known, one that is, and nothing to write", goldenPlain},
		{"policies and orders", goldenPolicies},
		{"all windows, tiebreak fields", goldenWindows},
		{"rollover: begins and ends of periods, with and without an endpoint, the clock back", goldenRollover},
		{"seasons, and times when a board takes nothing", goldenTimes},
		{"past periods: corrections of closed ones", goldenPast},
		{"keys: a request again, another one with its key, two at once", goldenKeys},
		{"atomic requests", goldenAtomic},
		{"several boards", goldenSeveral},
		{"several requests in one batch", goldenTogether},
		{"large requests", goldenLarge},
		{"conditions, edits and overrides", goldenEdits},
		{"limits and ids that are refused", goldenLimits},
		{"record: what is kept of submissions", goldenRecord},
		{"plays", goldenPlays},
		{"metadata", goldenMetadata},
		{"hidden members: hide, submit, restore, remove", goldenHidden},
		{"hidden members with metadata, in past periods", goldenHiddenPast},
		{"review: hold, approve, reject", goldenReview},
		{"review in past periods, by rank, by players, by plays, with an endpoint", goldenReviewWays},
		{"notify and display rules change nothing", goldenNotify},
		{"all rules at once", goldenAllRules},
		{"derived boards: rewrite", goldenRewrite},
		{"erasure", goldenErasure},
		{"boards that change between two batches", goldenChanged},
	}
}

const (
	allTime = leaderboard.WindowAllTime
	hour    = leaderboard.WindowHour
	day     = leaderboard.WindowDay
)

// number returns a pointer to a number.
func number(n int64) *int64 { return &n }

func goldenPlain(g *golden) {
	g.record("no such board", g.scores("none", sub("a", 1)))
	g.board("b", leaderboard.Rules{})
	g.record("the first batch of a store", g.scores("b", sub("a", 1)))
	g.record("a better score", g.scores("b", sub("a", 2)))
	g.record("nothing to write", g.scores("b", sub("a", 1)))
	g.record("members out of order, one twice", g.scores("b", sub("c", 5), sub("a", 3), sub("b", 7), sub("c", 6)))
	at := g.now - 1_000_000
	imported := sub("d", 4)
	imported.CreatedTime = &at
	g.record("a created_time", g.submit(leaderboard.Caller{Key: "kadmin", Admin: true}, leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{imported}}))
	g.record("remove", g.remove(leaderboard.RemoveRequest{Board: "b", Member: "c", Actor: "kadmin"}))
	g.record("remove what is not there", g.remove(leaderboard.RemoveRequest{Board: "b", Member: "c", Actor: "kadmin"}))
	g.at("2026-11-20T12:00:01Z")
	g.record("moves are told", g.submit(leaderboard.Caller{Key: "env:write"}, leaderboard.SubmitRequest{Board: "b", Moves: true, Entries: []leaderboard.Submission{sub("a", 9)}}))
	g.silently(func() (string, error) { return "", g.s.Close() })
	g.restart()
	g.record("a store that starts on what is there", g.scores("b", sub("a", 10)))
}

func goldenPolicies(g *golden) {
	for _, order := range []leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc} {
		for _, policy := range []leaderboard.Policy{leaderboard.PolicyBest, leaderboard.PolicyLatest, leaderboard.PolicySum} {
			name := string(policy) + "-" + string(order)
			g.board(name, leaderboard.Rules{Policy: policy, Order: order, Tiebreak: leaderboard.Tiebreak{Order: order}})
			g.silently(g.scores(name, sub("a", 5)))
			tied := sub("b", -7)
			tied.Tiebreak = number(3)
			g.record(name, g.scores(name, sub("a", 4), tied, sub("a", 6), sub("a", 6)))
		}
	}
}

func goldenWindows(g *golden) {
	windows := leaderboard.Windows()
	g.board("b", leaderboard.Rules{
		Windows: windows, TimeZone: "Europe/Berlin", Seasons: []leaderboard.SeasonRule{{Name: "S1", StartsAt: g.now - 1e9, EndsAt: g.now + 1e15}},
		Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 20}, {Name: "time", Bits: 20, Order: leaderboard.OrderAsc}}},
	})
	fields := func(member string, score, level, time int64) leaderboard.Submission {
		return leaderboard.Submission{Member: member, Score: score, Fields: map[string]int64{"level": level, "time": time}}
	}
	g.record("periods that begin", g.scores("b", fields("a", 1, 2, 3)))
	g.record("a batch", g.scores("b", fields("b", 1, 2, 3), fields("a", 1, 3, 3)))
	g.record("remove", g.remove(leaderboard.RemoveRequest{Board: "b", Member: "a"}))
}

func goldenRollover(g *golden) {
	g.board("b", leaderboard.Rules{Windows: []leaderboard.Window{hour, allTime}})
	g.silently(g.scores("b", sub("a", 1)))
	g.at("2026-11-20T13:00:00Z")
	g.record("the next hour", g.scores("b", sub("a", 2)))
	g.endpoint(leaderboard.EventKindPeriodClosed)
	g.at("2026-11-20T14:00:00Z")
	g.record("the next hour, which an endpoint is told", g.scores("b", sub("a", 3)))
	g.at("2026-11-20T13:59:00Z")
	g.record("the clock goes back into an hour that is over", g.scores("b", sub("a", 4)))
	g.at("2026-11-20T11:30:00Z")
	g.record("the clock goes back before all", g.scores("b", sub("a", 5)))
	g.at("2026-11-20T15:00:00Z")
	g.record("a rollover by a batch that changes nothing", g.scores("b", sub("a", -1)))
}

func goldenTimes(g *golden) {
	begins, ends := g.now+1e9, g.now+2e9
	g.board("season", leaderboard.Rules{
		Windows: []leaderboard.Window{leaderboard.WindowSeason}, Record: leaderboard.RecordAll, Seasons: []leaderboard.SeasonRule{{Name: "S1", StartsAt: begins, EndsAt: ends}},
	})
	g.board("times", leaderboard.Rules{StartsAt: &begins, EndsAt: &ends})
	for _, when := range []struct {
		what string
		now  leaderboard.Micros
	}{{"before", g.now}, {"in time", begins}, {"after", ends}} {
		g.now = when.now
		g.record("season, "+when.what, g.scores("season", sub("a", 1)))
		g.record("starts_at and ends_at, "+when.what, g.scores("times", sub("a", 1)))
	}
}

func goldenPast(g *golden) {
	g.board("b", leaderboard.Rules{Windows: []leaderboard.Window{day, hour}, Metadata: &leaderboard.Metadata{MaxBytes: 100}})
	with := sub("a", 2)
	with.Metadata = `{"ghost":1}`
	g.silently(g.scores("b", sub("a", 1), sub("b", 1), with))
	past, current := g.period("b", hour, "2026-11-20T12"), g.period("b", day, "2026-11-20")
	g.at("2026-11-20T13:00:00Z")
	g.silently(g.scores("b", sub("a", 2)))
	of := func(member string, period int64, reopen bool) func() (string, error) {
		return g.remove(leaderboard.RemoveRequest{Board: "b", Member: member, PeriodID: period, Reopen: reopen, Actor: "kadmin"})
	}
	g.record("remove from one that is closed", of("a", past, false))
	g.record("remove from one that is opened again for it", of("a", past, true))
	g.record("from one of the current ones", of("a", current, false))
	g.record("from one that is not there", of("a", 99, true))
}

func goldenKeys(g *golden) {
	g.board("b", leaderboard.Rules{Policy: leaderboard.PolicySum})
	g.silently(g.scores("b", sub("a", 1)))
	keyed := func(key string, entries ...leaderboard.Submission) func() (string, error) {
		return g.submit(leaderboard.Caller{Key: "env:write"}, leaderboard.SubmitRequest{Board: "b", Key: key, Entries: entries})
	}
	g.record("with a key", keyed("env:write one", sub("a", 1), sub("b", 2)))
	g.record("again", keyed("env:write one", sub("a", 1), sub("b", 2)))
	g.record("another request with the key", keyed("env:write one", sub("a", 2)))
	g.record("one that breaks a rule", keyed("env:write two", sub("", 1)))
	g.together("the keys of one batch, out of order", "b", keyed("env:write z", sub("a", 1)), keyed("env:write y", sub("c", 1)), keyed("env:write z", sub("a", 1)), keyed("env:write y", sub("d", 1)))
}

func goldenAtomic(g *golden) {
	g.board("b", leaderboard.Rules{Windows: []leaderboard.Window{day, allTime}, Metadata: &leaderboard.Metadata{MaxBytes: 100}, Limits: leaderboard.Limits{MaxScore: number(100)}})
	g.board("recorded", leaderboard.Rules{Record: leaderboard.RecordAll})
	with := sub("a", 5)
	with.Metadata = `{"ghost":1}`
	atomic := func(board, key string, entries ...leaderboard.Submission) func() (string, error) {
		return g.submit(leaderboard.Caller{Key: "env:write"}, leaderboard.SubmitRequest{Board: board, Key: key, Atomic: true, Entries: entries})
	}
	g.silently(atomic("b", "", with))
	g.silently(atomic("recorded", "", sub("a", 1)))
	better := sub("a", 6)
	better.Metadata = `{"ghost":2}`
	g.record("all are applied", atomic("b", "", better, sub("b", 1)))
	g.record("one is refused", atomic("b", "", with, sub("c", 1), sub("d", 101)))
	g.record("one is refused, with a key", atomic("b", "env:write one", sub("c", 1), sub("d", 101)))
	g.record("again", atomic("b", "env:write one", sub("c", 1), sub("d", 101)))
	g.record("one is refused, and recorded", atomic("recorded", "", sub("c", 1), sub("", 1)))
	g.together("one that is taken back between two that are not", "b",
		atomic("b", "", sub("x", 1)), atomic("b", "", sub("x", 2), sub("y", 101)), atomic("b", "", sub("x", 3)))
}

func goldenSeveral(g *golden) {
	g.board("z", leaderboard.Rules{Windows: []leaderboard.Window{day, allTime}, Record: leaderboard.RecordApplied})
	g.board("a", leaderboard.Rules{Policy: leaderboard.PolicySum, Record: leaderboard.RecordAll})
	g.board("derived", leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "a"}}}})
	request := func(key string, atomic bool, entries ...string) func() (string, error) {
		r := leaderboard.MultiBoardRequest{Key: key, Atomic: atomic}
		for i, e := range entries {
			board, member, _ := strings.Cut(e, "/")
			r.Entries = append(r.Entries, leaderboard.BoardSubmission{Board: board, Submission: sub(member, int64(i+1))})
		}
		return g.severally(r)
	}
	g.record("boards that are not known", request("", false, "a/m", "z/m", "none/m", "derived/m"))
	g.record("boards that are known", request("", false, "a/m", "z/n", "a/n"))
	g.record("one board", request("", false, "a/m"))
	g.record("with a key", request("env:write one", false, "a/m", "z/n"))
	g.record("again", request("env:write one", false, "a/m", "z/n"))
	g.record("another request with the key", request("env:write one", false, "a/m"))
	g.record("atomic", request("", true, "z/o", "a/o"))
	g.record("atomic, refused on one", request("", true, "z/p", "a/p", "a/"))
	g.at("2026-11-21T00:00:00Z")
	g.record("one of them rolls over", request("", false, "z/m", "a/m"))
	g.record("nothing to write", request("", false, "z/m"))
	g.record("no board is there", request("", false, "none/m"))
}

func goldenTogether(g *golden) {
	g.board("b", leaderboard.Rules{Policy: leaderboard.PolicySum, Windows: []leaderboard.Window{allTime, day}, Record: leaderboard.RecordAll})
	g.silently(g.scores("b", sub("a", 1), sub("b", 2)))
	g.together("submit, remove, submit again, with a key", "b",
		g.scores("b", sub("c", 3), sub("a", 1)),
		g.remove(leaderboard.RemoveRequest{Board: "b", Member: "b", Actor: "kadmin"}),
		g.remove(leaderboard.RemoveRequest{Board: "b", Member: "a", Actor: "kadmin"}),
		g.scores("b", sub("a", 5)),
		g.submit(leaderboard.Caller{Key: "kother"}, leaderboard.SubmitRequest{Board: "b", Key: "kother one", Entries: []leaderboard.Submission{sub("d", 4)}}),
		g.remove(leaderboard.RemoveRequest{Board: "b", Member: "nobody", Actor: "kadmin"}))
}

func goldenLarge(g *golden) {
	g.board("b", leaderboard.Rules{Policy: leaderboard.PolicySum, Record: leaderboard.RecordApplied})
	var entries []leaderboard.Submission
	for i := range leaderboard.MaxLimit {
		entries = append(entries, sub(fmt.Sprintf("m%04d", leaderboard.MaxLimit-i), int64(i)))
	}
	g.silently(g.scores("b", sub("a", 1)))
	g.record("as many entries as a request may have", g.submit(leaderboard.Caller{Key: "env:write"}, leaderboard.SubmitRequest{Board: "b", Key: "env:write one", Entries: entries}))
}

func goldenEdits(g *golden) {
	g.board("b", leaderboard.Rules{
		Record: leaderboard.RecordApplied, Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "flags", Bits: 8}, {Name: "keys", Bits: 8}}},
		Overrides: &leaderboard.Overrides{Keys: []string{"env:write"}, Ops: []leaderboard.Policy{leaderboard.PolicyLatest, leaderboard.PolicySum}, KeepTime: true},
	})
	absent, present := true, false
	one := func(s leaderboard.Submission) []leaderboard.Submission { return []leaderboard.Submission{s} }
	fields := map[string]int64{"flags": 1, "keys": 2}
	for _, c := range []struct {
		what    string
		entries []leaderboard.Submission
	}{
		{"if absent", one(leaderboard.Submission{Member: "a", Score: 1, Fields: fields, If: &leaderboard.Condition{Absent: &absent}})},
		{"if absent, unmet", one(leaderboard.Submission{Member: "a", Score: 2, Fields: fields, If: &leaderboard.Condition{Absent: &absent}})},
		{"if score and fields", one(leaderboard.Submission{Member: "a", Score: 3, Fields: fields, If: &leaderboard.Condition{Absent: &present, Score: number(1), Fields: map[string]int64{"keys": 2}}})},
		{"set", one(leaderboard.Submission{Member: "a", Edit: &leaderboard.Edit{NoScore: true, Set: map[string]int64{"flags": 9, "keys": 7}}})},
		{"add", one(leaderboard.Submission{Member: "a", Score: 4, Edit: &leaderboard.Edit{Add: map[string]int64{"keys": 1, "flags": 1}}})},
		{"op latest", one(leaderboard.Submission{Member: "a", Score: 1, Fields: fields, Edit: &leaderboard.Edit{Op: leaderboard.PolicyLatest}})},
		{"op sum", one(leaderboard.Submission{Member: "a", Score: 1, Edit: &leaderboard.Edit{Op: leaderboard.PolicySum}})},
		{"keep_time", one(leaderboard.Submission{Member: "a", Score: 2, Fields: fields, Edit: &leaderboard.Edit{Op: leaderboard.PolicyLatest, KeepTime: true}})},
		{"a field that the board has not", one(leaderboard.Submission{Member: "a", Edit: &leaderboard.Edit{NoScore: true, Set: map[string]int64{"other": 9}}})},
	} {
		g.record(c.what, g.scores("b", c.entries...))
	}
	request := leaderboard.SubmitRequest{Board: "b", Key: "env:write one", Entries: one(leaderboard.Submission{Member: "a", Score: 8, Edit: &leaderboard.Edit{Add: fields}})}
	g.record("with a key", g.submit(leaderboard.Caller{Key: "env:write"}, request))
	request.Key = ""
	request.Entries[0].Edit.Op = leaderboard.PolicyLatest
	g.record("by a key that may not", g.submit(leaderboard.Caller{Key: "kother"}, request))
}

func goldenLimits(g *golden) {
	g.board("b", leaderboard.Rules{
		Policy: leaderboard.PolicySum, StrictIDs: true, Record: leaderboard.RecordAll,
		Limits: leaderboard.Limits{MinScore: number(-10), MaxScore: number(10), MaxDelta: number(8)},
	})
	g.silently(g.scores("b", sub("a", 5)))
	g.record("the least, the most, the change, the ids", g.scores("b", sub("a", 6), sub("a", -9), sub("b", -8), sub("b", -8), sub("c", 9), sub("", 1), sub("é", 1), sub(strings.Repeat("x", 65), 1)))
}

func goldenRecord(g *golden) {
	for _, r := range []leaderboard.Record{leaderboard.RecordNone, leaderboard.RecordApplied, leaderboard.RecordAll} {
		name := "record-" + string(r) + "."
		g.board(name, leaderboard.Rules{Record: r, RecordTTL: "48h", Limits: leaderboard.Limits{MaxScore: number(100)}})
		g.silently(g.scores(name, sub("a", 5)))
		tied := sub("a", 7)
		tied.Tiebreak = number(-1)
		g.record(name, g.scores(name, sub("a", 6), sub("a", 6), sub("b", 101), tied))
		g.record(name+" nothing to write", g.scores(name, sub("a", 1)))
	}
}

func goldenPlays(g *golden) {
	g.board("b", leaderboard.Rules{
		Policy: leaderboard.PolicySum, Limits: leaderboard.Limits{MaxScore: number(1000), PerSecond: number(5)}, Record: leaderboard.RecordAll,
		Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay, MinTime: "10s", MaxTime: "1m"},
	})
	g.silently(g.scores("b", sub("a", 5)))
	plays := map[string]*leaderboard.PlayID{}
	for _, member := range []string{"a", "b", "c", "d"} {
		plays[member] = g.play("b", member)
	}
	submit := func(member string, score int64) func() (string, error) {
		s := sub(member, score)
		s.Play = plays[member]
		return g.submit(player(member), leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{s}})
	}
	g.record("too soon", submit("a", 5))
	g.at("2026-11-20T12:00:20Z")
	g.record("used up", submit("a", 5))
	g.record("gone", submit("a", 5))
	g.together("used up, refused and refused once more, in one batch", "b", submit("d", 999), submit("b", 1), submit("c", 999), submit("d", 999))
	g.record("the last refusal", submit("d", 999))
	g.record("by a key, without a play", g.scores("b", sub("a", 1)))
	at := leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{sub("c", 1)}}
	g.record("by a player, without a play", g.submit(player("c"), at))
}

func goldenMetadata(g *golden) {
	g.board("b", leaderboard.Rules{Windows: []leaderboard.Window{hour, allTime}, Metadata: &leaderboard.Metadata{MaxBytes: 100}})
	g.silently(g.scores("b", sub("a", 1)))
	with := func(member string, score, ghost int64) leaderboard.Submission {
		s := sub(member, score)
		s.Metadata = fmt.Sprintf(`{"ghost":%d}`, ghost)
		return s
	}
	g.record("new", g.scores("b", with("b", 5, 1), with("a", 5, 2)))
	g.record("replaced, by one of two in a request", g.scores("b", with("a", 6, 3), with("a", 7, 4)))
	g.record("emptied", g.scores("b", sub("a", 8)))
	g.at("2026-11-20T13:00:00Z")
	g.record("in one window of two", g.scores("b", with("b", 3, 5)))
	g.record("and shared again, with others in the batch", g.scores("b", with("b", 9, 6), with("d", 1, 7), with("c", 1, 8), with("a", 9, 9)))
	g.record("unchanged", g.scores("b", with("b", 1, 9)))
	g.record("too long", g.scores("b", with("c", 9, 1), leaderboard.Submission{Member: "c", Score: 10, Metadata: `{"a":"` + strings.Repeat("x", 100) + `"}`}))
	g.record("remove", g.remove(leaderboard.RemoveRequest{Board: "b", Member: "b", Actor: "kadmin"}))
}

// hide and show hide a member, or show it again.
func (g *golden) hide(board, member string, reopen bool) func() (string, error) {
	return func() (string, error) {
		_, err := g.s.Hidden.Hide(g.ctx(leaderboard.Caller{Key: "kadmin", Admin: true}), leaderboard.HideRequest{Board: board, Member: member, Reason: "aimbot", Actor: "kadmin", Reopen: reopen})
		return "hidden", err
	}
}

func (g *golden) show(board, member string, reopen bool) func() (string, error) {
	return func() (string, error) {
		err := g.s.Hidden.Restore(g.ctx(leaderboard.Caller{Key: "kadmin", Admin: true}), leaderboard.HideRequest{Board: board, Member: member, Actor: "kadmin", Reopen: reopen})
		return "shown", err
	}
}

func goldenHidden(g *golden) {
	g.board("b", leaderboard.Rules{Windows: []leaderboard.Window{day, allTime}, Record: leaderboard.RecordAll})
	g.board("c", leaderboard.Rules{})
	g.silently(g.scores("b", sub("a", 5), sub("b", 6), sub("c", 7)))
	g.silently(g.scores("c", sub("a", 5)))
	g.record("hide on a board", g.hide("b", "a", false))
	g.record("submit for one that is hidden, and another", g.scores("b", sub("a", 9), sub("b", 8)))
	g.record("for one that is hidden alone", g.scores("b", sub("a", 10)))
	g.record("for one that has no entry", g.scores("b", sub("d", 1)))
	g.record("hide everywhere", g.hide("", "b", false))
	g.record("remove the entry of one that is hidden", g.remove(leaderboard.RemoveRequest{Board: "b", Member: "b", Actor: "kadmin"}))
	g.record("restore", g.show("b", "a", false))
	g.record("restore everywhere", g.show("", "b", false))
	g.record("submit for both", g.scores("b", sub("a", 11), sub("b", 9)))
}

func goldenHiddenPast(g *golden) {
	g.board("b", leaderboard.Rules{Windows: []leaderboard.Window{hour, allTime}, Metadata: &leaderboard.Metadata{MaxBytes: 100}})
	with := sub("a", 5)
	with.Metadata = `{"ghost":1}`
	g.silently(g.scores("b", with, sub("b", 6)))
	g.at("2026-11-20T13:00:00Z")
	g.silently(g.scores("b", sub("a", 4), sub("b", 6)))
	g.record("hide, also in what is closed", g.hide("b", "a", true))
	g.record("hide in what is open", g.hide("b", "b", false))
	past := g.period("b", hour, "2026-11-20T12")
	g.record("remove a hidden entry of a closed period", g.remove(leaderboard.RemoveRequest{Board: "b", Member: "a", PeriodID: past, Reopen: true, Actor: "kadmin"}))
	better := sub("a", 6)
	better.Metadata = `{"ghost":2}`
	g.record("submit for one that is hidden", g.scores("b", better))
	g.record("restore, also in what is closed", g.show("b", "a", true))
	g.record("restore in what is open", g.show("b", "b", false))
}

func goldenReview(g *golden) {
	g.board("b", leaderboard.Rules{
		Policy: leaderboard.PolicySum, Record: leaderboard.RecordAll, Windows: []leaderboard.Window{day, allTime},
		Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: number(100)}}, Expire: "2d"},
	})
	g.silently(g.scores("b", sub("a", 5)))
	g.record("one that waits, and one that does not", g.scores("b", sub("a", 101), sub("b", 7)))
	for i := range leaderboard.MaxHeldPerMember {
		g.silently(g.scores("b", sub("c", int64(1000-i))))
	}
	g.record("a better one takes the place of the worst", g.scores("b", sub("c", 2000)))
	g.record("a worse one", g.scores("b", sub("c", 200)))
	g.record("by an admin", g.submit(leaderboard.Caller{Key: "kadmin", Admin: true}, leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{sub("d", 500)}}))
	g.record("with a key", g.submit(leaderboard.Caller{Key: "env:write"}, leaderboard.SubmitRequest{Board: "b", Key: "env:write one", Entries: []leaderboard.Submission{sub("e", 500)}}))
	g.record("an atomic request is not held", g.submit(leaderboard.Caller{Key: "env:write"}, leaderboard.SubmitRequest{Board: "b", Atomic: true, Entries: []leaderboard.Submission{sub("f", 500), sub("g", 1)}}))
	ids := g.waiting("b")
	g.record("approve", g.decide(leaderboard.HeldDecision{ID: ids[0], Approve: true, Note: "seen"}))
	g.record("approve again", g.decide(leaderboard.HeldDecision{ID: ids[0], Approve: true}))
	g.record("reject what is approved", g.decide(leaderboard.HeldDecision{ID: ids[0]}))
	g.record("reject", g.decide(leaderboard.HeldDecision{ID: ids[1], Note: "not he"}))
	g.together("approve two in one batch, while others submit", "b",
		g.decide(leaderboard.HeldDecision{ID: ids[2], Approve: true}), g.scores("b", sub("c", 3), sub("c", 4000)), g.decide(leaderboard.HeldDecision{ID: ids[3], Approve: true}))
}

func goldenReviewWays(g *golden) {
	g.board("b", leaderboard.Rules{
		Windows: []leaderboard.Window{hour, allTime}, Metadata: &leaderboard.Metadata{MaxBytes: 100}, Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 4}}},
		Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}, Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{
			{RankWithin: 1}, {RankWithin: 3}, {PerSecond: number(1)}, {By: leaderboard.HoldByPlayers},
		}},
	})
	level := func(member string, score int64) leaderboard.Submission {
		return leaderboard.Submission{Member: member, Score: score, Fields: map[string]int64{"level": 1}, Metadata: `{"ghost":1}`}
	}
	g.endpoint(leaderboard.EventKindHeld, leaderboard.EventKindApproved, leaderboard.EventKindRejected)
	admin := leaderboard.Caller{Key: "kadmin", Admin: true}
	first := leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{level("a", 9), level("b", 8), level("c", 7), level("d", 1)}}
	g.record("by an admin", g.submit(admin, first))
	g.record("among the first", g.scores("b", level("e", 8)))
	played := level("f", 5)
	played.Play = g.play("b", "f")
	g.at("2026-11-20T12:00:02Z")
	g.record("by a player, with a play", g.submit(player("f"), leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{played}}))
	g.record("not held", g.scores("b", level("d", 2)))
	ids := g.waiting("b")
	g.at("2026-11-20T13:00:00Z")
	g.silently(g.scores("b", level("d", 3)))
	g.record("approve, of a period that is closed", g.decide(leaderboard.HeldDecision{ID: ids[0], Approve: true}))
	g.record("approve, also in what is closed", g.decide(leaderboard.HeldDecision{ID: ids[0], Approve: true, Reopen: true}))
	g.record("reject", g.decide(leaderboard.HeldDecision{ID: ids[1]}))
}

func goldenNotify(g *golden) {
	g.board("b", leaderboard.Rules{
		Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedTop, Within: 10}, Labels: leaderboard.Labels{"game": "one"}, Visibility: leaderboard.VisibilityPrivate,
		Keep: map[leaderboard.Window]int{day: 3}, Windows: []leaderboard.Window{day}, Resident: leaderboard.ResidentAlways, Mode: leaderboard.ModeDense, TopN: 5,
	})
	g.silently(g.scores("b", sub("a", 5)))
	g.record("a batch", g.scores("b", sub("b", 6), sub("a", 7)))
}

func goldenAllRules(g *golden) {
	g.board("b", leaderboard.Rules{
		Policy: leaderboard.PolicySum, Windows: []leaderboard.Window{hour, day, allTime}, Record: leaderboard.RecordAll, Metadata: &leaderboard.Metadata{MaxBytes: 100},
		Limits: leaderboard.Limits{MaxScore: number(1000), PerSecond: number(5)}, Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay},
		Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: number(100)}}}, Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedFriends, Within: 5},
	})
	g.endpoint(leaderboard.EventKindHeld, leaderboard.EventKindPeriodClosed)
	admin := leaderboard.Caller{Key: "kadmin", Admin: true}
	g.silently(g.submit(admin, leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{sub("first", 90), sub("h", 4)}}))
	g.silently(g.hide("b", "h", false))
	request := func(key, member string, score int64) func() (string, error) {
		s := sub(member, score)
		s.Metadata, s.Play = `{"ghost":1}`, nil
		return g.submit(leaderboard.Caller{Key: "env:write"}, leaderboard.SubmitRequest{Board: "b", Key: key, Entries: []leaderboard.Submission{s}})
	}
	g.at("2026-11-20T12:59:00Z")
	played := sub("p", 20)
	played.Play = g.play("b", "p")
	ids := func() int64 { return g.waiting("b")[0] }
	g.silently(request("", "q", 150))
	g.at("2026-11-20T13:00:00Z")
	g.together("everything in one batch", "b",
		request("env:write two", "a", 3), request("env:write one", "b", 101), request("", "h", 2),
		g.submit(player("p"), leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{played}}),
		g.decide(leaderboard.HeldDecision{ID: ids(), Approve: true, Reopen: true}),
		g.remove(leaderboard.RemoveRequest{Board: "b", Member: "first", PeriodID: g.period("b", hour, "2026-11-20T12"), Reopen: true, Actor: "kadmin"}),
		g.remove(leaderboard.RemoveRequest{Board: "b", Member: "first", Actor: "kadmin"}))
}

func goldenRewrite(g *golden) {
	g.board("runs", leaderboard.Rules{Policy: leaderboard.PolicyLatest})
	g.board("sum", leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs", Weight: number(2)}}}})
	follow := func() (string, error) {
		step, err := g.sums.FollowSources(g.Context(), "sum", true)
		return fmt.Sprint("to ", step.ToSeq), err
	}
	g.silently(g.scores("runs", sub("c", 1), sub("a", 2), sub("b", 3)))
	g.record("a submission", g.scores("sum", sub("a", 1)))
	g.record("the first step", follow)
	g.silently(g.scores("runs", sub("a", 5), sub("d", 6)))
	g.silently(g.remove(leaderboard.RemoveRequest{Board: "runs", Member: "c"}))
	g.record("a step", follow)
	g.silently(g.hide("sum", "b", false))
	g.silently(g.scores("runs", sub("b", 9), sub("a", 6)))
	g.record("a step with a hidden member", follow)
	g.record("nothing to do", follow)
}

func goldenErasure(g *golden) {
	g.board("b", leaderboard.Rules{Metadata: &leaderboard.Metadata{MaxBytes: 100}})
	g.silently(g.scores("b", leaderboard.Submission{Member: "a", Score: 5, Metadata: `{"ghost":1}`}, sub("b", 4)))
	g.silently(g.hide("b", "b", false))
	for _, member := range []string{"a", "b"} { // each with one entry: the entries of one member are removed in any order
		g.recordBatches("member "+member, func() (string, error) {
			_, err := g.s.Erasures.Forget(g.ctx(leaderboard.Caller{Key: "kadmin", Admin: true}), member, "kadmin")
			return "erased", err
		})
	}
}

func goldenChanged(g *golden) {
	g.board("b", leaderboard.Rules{})
	g.silently(g.scores("b", sub("a", 1)))
	other := g.server()
	put := func(rules leaderboard.Rules) {
		if _, _, err := other.Boards.PutBoard(g.Context(), "b", rules); err != nil {
			g.Fatal(err)
		}
	}
	for _, change := range []struct {
		what  string
		rules leaderboard.Rules
	}{
		{"a limit", leaderboard.Rules{Limits: leaderboard.Limits{MaxScore: number(100)}}},
		{"a window", leaderboard.Rules{Windows: []leaderboard.Window{allTime, day}}},
		{"metadata", leaderboard.Rules{Windows: []leaderboard.Window{allTime, day}, Metadata: &leaderboard.Metadata{MaxBytes: 100}}},
		{"a review", leaderboard.Rules{Windows: []leaderboard.Window{allTime, day}, Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{RankWithin: 2}}}}},
		{"another review", leaderboard.Rules{Windows: []leaderboard.Window{allTime, day}, Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{RankWithin: 3}}}}},
	} {
		put(change.rules)
		g.record("another server gives it "+change.what, g.scores("b", sub("a", 2), sub("b", 1)))
	}
	if err := other.Boards.DeleteBoard(g.Context(), "b"); err != nil {
		g.Fatal(err)
	}
	g.record("another server deletes it", g.scores("b", sub("a", 3)))
	put(leaderboard.Rules{})
	g.record("and makes it again", g.scores("b", sub("a", 3)))
	if err := other.Close(); err != nil {
		g.Fatal(err)
	}
}

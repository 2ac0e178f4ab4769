package commit

import (
	"errors"
	"reflect"
	"testing"

	"leaderboard/internal/boards"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// freshPeriod returns a period with the entry a: 10 at time 1000, at seq 5, whose clock says now.
func freshPeriod(policy leaderboard.Policy, now leaderboard.Micros) *Period {
	rules := leaderboard.Rules{Policy: policy}.WithDefaults()
	ref := leaderboard.PeriodRef{ID: 1, BoardID: 2, Board: "b", Window: leaderboard.WindowAllTime, Rules: &rules}
	return &Period{
		ref: ref, codec: rank.CodecOf(&rules), lastSeq: 5, lastCreated: 1000, committed: 2000, count: 1, clock: now,
		entries: map[string]*leaderboard.Entry{"a": {Member: "a", Score: 10, CreatedTime: 1000}},
	}
}

// TestClock: assigned times follow the database clock, and grow when it stands still or goes back.
func TestClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clock leaderboard.Micros
		want  [3]leaderboard.Micros
		at    leaderboard.Micros // committed
	}{
		{5000, [3]leaderboard.Micros{5000, 5001, 5002}, 5002},
		{1000, [3]leaderboard.Micros{1001, 1002, 1003}, 2001},
		{10, [3]leaderboard.Micros{1001, 1002, 1003}, 2001},
	} {
		p := freshPeriod(leaderboard.PolicyLatest, c.clock)
		for i, want := range c.want {
			if r := carried(p, leaderboard.Submission{Member: "a", Score: int64(i)}); *r.CreatedTime != want {
				t.Errorf("clock %d, change %d: created at %d, want %d", c.clock, i, *r.CreatedTime, want)
			}
		}
		commit := p.commit()
		if commit.CommittedAt != c.at || commit.PrevCommittedAt != 2000 || commit.FirstSeq != 6 || commit.LastSeq != 8 {
			t.Errorf("clock %d: commit %+v, want it at %d", c.clock, commit, c.at)
		}
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	p := freshPeriod(leaderboard.PolicySum, 5000)
	for _, m := range []string{"c", "b", "a"} {
		for range 3 {
			carried(p, leaderboard.Submission{Member: m, Score: 1})
		}
	}
	b := &Board{}
	b.remove(p, "a") // was there before
	b.remove(p, "b") // was not
	upserts, gone := p.toWrite()
	if len(upserts) != 1 || upserts[0].Member != "c" || upserts[0].Score != 3 || !reflect.DeepEqual(gone, []string{"a"}) {
		t.Errorf("to write %+v, to delete %q", upserts, gone)
	}
	if p.count != 1 || p.lastSeq != 5+11 || len(p.changes) != 11 {
		t.Errorf("%d entries at %d after %d changes", p.count, p.lastSeq, len(p.changes))
	}
	if p := freshPeriod(leaderboard.PolicyBest, 5000); p.commit() != nil {
		t.Errorf("a batch without changes has a commit")
	}
}

// oneBoard is a set of locked boards in which b has the given periods.
func oneBoard(periods ...*Period) *locked {
	return &locked{boards: map[string]*Board{"b": {known: &boards.Known{}, periods: periods}}}
}

// TestKeysInOneBatch: the second request with a key gets the first one's receipt although that is not committed yet.
func TestKeysInOneBatch(t *testing.T) {
	t.Parallel()
	p := freshPeriod(leaderboard.PolicySum, 5000)
	ask := func(key string, score int64) *submission {
		return newSubmission(&leaderboard.SubmitRequest{Board: "b", Key: key, Entries: []leaderboard.Submission{{Member: "a", Score: score}}})
	}
	old := ask("any", 1)
	old.results = []leaderboard.Result{{Member: "a", Status: leaderboard.StatusUnchanged}}
	old.states = map[string]leaderboard.BoardSeqs{"b": {Seq: 3}}
	stored := map[string]keyRow{"old": {key: "old", hash: old.hash, receipt: old.stored()}}
	reqs := []request{
		ask("k", 5), ask("k", 5), ask("k", 6), ask("", 1), ask("old", 1), ask("old", 2),
		newRemoval(leaderboard.RemoveRequest{Board: "b", Member: "x"}),
	}
	b := &batch{requests: reqs}
	keys := b.apply(oneBoard(p), stored)
	if p.entries["a"].Score != 16 {
		t.Errorf("the score is %d, want 10 + 5 + 1", p.entries["a"].Score)
	}
	first, second := reqs[0].(*submission).receipt(), reqs[1].(*submission).receipt()
	again := first
	again.Replayed = true
	if !reflect.DeepEqual(again, second) || first.Replayed || first.Seq != 6 || b.answers[0] != nil || b.answers[1] != nil {
		t.Errorf("answers to one key: %+v, %v and %+v, %v", first, b.answers[0], second, b.answers[1])
	}
	for i, want := range map[int]error{2: leaderboard.ErrKeyReused, 5: leaderboard.ErrKeyReused, 6: leaderboard.ErrNotRanked} {
		if !errors.Is(b.answers[i], want) {
			t.Errorf("answer %d: %v, want %v", i, b.answers[i], want)
		}
	}
	if again := reqs[4].(*submission); again.receipt().Seq != 3 || b.answers[4] != nil {
		t.Errorf("the stored receipt: %+v, %v", again.receipt(), b.answers[4])
	}
	if len(keys) != 1 || keys[0].key != "k" {
		t.Errorf("keys to store: %+v", keys)
	}
}

// TestSeveralWindows: a board with two periods answers for the first window and names the seq of each.
func TestSeveralWindows(t *testing.T) {
	t.Parallel()
	all, day := freshPeriod(leaderboard.PolicyBest, 5000), freshPeriod(leaderboard.PolicyBest, 5000)
	day.ref.ID, day.ref.Window, day.lastSeq, day.entries = 9, "day", 50, map[string]*leaderboard.Entry{}
	all.ref.Rules.Windows = []leaderboard.Window{"day", leaderboard.WindowAllTime}
	day.ref.Rules = all.ref.Rules
	l := oneBoard(day, all)
	submit := newSubmission(&leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{{Member: "a", Score: 7}}})
	err := submit.apply(l)
	got := submit.receipt()
	want := map[leaderboard.Window]int64{"day": 51, leaderboard.WindowAllTime: 5}
	if err != nil || got.Seq != 51 || !reflect.DeepEqual(got.Seqs, want) || got.Results[0].Status != leaderboard.StatusApplied || got.Results[0].Previous != nil {
		t.Errorf("%+v, %v", got, err)
	}
	only := newRemoval(leaderboard.RemoveRequest{Board: "b", Member: "a", PeriodID: all.ref.ID})
	err = only.apply(l)
	if got := only.receipt; err != nil || got.Seq != 51 || got.Seqs[leaderboard.WindowAllTime] != 6 || day.entries["a"] == nil {
		t.Errorf("removed from one period: %+v, %v", got, err)
	}
}

func carried(p *Period, sub leaderboard.Submission) leaderboard.Result {
	b := &Board{periods: []*Period{p}}
	return b.carryOutAll(&Attempt{Board: b, Sub: &sub}, decideAll(b.periods, sub))
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// testKeysOfCallers: an idempotency key belongs to the API key that it came with (promise G5).
func testKeysOfCallers(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{Policy: leaderboard.PolicySum})
	as := func(key string) context.Context {
		return leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: key})
	}
	for i, step := range []struct {
		caller string
		amount int64
		seq    int64 // of the answer
		err    error
	}{
		{caller: "k1", amount: 5, seq: 1},
		{caller: "k1", amount: 5, seq: 1},
		{caller: "k2", amount: 5, seq: 2},
		{caller: "k1", amount: 5, seq: 1},
		{caller: "k2", amount: 6, err: leaderboard.ErrKeyReused},
		{caller: "k3", amount: 6, seq: 3},
		{caller: "", amount: 7, seq: 4},
		{caller: "", amount: 7, seq: 4},
	} {
		entries := []leaderboard.Submission{score("m", step.amount)}
		r, err := s.Submit(as(step.caller), leaderboard.SubmitRequest{Board: b.ref.Board, Key: "same", Entries: entries})
		if !errors.Is(err, step.err) || r.Seq != step.seq {
			t.Errorf("step %d: %+v, %v", i, r, err)
		}
	}
	for i, caller := range []string{"k1", "k2", "k1"} {
		r, err := s.SubmitMultiBoard(as(caller), leaderboard.MultiBoardRequest{Key: b.ref.Board, Entries: []leaderboard.BoardSubmission{{Board: b.ref.Board, Submission: score("m", 1)}}})
		if want := []int64{5, 6, 5}[i]; err != nil || r.Boards[b.ref.Board].Seq != want {
			t.Errorf("to several boards, as %s: %+v, %v, want seq %d", caller, r, err, want)
		}
	}
}

func testKeys(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{Policy: leaderboard.PolicySum})
	tie, created := int64(math.MinInt64), leaderboard.Micros(5)
	entries := func() []leaderboard.Submission {
		return []leaderboard.Submission{
			score("a", 5), score("\xff bad", 1), {Member: "b", Score: 7, Tiebreak: &tie, CreatedTime: &created}, score("a", 6),
		}
	}
	req := leaderboard.SubmitRequest{Board: b.ref.Board, Key: "k1", Entries: entries()}
	first, err := s.Submit(t.Context(), req)
	if err != nil || first.Seq != 3 {
		t.Fatal(first, err)
	}
	first.Replayed = true   // as in every repeated answer
	b.submit(score("c", 1)) // the receipt has the states of then, not of now
	for range 2 {
		again, err := s.Submit(t.Context(), leaderboard.SubmitRequest{Board: b.ref.Board, Key: "k1", Entries: entries()})
		if err != nil || !reflect.DeepEqual(again, first) {
			t.Errorf("the same request again: %+v, %v; want %+v", again, err, first)
		}
	}
	want := []string{"1 a 11", "2 b 7", "3 c 1"}
	if got := b.page(leaderboard.PageQuery{Limit: 5}); !reflect.DeepEqual(got, want) {
		t.Errorf("page is %q, want %q: the request counted more than once", got, want)
	}
	others := map[string]func([]leaderboard.Submission) []leaderboard.Submission{
		"score":    func(e []leaderboard.Submission) []leaderboard.Submission { e[0].Score++; return e },
		"member":   func(e []leaderboard.Submission) []leaderboard.Submission { e[0].Member = "A"; return e },
		"tiebreak": func(e []leaderboard.Submission) []leaderboard.Submission { e[2].Tiebreak = nil; return e },
		"time":     func(e []leaderboard.Submission) []leaderboard.Submission { e[2].CreatedTime = nil; return e },
		"fewer":    func(e []leaderboard.Submission) []leaderboard.Submission { return e[:3] },
		"order":    func(e []leaderboard.Submission) []leaderboard.Submission { e[0], e[3] = e[3], e[0]; return e },
		"none":     func([]leaderboard.Submission) []leaderboard.Submission { return nil },
	}
	for name, change := range others {
		req := leaderboard.SubmitRequest{Board: b.ref.Board, Key: "k1", Entries: change(entries())}
		if r, err := s.Submit(t.Context(), req); !errors.Is(err, leaderboard.ErrKeyReused) {
			t.Errorf("the key with another %s: %+v, %v", name, r, err)
		}
	}
	req.Key = "K1" // keys are bytes, too
	if r, err := s.Submit(t.Context(), req); err != nil || *r.Results[0].Score != 16 {
		t.Errorf("another key: %+v, %v", r, err)
	}
}

// testKeyUnchanged: a request that was all rejected, or changed nothing, has its answer kept as well.
func testKeyUnchanged(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	submit := func(key string, sub leaderboard.Submission) leaderboard.Receipt {
		r, err := s.Submit(t.Context(), leaderboard.SubmitRequest{Board: b.ref.Board, Key: key, Entries: []leaderboard.Submission{sub}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	b.submit(score("a", 5))
	worse := submit("worse", score("a", 4))
	bad := submit("bad", score("", 4))
	worse.Replayed, bad.Replayed = true, true // in the receipts that repetitions are compared with
	if _, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, Member: "a"}); err != nil {
		t.Fatal(err)
	}
	if again := submit("worse", score("a", 4)); !reflect.DeepEqual(again, worse) || again.Results[0].Status != leaderboard.StatusUnchanged {
		t.Errorf("the retry was applied: %+v, want %+v", again, worse)
	}
	if again := submit("bad", score("", 4)); !reflect.DeepEqual(again, bad) {
		t.Errorf("the retry differs: %+v, want %+v", again, bad)
	}
}

// testLog: the log from its beginning leads to the snapshot.
func testLog(t *testing.T, s Database) {
	for _, order := range []leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc} {
		t.Run(string(order), func(t *testing.T) {
			rules := leaderboard.Rules{Order: order, Policy: leaderboard.PolicyLatest, Tiebreak: leaderboard.Tiebreak{Order: order}}
			b := newBoard(t, Subject{Database: s, Rankings: s}, rules)
			tie := int64(math.MaxInt64)
			b.submit(score("a", math.MinInt64), score("b", math.MaxInt64), leaderboard.Submission{Member: "c", Tiebreak: &tie})
			b.submit(score("a", 3), score("a", 4), score("", 9))
			b.submit(score("a", 4)) // changes nothing and is not in the log
			if _, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, Member: "b"}); err != nil {
				t.Fatal(err)
			}
			commits, err := s.Changes(t.Context(), b.ref.ID, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			b.replay(commits)
			b.checkCommits(commits)
			for _, c := range commits {
				rest, err := s.Changes(t.Context(), b.ref.ID, c.LastSeq, 1)
				i := slices.IndexFunc(commits, func(o leaderboard.Commit) bool { return o.From().Seq == c.LastSeq })
				if err != nil || (i < 0) != (len(rest) == 0) || (i >= 0 && !reflect.DeepEqual(rest, commits[i:i+1])) {
					t.Errorf("log behind %d: %+v, %v", c.LastSeq, rest, err)
				}
			}
			if rest, err := s.Changes(t.Context(), b.ref.ID, 1_000_000, 10); err != nil || len(rest) != 0 {
				t.Errorf("log ahead of the period: %+v, %v", rest, err)
			}
			if _, err := s.Changes(t.Context(), b.ref.ID, 1, 10); !errors.Is(err, leaderboard.ErrLogPruned) {
				t.Errorf("log from the middle of a commit: %v", err)
			}
		})
	}
	if _, err := s.Changes(t.Context(), 1<<60, 0, 10); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		t.Errorf("log of no period: %v", err)
	}
}

// testLogs: the logs of several periods, each from where its reader is.
func testLogs(t *testing.T, s Database) {
	var all []*board
	var logs [][]leaderboard.Commit
	for _, name := range []string{"flood", "quiet", "large", "gone"} {
		b := newBoardNamed(t, Subject{Database: s, Rankings: s}, boardName(t)+"-"+name, leaderboard.Rules{Policy: leaderboard.PolicyLatest})
		for i := range 5 {
			switch name {
			case "flood":
				b.submit(score("a", int64(2*i)), score("a", int64(2*i+1)))
			case "large":
				b.submit(score("a", int64(3*i)), score("b", int64(i)), score("c", int64(i)), score("d", int64(i)), score("e", int64(i)))
			}
		}
		commits, err := s.Changes(t.Context(), b.ref.ID, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		all, logs = append(all, b), append(logs, commits)
	}
	if err := s.DeleteBoard(t.Context(), all[3].ref.Board); err != nil {
		t.Fatal(err)
	}
	flood, quiet, large, gone := all[0], all[1], all[2], all[3]
	now := func(b *board) leaderboard.Revision {
		p, err := s.Period(t.Context(), b.ref.ID)
		if err != nil {
			t.Fatal(err)
		}
		return p.Revision()
	}
	other := func(r leaderboard.Revision) leaderboard.Revision { r.AsOf++; return r }
	since := func(changes int, of ...leaderboard.PeriodRevision) map[int64]leaderboard.LogPart {
		t.Helper()
		parts, err := s.CommitsSince(t.Context(), of, changes)
		if err != nil || len(parts) != len(of) {
			t.Fatalf("%d parts of %d, %v", len(parts), len(of), err)
		}
		return parts
	}
	at := func(b *board, r leaderboard.Revision) leaderboard.PeriodRevision {
		return leaderboard.PeriodRevision{PeriodID: b.ref.ID, Revision: r}
	}
	parts := since(4, at(flood, logs[0][0].To()), at(quiet, now(quiet)), at(large, logs[2][1].To()), at(gone, leaderboard.Revision{}))
	for b, want := range map[*board]leaderboard.LogPart{
		flood: {At: now(flood), Commits: logs[0][1:3]}, quiet: {At: now(quiet)}, large: {At: now(large), Commits: logs[2][2:3]},
	} {
		if got := parts[b.ref.ID]; !reflect.DeepEqual(got, want) {
			t.Errorf("log of %s: %+v\nwant %+v", b.ref.Board, got, want)
		}
	}
	if err := parts[gone.ref.ID].Err; !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		t.Errorf("log of a period that is gone: %v", err)
	}
	for what, r := range map[string]leaderboard.Revision{
		"another one's": other(logs[0][1].To()), "another last": other(now(flood)), "ahead": {Seq: now(flood).Seq + 1, AsOf: now(flood).AsOf + 1},
	} {
		if got := since(100, at(flood, r))[flood.ref.ID]; !errors.Is(got.Err, rank.ErrDiverged) || len(got.Commits) > 0 || got.At != now(flood) {
			t.Errorf("log after a revision that is %s: %+v", what, got)
		}
	}
	if got := since(100, at(flood, logs[0][4].To()))[flood.ref.ID]; !reflect.DeepEqual(got, leaderboard.LogPart{At: now(flood)}) {
		t.Errorf("log after the last commit: %+v", got)
	}
	inside := leaderboard.Revision{Seq: logs[0][1].FirstSeq, AsOf: logs[0][1].CommittedAt}
	if got := since(100, at(flood, inside))[flood.ref.ID]; !errors.Is(got.Err, leaderboard.ErrLogPruned) {
		t.Errorf("log from the middle of a commit: %+v", got)
	}
	if got := since(100); len(got) != 0 {
		t.Errorf("logs of nothing: %+v", got)
	}
}

// CheckLog reads the whole log of a period, checks that it leads without a gap to the snapshot, and returns it.
func CheckLog(t testing.TB, s Database, ref leaderboard.PeriodRef) []leaderboard.Commit {
	t.Helper()
	b := &board{Subject: Subject{Database: s, Rankings: s}, t: t, ref: ref}
	var commits []leaderboard.Commit
	for seq := int64(0); ; {
		next, err := s.Changes(t.Context(), ref.ID, seq, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(next) == 0 {
			break
		}
		commits = append(commits, next...)
		seq = next[len(next)-1].LastSeq
	}
	b.checkCommits(commits)
	b.replay(commits)
	return commits
}

// checkCommits checks that the commits form one history without a gap.
func (b *board) checkCommits(commits []leaderboard.Commit) {
	b.t.Helper()
	seq, committed := int64(0), leaderboard.Micros(0)
	for i, c := range commits {
		if c.PeriodID != b.ref.ID || c.From().Seq != seq || int64(len(c.Changes)) != c.LastSeq-seq {
			b.t.Errorf("commit %d goes from %d to %d with %d changes, the one before ended at %d", i, c.From().Seq, c.LastSeq, len(c.Changes), seq)
		}
		if c.CommittedAt <= c.PrevCommittedAt || (i > 0 && c.PrevCommittedAt != committed) {
			b.t.Errorf("commit %d is of %s after %s, the one before of %s", i, c.CommittedAt, c.PrevCommittedAt, committed)
		}
		for j, change := range c.Changes {
			if change.Seq != c.FirstSeq+int64(j) {
				b.t.Errorf("change %d of commit %d has seq %d", j, i, change.Seq)
			}
			if change.New != nil && change.New.CreatedTime > c.CommittedAt {
				b.t.Errorf("commit %d is of %s, an entry in it of %s", i, c.CommittedAt, change.New.CreatedTime)
			}
		}
		seq, committed = c.LastSeq, c.CommittedAt
	}
}

// replay applies commits to nothing and compares with the snapshot and the period.
func (b *board) replay(commits []leaderboard.Commit) {
	b.t.Helper()
	entries := map[string]leaderboard.Entry{}
	for _, c := range commits {
		for _, change := range c.Changes {
			old, ok := entries[change.Member]
			if ok != (change.Old != nil) || (ok && old != *change.Old) {
				b.t.Errorf("change %d of %q starts from %+v, the log had led to %+v", change.Seq, change.Member, change.Old, old)
			}
			if delete(entries, change.Member); change.New != nil {
				entries[change.Member] = *change.New
			}
		}
		if c.EntryCount != int64(len(entries)) {
			b.t.Errorf("commit %d counts %d entries, the log leads to %d", c.LastSeq, c.EntryCount, len(entries))
		}
	}
	var want []rank.Key
	for _, e := range entries {
		want = append(want, rank.CodecOf(b.ref.Rules).Key(e))
	}
	slices.Sort(want)
	state, got := b.snapshot(1 << 20)
	if !slices.Equal(got, want) {
		b.t.Errorf("snapshot is %q\nthe log leads to %q", got, want)
	}
	if len(commits) == 0 {
		return
	}
	last := commits[len(commits)-1]
	if state.Seq != last.LastSeq || state.Total != last.EntryCount || state.AsOf != last.CommittedAt {
		b.t.Errorf("snapshot is of %+v, the last commit is %+v", state, last)
	}
}

func (b *board) snapshot(limit int) (state leaderboard.State, keys []rank.Key) {
	b.t.Helper()
	begun := 0
	err := b.Database.Snapshot(b.t.Context(), b.ref, limit, func(s leaderboard.State) error {
		begun++
		state = s
		return nil
	}, func(chunk []rank.Key) error {
		if begun != 1 || len(chunk) == 0 || len(chunk) > 1000 {
			b.t.Errorf("a chunk of %d, begun %d times", len(chunk), begun)
		}
		keys = append(keys, chunk...)
		return nil
	})
	if err != nil || begun != 1 {
		b.t.Fatalf("snapshot begun %d times: %v", begun, err)
	}
	return state, keys
}

func testSnapshot(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	if state, keys := b.snapshot(10); len(keys) != 0 || state.Total != 0 || state.Seq != 0 {
		t.Errorf("snapshot of an empty period: %+v, %q", state, keys)
	}
	var want []rank.Key
	for i := range 2050 {
		e := leaderboard.Entry{Member: fmt.Sprintf("m%04d", i), Score: int64(i % 3), CreatedTime: leaderboard.Micros(i % 5)}
		want = append(want, rank.CodecOf(b.ref.Rules).Key(e))
		if i%500 == 0 {
			b.submitAll(i, min(i+500, 2050))
		}
	}
	slices.Sort(want)
	for _, limit := range []int{0, 1, 999, 1000, 1001, 2000, 2049, 2050, 2051, 10_000} {
		state, keys := b.snapshot(limit)
		if n := min(limit, len(want)); !slices.Equal(keys, want[:n]) || state.Total != 2050 {
			t.Errorf("limit %d: %d keys of %+v, want the best %d", limit, len(keys), state, n)
		}
		b.checkState(state)
	}
	stop := errors.New("stop")
	begin := func(leaderboard.State) error { return nil }
	if err := s.Snapshot(t.Context(), b.ref, 10, func(leaderboard.State) error { return stop }, nil); !errors.Is(err, stop) {
		t.Errorf("stopped at the beginning: %v", err)
	}
	if err := s.Snapshot(t.Context(), b.ref, 10, begin, func([]rank.Key) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped at the rows: %v", err)
	}
	if err := s.Snapshot(t.Context(), leaderboard.PeriodRef{ID: 1 << 60, Rules: b.ref.Rules}, 10, begin, nil); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		t.Errorf("snapshot of no period: %v", err)
	}
}

// submitAll submits the members numbered from..to of testSnapshot.
func (b *board) submitAll(from, to int) {
	var subs []leaderboard.Submission
	for i := from; i < to; i++ {
		subs = append(subs, at(fmt.Sprintf("m%04d", i), int64(i%3), leaderboard.Micros(i%5)))
	}
	b.submit(subs...)
}

func testRuns(t *testing.T, s Database) {
	ctx := t.Context()
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	var ids []int64
	for range 5 {
		r, err := s.StartRun(ctx, leaderboard.Run{
			BoardID: b.ref.BoardID, PeriodID: b.ref.ID, Kind: leaderboard.RunKindFull, Reason: leaderboard.RunReasonAdmin,
			Actor: "ädmin", State: leaderboard.RunStateRunning,
		})
		if err != nil || r.ID == 0 || r.StartedAt == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		ids = append([]int64{r.ID}, ids...)
	}
	run, err := s.Run(ctx, ids[0])
	if err != nil || run.Board != b.ref.Board || run.Window != leaderboard.WindowAllTime || run.Period != "all_time" ||
		run.State != leaderboard.RunStateRunning || run.Actor != "ädmin" || run.Kind != leaderboard.RunKindFull || run.Reason != leaderboard.RunReasonAdmin {
		t.Errorf("%+v, %v", run, err)
	}
	run.State, run.FromSeq, run.ToSeq, run.Rows = leaderboard.RunStateFailed, 3, 9, 1000
	run.Took, run.Error = 1234567*time.Microsecond, strings.Repeat("é", 1000)
	for range 2 { // the second time changes nothing and is no error
		if recorded, err := s.FinishRun(ctx, run); err != nil || recorded != run {
			t.Fatalf("%+v, %v; want %+v", recorded, err, run)
		}
	}
	if got, err := s.Run(ctx, run.ID); err != nil || got != run {
		t.Errorf("finished run is %+v, %v; want %+v", got, err, run)
	}
	again := run
	again.State, again.Error = leaderboard.RunStateDone, ""
	if got, err := s.FinishRun(ctx, again); err != nil || got != run {
		t.Errorf("a run that has ended ends as %+v, %v; want %+v", got, err, run)
	}
	var listed []int64
	for before := int64(0); ; before = listed[len(listed)-1] {
		runs, err := s.Runs(ctx, b.ref.BoardID, before, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) == 0 {
			break
		}
		for _, r := range runs {
			listed = append(listed, r.ID)
		}
	}
	if !slices.Equal(listed, ids) {
		t.Errorf("listed %v, want %v", listed, ids)
	}
	if all, err := s.Runs(ctx, 0, ids[0]+1, 1); err != nil || len(all) != 1 || all[0].ID != ids[0] {
		t.Errorf("of all boards: %+v, %v", all, err)
	}
	if _, err := s.Run(ctx, 1<<60); !errors.Is(err, leaderboard.ErrRunNotFound) {
		t.Errorf("no run: %v", err)
	}
	if _, err := s.FinishRun(ctx, leaderboard.Run{ID: 1 << 60}); !errors.Is(err, leaderboard.ErrRunNotFound) {
		t.Errorf("finish no run: %v", err)
	}
}

// RunSilent: a run without heartbeats has failed, and the process that comes back to it finds that; a run that continues
// and a run that has ended are left alone. silence ends the heartbeats of a run, with the last one longer ago than a lease.
func RunSilent(t *testing.T, s Database, silence func(id int64)) {
	ctx := t.Context()
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	runs := map[string]leaderboard.Run{}
	for _, name := range []string{"frozen", "alive", "ended"} {
		r, err := s.StartRun(ctx, leaderboard.Run{
			BoardID: b.ref.BoardID, PeriodID: b.ref.ID, Kind: leaderboard.RunKindIndex, Reason: leaderboard.RunReasonCommand, State: leaderboard.RunStateRunning,
		})
		if err != nil {
			t.Fatal(err)
		}
		runs[name] = r
	}
	ended := runs["ended"]
	ended.State, ended.Rows = leaderboard.RunStateDone, 7
	if _, err := s.FinishRun(ctx, ended); err != nil {
		t.Fatal(err)
	}
	state := func(id int64) leaderboard.Run {
		r, err := s.Run(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ended = state(ended.ID)
	id := runs["frozen"].ID
	for end := time.Now().Add(30 * time.Second); state(id).State == leaderboard.RunStateRunning; {
		if time.Now().After(end) {
			t.Fatal("it is under way for ever")
		}
		silence(id)
		silence(ended.ID)
		if err := s.EndRuns(ctx); err != nil {
			t.Fatal(err)
		}
	}
	back := runs["frozen"]
	for _, back.State = range []leaderboard.RunState{leaderboard.RunStateRunning, leaderboard.RunStateDone} {
		if got, err := s.FinishRun(ctx, back); err != nil || got != state(id) || got.State != leaderboard.RunStateFailed || got.Error != "its server ended" {
			t.Errorf("after an absence a follower finds %+v, %v", got, err)
		}
	}
	if r := state(runs["alive"].ID); r.State != leaderboard.RunStateRunning {
		t.Errorf("one that goes on is %+v", r)
	}
	if r := state(ended.ID); r != ended {
		t.Errorf("one that has ended is %+v, want %+v", r, ended)
	}
	alive := runs["alive"]
	alive.State = leaderboard.RunStateDone
	if r, err := s.FinishRun(ctx, alive); err != nil || r.State != leaderboard.RunStateDone {
		t.Errorf("one that goes on ends as %+v, %v", r, err)
	}
}

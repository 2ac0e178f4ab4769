package cache

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// pastModel is a model that records the questions about members' pasts, and that a feed can use.
type pastModel struct {
	*storetest.Model
	asked []int // periods of each question
	away  atomic.Bool
}

func (m *pastModel) Past(ctx context.Context, periods []leaderboard.PeriodRef, member string) ([]leaderboard.PastEntry, error) {
	m.asked = append(m.asked, len(periods))
	if m.away.Load() {
		return nil, leaderboard.ErrUnavailable
	}
	return m.Model.Past(ctx, periods, member)
}

func (m *pastModel) Revisions(ctx context.Context, periods []int64) (map[int64]leaderboard.Revision, error) {
	found := map[int64]leaderboard.Revision{}
	for _, id := range periods {
		if p, err := m.Period(ctx, id); err == nil {
			found[id] = p.Revision()
		}
	}
	if m.away.Load() {
		return nil, leaderboard.ErrUnavailable
	}
	return found, nil
}

// pastWorld is a board of four days, three of them closed.
type pastWorld struct {
	*Reader
	t     *testing.T
	model *pastModel
	board leaderboard.Board
	now   leaderboard.Micros
}

func newPastWorld(t *testing.T) *pastWorld {
	w := &pastWorld{t: t, model: &pastModel{Model: storetest.NewModel()}, now: 1_700_000_000_000_000}
	w.model.SetNow(w.now)
	var err error
	w.board, _, err = w.model.PutBoard(t.Context(), "b", leaderboard.Rules{Policy: leaderboard.PolicyLatest, Windows: []leaderboard.Window{leaderboard.WindowDay}})
	if err != nil {
		t.Fatal(err)
	}
	for day := range int64(4) {
		w.model.SetNow(w.now + leaderboard.Micros(day)*24*3_600_000_000)
		w.submit("a", day)
		w.submit("b", 1)
	}
	judge := feed.New(w.model, feed.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go judge.Run(ctx)
	w.Reader = NewReader(nil, w.model, ReaderOptions{Feed: judge})
	return w
}

func (w *pastWorld) submit(member string, score int64) {
	w.t.Helper()
	entries := []leaderboard.Submission{{Member: member, Score: score}}
	if _, err := w.model.Submit(w.t.Context(), leaderboard.SubmitRequest{Board: "b", Entries: entries}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *pastWorld) refs() []leaderboard.PeriodRef {
	w.t.Helper()
	periods, err := w.model.PeriodsBefore(context.Background(), w.board.ID, leaderboard.WindowDay, leaderboard.MaxTime, 100)
	if err != nil || len(periods) != 4 {
		w.t.Fatalf("%+v, %v", periods, err)
	}
	refs := make([]leaderboard.PeriodRef, len(periods))
	for i := range periods {
		refs[i] = periods[i].Ref(&w.board)
	}
	return refs
}

// want asks about a, and says how many questions that costs.
func (w *pastWorld) want(what string, refs []leaderboard.PeriodRef, stale bool, asked []int, want string) {
	w.t.Helper()
	w.model.asked = nil
	got, err := w.Past(w.t.Context(), refs, "a")
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	text := ""
	for i := range got {
		text += fmt.Sprintf(" %d/%d", got[i].Ranked.Strict, got[i].Total)
		if got[i].Stale != stale {
			w.t.Errorf("%s: %s is %+v", what, refs[i].Name, got[i].State)
		}
	}
	if text != want || !slices.Equal(w.model.asked, asked) {
		w.t.Errorf("%s: %q after questions about %v periods; want %q, %v", what, text, w.model.asked, want, asked)
	}
}

// TestPastIsKept: a member's entries in closed periods are read by one question, and again only when a period was
// corrected; the current period is never behind.
func TestPastIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPastWorld(t)
		refs := w.refs()
		w.want("at first", refs, false, []int{3}, " 1/2 1/2 1/2 2/2")
		w.want("again", refs, false, nil, " 1/2 1/2 1/2 2/2")
		w.submit("c", 99)
		time.Sleep(time.Second)
		w.want("the current day has changed", refs, false, nil, " 2/3 1/2 1/2 2/2")
		w.submit("d", 100)
		refs[0].LastSeq = 4
		w.want("right after a submission", refs, false, nil, " 3/4 1/2 1/2 2/2")
		if _, err := w.model.Remove(t.Context(), leaderboard.RemoveRequest{Board: "b", PeriodID: refs[3].ID, Member: "b", Reopen: true, Actor: "boss"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		w.want("corrected", w.refs(), false, []int{3}, " 3/4 1/2 1/2 1/1")
		w.want("corrected, again", w.refs(), false, nil, " 3/4 1/2 1/2 1/1")

		w.model.away.Store(true)
		time.Sleep(5 * time.Second)
		got, err := w.Past(t.Context(), w.refs()[1:], "a")
		if err != nil || len(got) != 3 || !got[0].Stale || !got[2].Stale || got[2].Ranked.Strict != 1 {
			t.Errorf("without MySQL: %+v, %v", got, err)
		}
		time.Sleep(10 * time.Second) // for the background work
	})
}

// TestPastIsAsNewAsWanted: a reader that knows of a later correction does not get the kept answers of closed periods.
func TestPastIsAsNewAsWanted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPastWorld(t)
		w.want("at first", w.refs(), false, []int{3}, " 1/2 1/2 1/2 2/2")
		w.want("again", w.refs(), false, nil, " 1/2 1/2 1/2 2/2")
		remove := leaderboard.RemoveRequest{Board: "b", PeriodID: w.refs()[3].ID, Member: "b", Reopen: true, Actor: "boss"}
		if _, err := w.model.Remove(t.Context(), remove); err != nil {
			t.Fatal(err)
		}
		refs := w.refs() // their LastSeq is the seq of the correction
		got, err := w.Past(t.Context(), refs, "a")
		if err != nil || got[3].Seq < refs[3].LastSeq {
			t.Errorf("asked for seq %d: %+v, %v", refs[3].LastSeq, got[3].State, err)
		}
	})
}

// TestPastOfSeveral: periods that still change and are not in memory go into one question, and kept answers for past
// periods are not requested again.
func TestPastOfSeveral(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPastWorld(t)
		refs := w.refs()
		for i := range refs[:3] {
			refs[i].Closed = false
		}
		w.want("at first", refs, false, []int{3, 1}, " 1/2 1/2 1/2 2/2") // the period that is over has a separate question
		time.Sleep(10 * time.Second)                                     // for the background work
	})
}

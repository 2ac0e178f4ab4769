package storetest

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"leaderboard/leaderboard"
)

func testBoards(t *testing.T, s Database) {
	ctx, name := t.Context(), boardName(t)
	before, err := s.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Board(ctx, name); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Fatalf("a board that was never made: %v", err)
	}
	maxScore := int64(1<<63 - 1)
	rules := leaderboard.Rules{Title: "Ä “title” 🏆", Limits: leaderboard.Limits{MaxScore: &maxScore}}
	made, created, err := s.PutBoard(ctx, name, rules)
	if err != nil || !created || made.Version != 1 || made.Name != name || made.ID == 0 {
		t.Fatalf("made %+v, %v, %v", made, created, err)
	}
	if want := rules.WithDefaults(); !reflect.DeepEqual(made.Rules, want) {
		t.Errorf("rules are %+v, want them with defaults, %+v", made.Rules, want)
	}
	if made.CreatedTime < before || made.UpdatedTime != made.CreatedTime {
		t.Errorf("times are %s and %s, made after %s", made.CreatedTime, made.UpdatedTime, before)
	}
	again, created, err := s.PutBoard(ctx, name, rules)
	if err != nil || created || !reflect.DeepEqual(again, made) {
		t.Errorf("the same rules again: %+v, %v, %v; want no change", again, created, err)
	}
	rules.TopN = 77
	changed, created, err := s.PutBoard(ctx, name, rules)
	if err != nil || created || changed.Version != 2 || changed.Rules.TopN != 77 || changed.ID != made.ID ||
		changed.CreatedTime != made.CreatedTime || changed.UpdatedTime < made.UpdatedTime {
		t.Errorf("changed: %+v, %v, %v", changed, created, err)
	}
	if got, err := s.Board(ctx, name); err != nil || !reflect.DeepEqual(got, changed) {
		t.Errorf("read %+v, %v; want %+v", got, err, changed)
	}
	testList(t, s)
}

// testChangeBoard lets several callers change a board at once, each by one: none sees a board that another is changing, so
// that nothing is lost; the first makes it, and refused changes are not done.
func testChangeBoard(t *testing.T, s Database) {
	ctx, name := t.Context(), boardName(t)
	const changes = 20
	change := func(b *leaderboard.Board) (leaderboard.Rules, error) {
		if b == nil {
			return leaderboard.Rules{TopN: 1, Title: "made"}, nil
		}
		rules := b.Rules
		rules.TopN++
		return rules, nil
	}
	var made atomic.Int64
	var all sync.WaitGroup
	for range changes {
		all.Go(func() {
			b, created, err := s.ChangeBoard(ctx, name, change)
			if err != nil || int64(b.Rules.TopN) != b.Version {
				t.Errorf("changed to %+v, %v", b, err)
			}
			if created {
				made.Add(1)
			}
		})
	}
	all.Wait()
	b, err := s.Board(ctx, name)
	if err != nil || b.Rules.TopN != changes || b.Version != changes || b.Rules.Title != "made" || made.Load() != 1 {
		t.Errorf("%d changes at once made %+v, %v; %d of them made the board", changes, b, err, made.Load())
	}
	refused := errors.New("not like this")
	_, _, err = s.ChangeBoard(ctx, name, func(*leaderboard.Board) (leaderboard.Rules, error) { return leaderboard.Rules{}, refused })
	if !errors.Is(err, refused) {
		t.Errorf("a change that was refused: %v", err)
	}
	_, _, err = s.ChangeBoard(ctx, name+"-none", func(b *leaderboard.Board) (leaderboard.Rules, error) {
		if b == nil {
			return leaderboard.Rules{}, leaderboard.ErrBoardNotFound
		}
		return b.Rules, nil
	})
	if !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("a change of no board: %v", err)
	}
	if after, err := s.Board(ctx, name); err != nil || !reflect.DeepEqual(after, b) {
		t.Errorf("after a change that was refused: %+v, %v; want %+v", after, err, b)
	}
}

// testList makes boards with names that sort next to each other and pages through them.
func testList(t *testing.T, s Database) {
	ctx, prefix := t.Context(), boardName(t)+"-list"
	var want []string
	for _, suffix := range []string{"-a", ".b", "0", "9", "_", "z"} { // in byte order
		want = append(want, prefix+suffix)
		if _, _, err := s.PutBoard(ctx, prefix+suffix, leaderboard.Rules{}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	after := prefix
	for {
		page, err := s.Boards(ctx, after, 2)
		if err != nil || len(page) > 2 {
			t.Fatalf("%d boards, %v", len(page), err)
		}
		for _, b := range page {
			if after = b.Name; strings.HasPrefix(b.Name, prefix) {
				got = append(got, b.Name)
			}
		}
		if len(page) == 0 || !strings.HasPrefix(after, prefix) {
			break
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

func testBoardConflict(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	asc := leaderboard.Rules{Order: leaderboard.OrderAsc, Tiebreak: leaderboard.Tiebreak{Order: leaderboard.OrderAsc}}
	if _, _, err := s.PutBoard(t.Context(), b.ref.Board, asc); err != nil {
		t.Fatalf("reordering an empty board: %v", err)
	}
	made, err := s.Board(t.Context(), b.ref.Board)
	if err != nil {
		t.Fatal(err)
	}
	b.ref.Rules = &made.Rules
	b.submit(score("slow", 9), score("quick", 2))
	want := []string{"1 quick 2", "2 slow 9"}
	if got := b.page(leaderboard.PageQuery{Limit: 5}); !reflect.DeepEqual(got, want) {
		t.Errorf("page is %q, want %q", got, want)
	}
	_, _, err = s.PutBoard(t.Context(), b.ref.Board, leaderboard.Rules{Tiebreak: asc.Tiebreak})
	wantConflict(t, err, "/order", "order stays asc, because the board has entries")
	_, _, err = s.PutBoard(t.Context(), b.ref.Board, leaderboard.Rules{Order: leaderboard.OrderAsc})
	wantConflict(t, err, "/tiebreak/order", "tiebreak.order stays asc, because the board has entries")
	var conflict *leaderboard.ConflictError
	if _, _, err = s.PutBoard(t.Context(), b.ref.Board, leaderboard.Rules{}); !errors.As(err, &conflict) || len(conflict.Fields) != 2 ||
		conflict.Detail() != "order stays asc, tiebreak.order stays asc, because the board has entries" {
		t.Errorf("both: %v", err)
	}
	asc.Policy = leaderboard.PolicyLatest
	if _, _, err := s.PutBoard(t.Context(), b.ref.Board, asc); err != nil {
		t.Errorf("another policy with entries: %v", err)
	}
	if res := b.submit(score("quick", 5)); res[0].Status != leaderboard.StatusApplied || *res[0].Score != 5 {
		t.Errorf("under the new policy: %+v", res[0])
	}
}

// wantConflict checks that an error is a conflict over one rule, and says why.
func wantConflict(t testing.TB, err error, pointer, detail string) {
	t.Helper()
	var conflict *leaderboard.ConflictError
	if !errors.As(err, &conflict) || !errors.Is(err, leaderboard.ErrBoardConflict) {
		t.Errorf("%v; want a conflict: %s", err, detail)
	} else if len(conflict.Fields) != 1 || conflict.Fields[0].Pointer != pointer || conflict.Detail() != detail {
		t.Errorf("%s at %+v; want %s at %s", conflict.Detail(), conflict.Fields, detail, pointer)
	}
}

func testBoardRules(t *testing.T, s Database) {
	for _, name := range []string{"", "A", "-a", "a b", "a/b", strings.Repeat("x", 65), "~1", "ä"} {
		var broken *leaderboard.RuleError
		if _, _, err := s.PutBoard(t.Context(), name, leaderboard.Rules{}); !errors.As(err, &broken) || broken.Code != leaderboard.CodeInvalidBoard {
			t.Errorf("name %q: %v", name, err)
		}
	}
	var broken *leaderboard.RuleError
	_, _, err := s.PutBoard(t.Context(), boardName(t), leaderboard.Rules{Order: "up", TopN: -1})
	if !errors.As(err, &broken) || len(broken.Fields) != 2 {
		t.Errorf("bad rules: %v", err)
	}
	if _, err := s.Board(t.Context(), boardName(t)); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("a board with bad rules was made: %v", err)
	}
}

func testDeleteBoard(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	submit := leaderboard.SubmitRequest{Board: b.ref.Board, Key: "k", Entries: []leaderboard.Submission{score("m", 1)}}
	if _, err := s.Submit(t.Context(), submit); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteBoard(t.Context(), b.ref.Board); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteBoard(t.Context(), b.ref.Board); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := s.Submit(t.Context(), submit); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("submit to a deleted board: %v", err)
	}
	if _, err := s.Page(t.Context(), b.ref, leaderboard.PageQuery{Limit: 1}); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		t.Errorf("page of a deleted board: %v", err)
	}
	if _, err := s.Period(t.Context(), b.ref.ID); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		t.Errorf("period of a deleted board: %v", err)
	}
	// The name is free for another board, which knows nothing of the old one's keys and entries.
	again := newBoard(t, b.Subject, leaderboard.Rules{Order: leaderboard.OrderAsc})
	if again.ref.ID == b.ref.ID || again.ref.BoardID == b.ref.BoardID {
		t.Errorf("the new board has the id of the old one: %+v", again.ref)
	}
	submit.Entries[0].Score = 2
	r, err := s.Submit(t.Context(), submit)
	if err != nil || r.Seq != 1 || r.Results[0].Previous != nil {
		t.Errorf("submit to the new board: %+v, %v", r, err)
	}
}

func testPeriods(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	p, err := s.Period(t.Context(), b.ref.ID)
	if err != nil {
		t.Fatal(err)
	}
	if p.Window != leaderboard.WindowAllTime || p.StartsAt != 0 || p.EndsAt != leaderboard.Forever || p.State != leaderboard.PeriodStateOpen ||
		p.LastSeq != 0 || p.EntryCount != 0 || p.Committed == 0 || p.BoardID != b.ref.BoardID {
		t.Errorf("a new period is %+v", p)
	}
	for _, window := range []leaderboard.Window{"", leaderboard.WindowAllTime} {
		list, err := s.Periods(t.Context(), b.ref.BoardID, window, 0, 10)
		if err != nil || len(list) != 1 || list[0] != p {
			t.Errorf("periods of window %q: %+v, %v; want %+v", window, list, err, p)
		}
	}
	if list, err := s.Periods(t.Context(), b.ref.BoardID, "", p.ID, 10); err != nil || len(list) != 0 {
		t.Errorf("periods before the first: %+v, %v", list, err)
	}
	made, err := s.Board(t.Context(), b.ref.Board)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CurrentPeriod(t.Context(), made, "week"); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		t.Errorf("a window that the board lacks: %v", err)
	}
}

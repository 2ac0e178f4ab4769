package storetest

import (
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// testForget leaves nothing of a member, anywhere, and does not change anyone else.
func testForget(t *testing.T, s Database) {
	ctx := t.Context()
	name := boardName(t)[2:]
	gone, stays := name[:20]+"gone", name[:20]+"stays"
	if f, err := s.Forget(ctx, gone, "boss"); err != nil || !f.Done || f.Entries != 0 || f.Member != gone {
		t.Fatalf("nobody: %+v, %v", f, err)
	}
	first := newBoardNamed(t, Subject{Database: s, Rankings: s}, name+"-1", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowYear}})
	second := newBoardNamed(t, Subject{Database: s, Rankings: s}, name+"-2", leaderboard.Rules{Order: leaderboard.OrderAsc})
	for _, b := range []*board{first, second} {
		b.submit(score(gone, 5), score(stays, 5), score("worse", 4), score("better", 6))
	}
	if _, err := s.Hide(ctx, hiding(second.ref.Board, gone)); err != nil { // one entry is a hidden one
		t.Fatal(err)
	}
	second.submit(score(gone, 3))

	f, err := s.Forget(ctx, gone, "boss")
	if err != nil || !f.Done || f.Entries != 3 {
		t.Fatalf("forget: %+v, %v", f, err)
	}
	for _, b := range []*board{first, second} {
		b.caughtUp()
		got := strings.Join(b.page(leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Limit: 10}), ", ")
		want := map[*board]string{first: "1 better 6, 2 " + stays + " 5, 3 worse 4", second: "1 worse 4, 2 " + stays + " 5, 3 better 6"}[b]
		if got != want {
			t.Errorf("%s: %s, want %s", b.ref.Board, got, want)
		}
	}
	hidden, err := s.Hidden(ctx, leaderboard.HiddenQuery{Member: gone, Limit: 10})
	if len(hidden) != 0 || err != nil {
		t.Errorf("left: hidden %v, %v", hidden, err)
	}
	// A member that comes back begins from scratch, and is no longer hidden.
	second.submit(score(gone, 4))
	if got := strings.Join(second.page(leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeTied}, Limit: 2}), ", "); got != "1 worse 4, 1 "+gone+" 4" {
		t.Errorf("back: %s", got)
	}
	if f, err := s.Forget(ctx, gone, "boss"); err != nil || !f.Done || f.Entries != 1 {
		t.Errorf("once more: %+v, %v", f, err)
	}
}

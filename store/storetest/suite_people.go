package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// testFriends reads some of many members: the best of them, a run further down, and one in any case.
func testFriends(t *testing.T, s Subject) {
	b := ladder(t, s, 60, leaderboard.Rules{})
	many := []string{"m59", "x", "m03", "m02", "m20", "m00", "m21", "m05", "m04"}
	for i := range leaderboard.MaxMembers - len(many) {
		many = append(many, fmt.Sprint("friend", i))
	}
	for _, c := range []struct {
		mode          leaderboard.Mode
		limit, offset int
		self, want    string
	}{
		{leaderboard.ModeStrict, 3, 0, "m02", "1/1 m00; 3/2 m02; 4/3 m03; self 3/2 m02 3"},
		{leaderboard.ModeTied, 3, 0, "m59", "1/1 m00; 3/2 m02; 3/2 m03; self 59/8 m59 59"},
		{leaderboard.ModeTied, 3, 2, "m00", "3/2 m03; 5/4 m04; 5/4 m05; self 1/1 m00 1"},
		{leaderboard.ModeDense, 3, 3, "m21", "3/3 m04; 3/3 m05; 11/4 m20; self 11/4 m21 21"},
		{leaderboard.ModeStrict, 1000, 6, "x", "22/7 m21; 60/8 m59; "},
		{leaderboard.ModeStrict, 1, 0, "", "1/1 m00; "},
		{leaderboard.ModeTied, 10, 8, "m20", "self 21/6 m20 21"},
		{leaderboard.ModeTied, 10, 5000, "", ""},
	} {
		q := leaderboard.MembersQuery{Query: b.query(c.mode), Members: many, Limit: c.limit, Offset: c.offset, Self: c.self}
		out, err := s.Rankings.Members(t.Context(), b.ref, q)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, e := range out.Entries {
			got += fmt.Sprintf("%s/%s %s; ", rankText(c.mode, e.Ranks), rankText(c.mode, e.Position), e.Member)
		}
		if out.Self != nil {
			got += fmt.Sprintf("self %s/%s %s %d", rankText(c.mode, out.Self.Ranks), rankText(c.mode, out.Self.Position), out.Self.Member, out.Self.Tied)
		}
		if got != c.want {
			t.Errorf("%s, %d from %d: %s\nwant %s", c.mode, c.limit, c.offset, got, c.want)
		}
		if out.Ranked != 8 || len(out.NotRanked) != leaderboard.MaxMembers-8 || out.NotRanked[0] != "x" {
			t.Errorf("%d ranked, %d not", out.Ranked, len(out.NotRanked))
		}
		b.checkState(out.State)
	}
}

// testForget leaves nothing of a member, anywhere, and does not change anyone else.
func testForget(t *testing.T, s Featured) {
	ctx := t.Context()
	name := boardName(t)[2:]
	gone, stays := name[:20]+"gone", name[:20]+"stays"
	if f, err := s.Forget(ctx, gone, "boss"); err != nil || !f.Done || f.Entries != 0 || f.Member != gone {
		t.Fatalf("nobody: %+v, %v", f, err)
	}
	first := newBoardNamed(t, Subject{Database: s, Featured: s, Rankings: s}, name+"-1", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowYear}})
	second := newBoardNamed(t, Subject{Database: s, Featured: s, Rankings: s}, name+"-2", leaderboard.Rules{Order: leaderboard.OrderAsc})
	for _, b := range []*board{first, second} {
		b.submit(score(gone, 5), score(stays, 5), score("worse", 4), score("better", 6))
	}
	if _, err := s.Hide(ctx, hiding(second.ref.Board, gone)); err != nil { // one entry is a hidden one
		t.Fatal(err)
	}
	second.submit(score(gone, 3))
	for _, m := range []string{gone, stays} {
		if _, _, err := s.PutProfile(ctx, leaderboard.Profile{Member: m, DisplayName: m}); err != nil {
			t.Fatal(err)
		}
	}

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
	_, profile := s.Profile(ctx, gone)
	hidden, err := s.Hidden(ctx, leaderboard.HiddenQuery{Member: gone, Limit: 10})
	if !errors.Is(profile, leaderboard.ErrProfileNotFound) || len(hidden) != 0 || err != nil {
		t.Errorf("left: profile %v, hidden %v, %v", profile, hidden, err)
	}
	if _, err := s.Profile(ctx, stays); err != nil {
		t.Errorf("another one's profile: %v", err)
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

package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// hideOrRestore hides a member or shows one again, on the board or everywhere, in closed periods too or not. Both sides
// must agree on whether there was anybody to be restored, and on every period afterwards.
func (h *history) hideOrRestore(t *rapid.T) {
	r := leaderboard.HideRequest{
		Member: anyMember().Draw(t, "hidden"), Reason: rapid.SampledFrom([]string{"bot", "boost"}).Draw(t, "reason"), Actor: "boss",
		Reopen: rapid.IntRange(0, 3).Draw(t, "reopen") == 0,
	}
	if rapid.IntRange(0, 2).Draw(t, "everywhere") > 0 {
		r.Board = h.name
	}
	h.syncClock(t)
	if rapid.Bool().Draw(t, "restore") {
		got, want := h.Database.Restore(h.ctx, r), h.model.Restore(h.ctx, r)
		if !errors.Is(got, want) || (got == nil) != (want == nil) {
			t.Fatalf("restore %+v: %v, want %v", r, got, want)
		}
	} else {
		got, err := h.Database.Hide(h.ctx, r)
		if err != nil {
			t.Fatalf("hide %+v: %v", r, err)
		}
		want, err := h.model.Hide(h.ctx, r)
		if err != nil || got.Member != want.Member || got.Reason != want.Reason || got.Board != want.Board {
			t.Fatalf("hidden as %+v, want %+v, %v", got, want, err)
		}
	}
	h.wrote()
	h.compareHidden(t)
	h.compareAll(t)
}

// forget forgets a member, hidden or not. Every period so far may have changed.
func (h *history) forget(t *rapid.T) {
	member := anyMember().Draw(t, "forgotten")
	h.syncClock(t)
	got, err := h.Database.Forget(h.ctx, member, "boss")
	if err != nil || !got.Done {
		t.Fatalf("forget %q: %+v, %v", member, got, err)
	}
	want, err := h.model.Forget(h.ctx, member, "boss")
	if err != nil || got.Member != want.Member || got.Entries < want.Entries { // boards of earlier histories have some too
		t.Fatalf("forget %q: %+v, want %+v, %v", member, got, want, err)
	}
	h.wrote()
	h.compareHidden(t)
	h.compareAll(t)
}

// compareAll looks at every period so far: a closed one may have changed.
func (h *history) compareAll(t *rapid.T) {
	present := h.twin
	defer func() { h.twin = present }()
	for _, h.twin = range h.twins {
		h.comparePages(t, leaderboard.PageQuery{Query: leaderboard.Query{MinSeq: h.last}, Limit: 100})
	}
}

func (h *history) compareHidden(t *rapid.T) {
	list := func(database Database) (out []string) {
		hidden, err := database.Hidden(h.ctx, leaderboard.HiddenQuery{Board: h.name, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range hidden {
			out = append(out, one.Board+"/"+one.Member+" "+one.Reason)
		}
		return out
	}
	if got, want := list(h.Database), list(h.model); !slices.Equal(got, want) {
		t.Fatalf("hidden are %q, want %q", got, want)
	}
}

// end leaves nothing behind that would make the next histories slower.
func (h *history) end(t *rapid.T) {
	h.showAll(t)
	if err := h.Database.DeleteBoard(h.ctx, h.name); err != nil {
		t.Fatal(err)
	}
}

// showAll restores the members that a history before this one left hidden everywhere.
func (h *history) showAll(t *rapid.T) {
	hidden, err := h.Database.Hidden(h.ctx, leaderboard.HiddenQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range hidden {
		if one.BoardID != 0 {
			continue
		}
		if err := h.Database.Restore(h.ctx, leaderboard.HideRequest{Member: one.Member}); err != nil {
			t.Fatal(err)
		}
	}
}

// anyReview draws a rule review: usually none, else some scores, some places or both.
func anyReview() *rapid.Generator[*leaderboard.Review] {
	one, three := int64(1), int64(3)
	return rapid.SampledFrom([]*leaderboard.Review{
		nil, nil, nil,
		{Hold: []leaderboard.HoldRule{{Above: &three}}},
		{Hold: []leaderboard.HoldRule{{RankWithin: 2}}},
		{Hold: []leaderboard.HoldRule{{RankWithin: 1}, {Above: &one}}},
	})
}

// decideHeld approves or rejects a submission that waits or was decided before, on both sides, which must agree on the
// result and on every period afterwards.
func (h *history) decideHeld(t *rapid.T) {
	h.syncClock(t)
	state := rapid.SampledFrom([]leaderboard.HeldState{leaderboard.HeldStateWaiting, leaderboard.HeldStateWaiting, leaderboard.HeldStateApproved}).Draw(t, "state")
	got, want := h.held(t, h.Featured, state), h.held(t, h.model, state) // at a clock that stands their ids say nothing of the order
	if a, b := heldTexts(got), heldTexts(want); a != b {
		t.Fatalf("%s is\n%s\nwant\n%s", state, a, b)
	}
	if len(got) == 0 {
		return
	}
	i := rapid.IntRange(0, len(got)-1).Draw(t, "decided")
	d := leaderboard.HeldDecision{ID: got[i].ID, Approve: rapid.IntRange(0, 3).Draw(t, "approve") > 0, Note: "seen"}
	d.Reopen = d.Approve && rapid.Bool().Draw(t, "reopen")
	after, err := h.Featured.DecideHeld(h.ctx, d)
	d.ID = want[i].ID
	wanted, wantErr := h.model.DecideHeld(h.ctx, d)
	gotRule, wantRule := leaderboard.AsRule(err), leaderboard.AsRule(wantErr)
	switch {
	case (err == nil) != (wantErr == nil), gotRule == nil && !errors.Is(err, wantErr), gotRule != nil && (wantRule == nil || gotRule.Code != wantRule.Code):
		t.Fatalf("decided %+v: %v, want %v", d, err, wantErr)
	case err == nil && heldTexts([]leaderboard.Held{after}) != heldTexts([]leaderboard.Held{wanted}):
		t.Fatalf("decided as\n%s\nwant\n%s", heldTexts([]leaderboard.Held{after}), heldTexts([]leaderboard.Held{wanted}))
	}
	h.wrote()
	h.compareAll(t)
}

// held returns the held submissions of the board, newest first.
func (h *history) held(t *rapid.T, database Featured, state leaderboard.HeldState) []leaderboard.Held {
	board, err := database.Board(h.ctx, h.name)
	if err != nil {
		t.Fatal(err)
	}
	list, err := database.Held(h.ctx, leaderboard.HeldQuery{BoardID: board.ID, State: state, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(list, func(a, b leaderboard.Held) int {
		return strings.Compare(heldTexts([]leaderboard.Held{a}), heldTexts([]leaderboard.Held{b}))
	})
	return list
}

// heldTexts returns held submissions as texts, without their ids and their periods' ids.
func heldTexts(list []leaderboard.Held) string {
	var out []string
	for _, h := range list {
		out = append(out, fmt.Sprint(h.Board, " ", h.Member, " ", h.State, " ", h.Reason, " ", h.Score, " ", h.NewScore, " ", h.Tiebreak, " ", h.CreatedTime, " ", h.HeldTime,
			" ", len(h.Periods), " ", h.Actor, " ", h.DecidedTime, " ", h.DecidedBy, " ", h.Note, " ", h.Outcome))
	}
	return strings.Join(out, "\n")
}

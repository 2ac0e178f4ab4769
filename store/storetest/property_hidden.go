package storetest

import (
	"errors"
	"slices"

	"pgregory.net/rapid"

	"leaderboard"
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

package storetest

import "pgregory.net/rapid"

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

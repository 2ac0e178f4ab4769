package commit

import (
	"maps"
	"slices"

	"leaderboard/leaderboard"
)

// An entry has a side: it is shown, or set aside for a reason. A reason is a feature's part, an Aside; one reason is that
// the member is hidden. An entry that is set aside is a row of entries with a separate period_id, see entries.AsideIn. The
// reasons are read under the lock of the board, so a batch knows for each of its members whether the entry is on the right
// side, and moves it otherwise.

// asideEntries are the entries of a period that are set aside.
type asideEntries struct {
	entries map[string]*leaderboard.Entry // found, or put there since
	touched map[string]bool               // members that the batch changed; true: a row is stored
}

// set makes e (nil: none) the member's entry that is set aside.
func (h *asideEntries) set(member string, e *leaderboard.Entry) {
	if h.touched == nil {
		h.touched = map[string]bool{}
	}
	old := h.entries[member]
	if _, ok := h.touched[member]; !ok {
		h.touched[member] = old != nil
	}
	h.found(member, e)
}

// found records a stored entry.
func (h *asideEntries) found(member string, e *leaderboard.Entry) {
	if h.entries == nil {
		h.entries = map[string]*leaderboard.Entry{}
	}
	h.entries[member] = e
}

// toWrite returns the entries to write, and the members whose entries must be deleted.
func (h *asideEntries) toWrite() (upserts []*leaderboard.Entry, gone []string) {
	for _, m := range slices.Sorted(maps.Keys(h.touched)) {
		switch e := h.entries[m]; {
		case e != nil:
			upserts = append(upserts, e)
		case h.touched[m]:
			gone = append(gone, m)
		}
	}
	return upserts, gone
}

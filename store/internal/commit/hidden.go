package commit

import (
	"maps"
	"slices"

	"leaderboard/leaderboard"
)

// The entry of a hidden member is a row of entries with a period_id of its own, see entries.HiddenIn. Which members are
// hidden is read under the lock of the board, so a batch knows for each of its members whether the entry is in the right
// place, and moves it otherwise.

// States of a row of hidden_members.
const (
	StateHiding    = "hiding"    // hidden; visible entries are still to be moved
	StateHidden    = "hidden"    // hidden, and everything is moved
	StateRestoring = "restoring" // not hidden; entries are still to be moved back, then the row goes
)

// hiddenMembers are the members of a batch that are hidden now, by board (0: everywhere).
type hiddenMembers map[hiddenKey]bool

type hiddenKey struct {
	boardID int64
	member  string
}

// on reports whether a member is hidden on a board.
func (h hiddenMembers) on(boardID int64, member string) bool {
	return len(h) > 0 && (h[hiddenKey{0, member}] || h[hiddenKey{boardID, member}])
}

// hiddenEntries are the entries of hidden members in a period.
type hiddenEntries struct {
	entries map[string]*leaderboard.Entry // found, or put there since
	touched map[string]bool               // those that the batch changed; true: there is a row of it
}

// set makes e the hidden entry of a member, nil for none.
func (h *hiddenEntries) set(member string, e *leaderboard.Entry) {
	if h.touched == nil {
		h.touched = map[string]bool{}
	}
	old := h.entries[member]
	if _, ok := h.touched[member]; !ok {
		h.touched[member] = old != nil
	}
	h.found(member, e)
}

// found notes an entry as it is stored.
func (h *hiddenEntries) found(member string, e *leaderboard.Entry) {
	if h.entries == nil {
		h.entries = map[string]*leaderboard.Entry{}
	}
	h.entries[member] = e
}

// toWrite returns what has to be written: entries, and the members whose entries are gone.
func (h *hiddenEntries) toWrite() (upserts []*leaderboard.Entry, gone []string) {
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

package httpapi

import (
	"context"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Show adds data to the entries of answers when a parameter asks for it, such as the profiles of members.
type Show interface {
	// Param is the name of the parameter, which is true or false.
	Param() string
	// On reports whether entries of a board with these rules may have such data. Find is called for no other board.
	On(rules *leaderboard.Rules) bool
	// Find looks up the data for the entries of an answer. It may mark the state stale.
	Find(ctx context.Context, a *Shown) (Extra, error)
}

// Kept is a Show whose data are kept with entries: each state of an entry has separate data. They are a member of the entry, named
// like the parameter, also in histories, standings and exports. There is one Kept at most.
type Kept interface {
	Show
	// FindPast looks up the data for the entries of a member in several periods, and returns the entries in the state of these
	// data.
	FindPast(ctx context.Context, refs []leaderboard.PeriodRef, member string, found []leaderboard.PastEntry) ([]leaderboard.PastEntry, Extra, error)
}

// Shown is an answer with entries.
type Shown struct {
	Period  *leaderboard.PeriodRef // nil: there are several
	State   leaderboard.State
	Entries []leaderboard.Entry
	// Fresh reports whether the answer may still go out after slow work.
	Fresh func() bool
	// Again reads the answer again from the database, in one state with the data kept with its entries, and returns these data.
	Again func() ([]string, error)
}

// Extra is the data that a Show found for the entries of an answer, by the index of the entry.
type Extra interface {
	// AddTo adds all of it to the ETag of the answer.
	AddTo(etag wire.ETag) wire.ETag
	// AppendTo appends the data of entry i to the members of its object.
	AppendTo(b []byte, i int) []byte
}

// Lasting is the data that a Kept found for the entries of an answer.
type Lasting interface {
	Extra
	// Lasts reports whether every later look-up for the same entries at the same state finds the same.
	Lasts() bool
}

// Extras is the data of all Shows of an answer.
type Extras []Extra

// AddTo adds it to the ETag of the answer.
func (list Extras) AddTo(etag wire.ETag) wire.ETag {
	for _, b := range list {
		etag = b.AddTo(etag)
	}
	return etag
}

// AppendTo appends the data of entry i to the members of its object.
func (list Extras) AppendTo(b []byte, i int) []byte {
	for _, one := range list {
		b = one.AppendTo(b, i)
	}
	return b
}

// lasts reports whether every later look-up for the entries at the same state finds the same data. No data last.
func (list Extras) lasts() bool {
	for _, b := range list {
		if l, ok := b.(Lasting); !ok || !l.Lasts() {
			return false
		}
	}
	return true
}

// SlowLookUp is the time of a look-up after which the freshness of its answer is judged again.
const SlowLookUp = 50 * time.Millisecond

// MaxKeptBoards is how many boards standings with kept data may name.
const MaxKeptBoards = 100

// isAbout reports whether a Show is about members, whatever entries they have. The data of other Shows are kept with entries.
func isAbout(show Show) bool {
	_, kept := show.(Kept)
	return !kept
}

// keptAmong returns the Kept of a list; nil if the list has no Kept.
func keptAmong(list []Show) Kept {
	for _, show := range list {
		if kept, ok := show.(Kept); ok {
			return kept
		}
	}
	return nil
}

// Find looks up the data of shows for the answer.
func (a *Shown) Find(ctx context.Context, shows []Show) (list Extras, err error) {
	for _, show := range shows {
		found, err := show.Find(ctx, a)
		if err != nil {
			return nil, err
		}
		list = append(list, found)
	}
	return list, nil
}

// setEntries gives the answer other entries, and returns the metadata that were read with them.
func (a *Shown) setEntries(entries []*leaderboard.Ranked) []string {
	a.Entries = make([]leaderboard.Entry, len(entries))
	kept := make([]string, len(entries))
	for i, e := range entries {
		a.Entries[i], kept[i] = e.Entry, e.Metadata
	}
	return kept
}

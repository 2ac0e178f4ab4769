package httpapi

import (
	"context"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Show is something that answers show beside entries when a parameter asks for it, such as the profiles of members.
type Show interface {
	// Param is the parameter: true or false.
	Param() string
	// On reports whether entries of a board with these rules may have some. Find is called for no other board.
	On(rules *leaderboard.Rules) bool
	// Find looks up what there is beside the entries of an answer. It may mark the state stale.
	Find(ctx context.Context, a *Shown) (Beside, error)
}

// Kept is a Show of what is kept with entries: each state of an entry has its own. It is a member of the entry, called as the
// parameter, that histories, standings and exports have too. There is one Kept at most.
type Kept interface {
	Show
	// FindPast looks up what there is beside the entries of a member in several periods, and returns them as they are then.
	FindPast(ctx context.Context, refs []leaderboard.PeriodRef, member string, found []leaderboard.PastEntry) ([]leaderboard.PastEntry, Beside, error)
}

// Shown is an answer with entries.
type Shown struct {
	Period  *leaderboard.PeriodRef // nil: there are several
	State   leaderboard.State
	Entries []leaderboard.Entry
	// Fresh reports whether the answer may still go out after slow work.
	Fresh func() bool
	// Again reads the answer from the database, at one state with what is kept with its entries, which it returns.
	Again func() ([]string, error)
}

// Beside is what was found beside the entries of an answer, counted as they are.
type Beside interface {
	// AddTo adds all of it to the ETag of the answer.
	AddTo(etag wire.ETag) wire.ETag
	// AppendTo appends what there is of entry i to the members of its object.
	AppendTo(b []byte, i int) []byte
}

// Lasting is what a Kept has found for the entries of an answer.
type Lasting interface {
	Beside
	// Lasts reports whether every later look-up for the same entries at the same state finds the same.
	Lasts() bool
}

// Besides is all that an answer shows beside its entries.
type Besides []Beside

// AddTo adds it to the ETag of the answer.
func (list Besides) AddTo(etag wire.ETag) wire.ETag {
	for _, b := range list {
		etag = b.AddTo(etag)
	}
	return etag
}

// AppendTo appends what there is of entry i to the members of its object.
func (list Besides) AppendTo(b []byte, i int) []byte {
	for _, one := range list {
		b = one.AppendTo(b, i)
	}
	return b
}

// lasts reports whether that is all that there ever is beside the entries of an answer at its state. Nothing is.
func (list Besides) lasts() bool {
	for _, b := range list {
		if l, ok := b.(Lasting); !ok || !l.Lasts() {
			return false
		}
	}
	return true
}

// SlowLookUp is how long it may take to look up what is shown before the answer that shows it is judged again.
const SlowLookUp = 50 * time.Millisecond

// MaxKeptBoards is how many boards standings with what is kept may name.
const MaxKeptBoards = 100

// isAbout reports whether a Show is about members, whatever entries they have. Others are kept with entries.
func isAbout(show Show) bool {
	_, kept := show.(Kept)
	return !kept
}

// keptAmong returns the Kept of a list; nil: it has none.
func keptAmong(list []Show) Kept {
	for _, show := range list {
		if kept, ok := show.(Kept); ok {
			return kept
		}
	}
	return nil
}

// Find looks up what the answer shows.
func (a *Shown) Find(ctx context.Context, shows []Show) (list Besides, err error) {
	for _, show := range shows {
		found, err := show.Find(ctx, a)
		if err != nil {
			return nil, err
		}
		list = append(list, found)
	}
	return list, nil
}

// take gives the answer other entries, and returns what was read with them.
func (a *Shown) take(entries []*leaderboard.Ranked) []string {
	a.Entries = make([]leaderboard.Entry, len(entries))
	kept := make([]string, len(entries))
	for i, e := range entries {
		a.Entries[i], kept[i] = e.Entry, e.Metadata
	}
	return kept
}

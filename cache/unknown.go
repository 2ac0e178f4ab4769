package cache

import (
	"context"

	"leaderboard"
	"leaderboard/cache/watch"
)

// unknownBytes is what a name takes that no board has.
const unknownBytes = 200

// unknownNames are names that no board has, each with the revision of leaderboard.BoardsPeriod that was known before the
// database was asked for it. While the watch shows none that is newer, there is no such board.
type unknownNames struct {
	watch *watch.Watch // nil: nothing is kept
	names *lru[string, leaderboard.Revision]
}

func newUnknownNames(w *watch.Watch) *unknownNames {
	return &unknownNames{w, newLRU[string, leaderboard.Revision](catalogBoards, catalogBoards*unknownBytes)}
}

// has says whether it is known that there is no board of a name.
func (u *unknownNames) has(ctx context.Context, name string) bool {
	if u.watch == nil {
		return false
	}
	at, ok := u.names.get(name)
	if !ok {
		return false
	}
	switch u.watch.Check(ctx, leaderboard.BoardsPeriod, at) {
	case watch.VerdictFresh:
		return true
	case watch.VerdictOld, watch.VerdictDiverged:
		u.names.delete(name)
	}
	return false
}

// before returns the revision to keep a name with of which the database is asked next; ok is false when none is known
// yet, and then the watch asks for it.
func (u *unknownNames) before() (r leaderboard.Revision, ok bool) {
	if u.watch == nil {
		return r, false
	}
	if r, ok = u.watch.Latest(leaderboard.BoardsPeriod); !ok {
		u.watch.Judge(leaderboard.BoardsPeriod, r)
	}
	return r, ok
}

// keep takes down that there was no board of a name.
func (u *unknownNames) keep(name string, at leaderboard.Revision) {
	u.names.update(name, unknownBytes, func(leaderboard.Revision, bool) leaderboard.Revision { return at })
}

// unchanged says whether the boards are at a revision still, by a statement that is sent after the call.
func (u *unknownNames) unchanged(ctx context.Context, at leaderboard.Revision) bool {
	if u.watch.Away() || u.watch.Wait(ctx, leaderboard.BoardsPeriod) != nil {
		return false
	}
	now, ok := u.watch.Latest(leaderboard.BoardsPeriod)
	return ok && now == at
}

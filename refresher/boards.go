package refresher

import (
	"context"

	"leaderboard/leaderboard"
)

// boardList remembers at which revision of the boards a list of them was read, so that it is read again only after a change.
// One goroutine uses it.
type boardList struct {
	revision func(context.Context) (leaderboard.Revision, bool) // Config.BoardsRevision
	at       leaderboard.Revision                               // before the list was read last
	known    bool                                               // at is, and the list was read
}

// read calls list, unless it succeeded before and no board has changed since.
func (l *boardList) read(ctx context.Context, list func() error) error {
	at, ok := l.revision(ctx)
	if ok && l.known && at == l.at {
		return nil
	}
	err := list()
	l.at, l.known = at, ok && err == nil
	return err
}

package app

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"leaderboard/cache"
	"leaderboard/httpapi"
	"leaderboard/leaderboard"
)

// rulesEvery is the time between two looks whether boards have changed.
const rulesEvery = 10 * time.Second

// unknownRules counts the boards with a rule that this server does not know, of a newer version or with a time zone that this
// machine does not have, and the boards derived of periods that are unknown for this reason. /readyz and a metric show the count;
// the log names the boards.
type unknownRules struct {
	boards   func(ctx context.Context, after string, limit int) ([]leaderboard.Board, error)
	revision func(context.Context) (leaderboard.Revision, bool) // of all boards
	catalog  *cache.Catalog
	log      *slog.Logger

	at     leaderboard.Revision // before all boards were read last; of run's goroutine alone, as logged
	logged map[int64]int64      // versions of boards that the log has, by id
	found  atomic.Int64
}

// run reads the list of all boards, again after each change of boards, until ctx ends.
func (u *unknownRules) run(ctx context.Context) {
	u.look(ctx)
	every(ctx, rulesEvery, rulesEvery/10, func() { u.look(ctx) })
}

func (u *unknownRules) look(ctx context.Context) {
	at, ok := u.revision(ctx)
	if !ok || u.logged != nil && at == u.at {
		return
	}
	const page = 500
	logged, unknown, derived := map[int64]int64{}, map[string]leaderboard.SourceBoard{}, []leaderboard.Board(nil)
	note := func(b *leaderboard.Board, said, rule string) {
		if version, again := u.logged[b.ID]; !again || version != b.Version {
			u.log.Warn(said, "board", b.Name, "rule", rule)
		}
		logged[b.ID] = b.Version
	}
	for after, more := "", true; more; {
		boards, err := u.boards(ctx, after, page)
		if err != nil {
			return // the next look tries again
		}
		for i := range boards {
			b := &boards[i]
			after = b.Name
			switch {
			case b.Unknown != "":
				note(b, "this server does not know a rule of a board, and takes no submissions to it", b.Unknown)
				calendar, _ := b.Rules.Calendar()
				unknown[b.Name] = leaderboard.SourceBoard{Windows: b.Rules.Windows, Calendar: calendar, Derived: b.Rules.Derive != nil}
			case b.Rules.Derive != nil:
				derived = append(derived, *b)
			}
		}
		more = len(boards) == page
	}
	find := func(name string) (leaderboard.SourceBoard, bool) { b, ok := unknown[name]; return b, ok }
	for i := range derived {
		if err := derived[i].Rules.Derive.CheckKnown(find); err != nil {
			note(&derived[i], "this server does not know the periods of a source of a derived board, and leaves it to others", err.Error())
		}
	}
	u.at, u.logged = at, logged
	u.found.Store(int64(len(logged)))
}

// count returns how many boards have such a rule: among all boards at the last look, or among the boards read here, whichever is
// more.
func (u *unknownRules) count() int {
	met := u.catalog.Known("", maxSeen, func(b *leaderboard.Board) bool { return b.Unknown != "" })
	return max(int(u.found.Load()), len(met))
}

// health returns the reason that /readyz shows, nil without such boards.
func (u *unknownRules) health() error {
	n := u.count()
	if n == 0 {
		return nil
	}
	return httpapi.Reason(fmt.Sprintf("boards with a rule that this server does not know, of a newer version or with a time zone that is not on its machine, or derived of such a board: %d; the log names them", n))
}

package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"leaderboard/cache"
	"leaderboard/cache/feed"
	"leaderboard/httpapi"
	"leaderboard/leaderboard"
)

// rulesEvery is the time between two looks whether boards have changed.
const rulesEvery = 10 * time.Second

// unknownRules counts the boards with a rule that this server does not know, of a newer version or with a time zone that this
// machine does not have, and the boards derived of periods that are unknown for this reason. /readyz and a metric show the count;
// the log names the boards.
type unknownRules struct {
	listed  *cache.Table[map[int64]unknownRule]
	catalog *cache.Catalog
	log     *slog.Logger
	logged  map[int64]int64 // versions of the boards at the last look, by id; of run's goroutine alone
}

// unknownRule is a board with a rule that this server does not know.
type unknownRule struct {
	board   string
	version int64
	said    string // to the operator
	rule    string
}

func newUnknownRules(boards boardLister, sources unknownSources, f *feed.Feed, catalog *cache.Catalog, log *slog.Logger) *unknownRules {
	read := func(ctx context.Context) (map[int64]unknownRule, error) {
		return readUnknownRules(ctx, boards, sources)
	}
	return &unknownRules{listed: cache.NewTable("boards with unknown rules", leaderboard.BoardsPeriod, read, f, cache.TableOptions{}), catalog: catalog, log: log}
}

// boardLister lists all boards by name, after a name, at most limit.
type boardLister func(ctx context.Context, after string, limit int) ([]leaderboard.Board, error)

// unknownSources returns an ErrUnknownRule, by the id of the board, for each of the derived boards with a source whose periods
// this server does not know. unknown is the boards with a rule that it does not know.
type unknownSources func(derived, unknown []leaderboard.Board) map[int64]error

func readUnknownRules(ctx context.Context, boards boardLister, sources unknownSources) (map[int64]unknownRule, error) {
	var derived, unknown []leaderboard.Board
	found := map[int64]unknownRule{}
	err := cache.ReadPages(ctx, cache.PageRows, boards, func(b *leaderboard.Board) string {
		switch {
		case b.Unknown != "":
			found[b.ID] = unknownRule{b.Name, b.Version, "this server does not know a rule of a board, and takes no submissions to it", b.Unknown}
			unknown = append(unknown, *b)
		case b.Rules.Derive != nil:
			derived = append(derived, *b)
		}
		return b.Name
	})
	without := sources(derived, unknown)
	for i := range derived {
		b := &derived[i]
		if err := without[b.ID]; err != nil {
			found[b.ID] = unknownRule{b.Name, b.Version, "this server does not know the periods of a source of a derived board, and leaves it to others", err.Error()}
		}
	}
	return found, err
}

// run reads the list of all boards, again after each change of boards, until ctx ends.
func (u *unknownRules) run(ctx context.Context) {
	u.look(ctx)
	every(ctx, rulesEvery, rulesEvery/10, func() { u.look(ctx) })
}

// look logs the boards that the log does not have yet. While they cannot be read, the next look tries again.
func (u *unknownRules) look(ctx context.Context) {
	if u.listed.Renew(ctx) != nil {
		return
	}
	logged := map[int64]int64{}
	for id, r := range u.listed.Value() {
		if version, again := u.logged[id]; !again || version != r.version {
			u.log.Warn(r.said, "board", r.board, "rule", r.rule)
		}
		logged[id] = r.version
	}
	u.logged = logged
}

// count returns how many boards have such a rule: among all boards at the last look, or among the boards read here, whichever is
// more.
func (u *unknownRules) count() int {
	met := u.catalog.Known("", maxSeen, func(b *leaderboard.Board) bool { return b.Unknown != "" })
	return max(len(u.listed.Value()), len(met))
}

// health returns the reason that /readyz shows, nil without such boards.
func (u *unknownRules) health() error {
	n := u.count()
	if n == 0 {
		return nil
	}
	return httpapi.Reason(fmt.Sprintf("boards with a rule that this server does not know, of a newer version or with a time zone that is not on its machine, or derived of such a board: %d; the log names them", n))
}

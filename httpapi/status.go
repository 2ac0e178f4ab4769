package httpapi

import (
	"context"
	"net/http"
	"time"

	"leaderboard/api"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Build has the version and the commit of the program.
type Build struct{ Version, Commit string }

// statusWait bounds the database's listing of boards; after it the status shows the boards that are known here.
const statusWait = time.Second

// BoardStatus looks at the health of boards.
type BoardStatus interface {
	// BoardHealth returns the health of boards, in their order, with few questions for all of them; there are at most 100.
	// Servers that do not answer soon are left out. away: the database is known not to answer, so it is not asked.
	BoardHealth(ctx context.Context, boards []leaderboard.Board, away bool) []leaderboard.BoardHealth
}

// boardLister lists boards as Boards does.
type boardLister interface {
	BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) ([]leaderboard.Board, error)
}

// statusHandlers serve how the server and its boards stand.
type statusHandlers struct {
	catalog Catalog
	boards  boardLister
	status  BoardStatus
	build   Build
	check   func(context.Context) Health
	purge   func() leaderboard.Purge
	streams *Streams
	started time.Time
}

// get answers GET /v1/status.
func (h *statusHandlers) get(c *Call) error {
	limit := int(c.Params.Integer("limit"))
	of := wire.List{Name: "status"}
	after := AfterCursor(c, of.After)
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	health := h.check(c.Ctx)
	found, next, away, err := h.list(c, after, limit, health.Checks["mysql"] != nil)
	if err != nil {
		return err
	}
	now := time.Now()
	out := api.Status{Server: h.server(c, health, now), Boards: make([]api.BoardStatus, len(found))}
	standing := h.status.BoardHealth(c.Ctx, found, away)
	for i := range standing {
		if standing[i].Stale {
			out.Server.MySQL = "away" // it has just not answered, although its health may be good
		}
		out.Boards[i] = showBoardHealth(&standing[i])
	}
	if next != "" {
		out.NextCursor = of.Cursor(next)
	}
	return c.SendJSON(http.StatusOK, out)
}

// list returns the boards of a page that the caller's key covers, and the name after which the next page begins, "" without a next
// page. away: the database did not answer, and the page has only boards known to this server.
func (h *statusHandlers) list(c *Call, after string, limit int, isAway bool) (found []leaderboard.Board, next string, away bool, err error) {
	if !isAway {
		if found, next, err = h.listed(c, after, limit); err == nil {
			return found, next, false, nil
		}
		if c.Ctx.Err() != nil {
			return nil, "", false, err
		}
	}
	found = h.catalog.Known(after, limit+1, func(b *leaderboard.Board) bool { return c.Covers(b.Name) })
	if len(found) > limit {
		found, next = found[:limit], found[limit-1].Name
	}
	return found, next, true, nil
}

func (h *statusHandlers) listed(c *Call, after string, limit int) (found []leaderboard.Board, next string, err error) {
	ctx, cancel := context.WithTimeout(c.Ctx, statusWait)
	defer cancel()
	size := limit + 1
	for range maxScan {
		boards, err := h.boards.BoardsLabelled(ctx, nil, after, size)
		if err != nil {
			return nil, "", err
		}
		for i := range boards {
			switch {
			case !c.Covers(boards[i].Name):
			case len(found) == limit:
				return found, found[limit-1].Name, nil // a cursor can be read, so it must not name a board outside the key
			default:
				found = append(found, boards[i])
			}
			after = boards[i].Name
		}
		if len(boards) < size {
			return found, "", nil
		}
		size = max(size, scanSize)
	}
	if len(found) > 0 {
		after = found[len(found)-1].Name
	}
	return found, after, nil
}

func (h *statusHandlers) server(c *Call, health Health, now time.Time) api.ServerStatus {
	reached := func(name string) string {
		err, has := health.Checks[name]
		switch {
		case err != nil:
			return "away"
		case !has && name == "redis":
			return "none"
		}
		return "ok"
	}
	t := &c.shared.traffic
	return api.ServerStatus{
		Version: h.build.Version, Commit: h.build.Commit, StartedAt: h.started, MySQL: reached("mysql"), Redis: reached("redis"),
		RequestsPerSecond: t.requests.perSecond(now), ReadsPerSecond: t.reads.perSecond(now), WritesPerSecond: t.writes.perSecond(now),
		Streams: h.streams.Open(), Purge: api.Purge(h.purge()),
	}
}

func showBoardHealth(b *leaderboard.BoardHealth) api.BoardStatus {
	p := &b.Period
	out := api.BoardStatus{
		Board: b.Board.Name, DisplayName: b.Board.Rules.Title, Visibility: string(b.Board.Rules.Visibility), Window: string(b.Board.Rules.Windows[0]),
		Entries: p.EntryCount, Seq: p.LastSeq, Stale: b.Stale, Resident: b.Resident,
	}
	if p.Window != "" {
		name := p.Name()
		out.Period, out.AsOf = &name, Moment(p.Committed)
	}
	if b.Copy != nil {
		out.Copy = &api.CopyStatus{Seq: b.Copy.Seq, Entries: b.Copy.Entries}
	}
	if b.Board.Rules.Derive != nil {
		out.Derived = &api.DerivedStatus{}
		if b.Lag != nil {
			ms := b.Lag.Milliseconds()
			out.Derived.LagMS = &ms
		}
	}
	return out
}

package httpapi

import (
	"context"
	"net/http"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Build is what the program was made from.
type Build struct{ Version, Commit string }

const (
	// maxStatus is how many boards an answer has.
	maxStatus = 100
	// statusWait is how long the database has to list the boards; then the status shows those that are known here.
	statusWait = time.Second
)

// BoardStatus looks at the health of boards.
type BoardStatus interface {
	// BoardHealth returns the health of boards, in their order, with few questions for all of them; there are at most maxStatus.
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

type serverJSON struct {
	Version  string             `json:"version"`
	Commit   string             `json:"commit"`
	Started  leaderboard.Micros `json:"started_at"`
	MySQL    string             `json:"mysql"`
	Redis    string             `json:"redis"`
	Requests float64            `json:"requests_per_second"`
	Reads    float64            `json:"reads_per_second"`
	Writes   float64            `json:"writes_per_second"`
	Streams  int                `json:"streams"`
	Purge    purgeJSON          `json:"purge"`
}

type purgeJSON struct {
	Boards  int64 `json:"boards"`
	Entries int64 `json:"entries"`
}

type boardStatusJSON struct {
	Board       string                 `json:"board"`
	DisplayName string                 `json:"display_name,omitempty"`
	Visibility  leaderboard.Visibility `json:"visibility"`
	Window      leaderboard.Window     `json:"window"`
	Period      *string                `json:"period"`
	Entries     int64                  `json:"entries"`
	Seq         int64                  `json:"seq"`
	AsOf        *leaderboard.Micros    `json:"as_of"`
	Stale       bool                   `json:"stale"`
	Copy        *copyJSON              `json:"copy"`
	Resident    bool                   `json:"resident"`
	Derived     *derivedJSON           `json:"derived"`
}

type copyJSON struct {
	Seq     int64 `json:"seq"`
	Entries int64 `json:"entries"`
}

type derivedJSON struct {
	LagMS *int64 `json:"lag_ms"`
}

// get answers GET /v1/status.
func (h *statusHandlers) get(c *Call) error {
	limit := int(c.Params.Integer("limit", maxStatus, 1, maxStatus))
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
	out := struct {
		Server serverJSON        `json:"server"`
		Boards []boardStatusJSON `json:"boards"`
		Next   string            `json:"next_cursor,omitempty"`
	}{Server: h.server(c, health, now), Boards: make([]boardStatusJSON, len(found))}
	standing := h.status.BoardHealth(c.Ctx, found, away)
	for i := range standing {
		if standing[i].Stale {
			out.Server.MySQL = "away" // it has just not answered, whatever it did when its health was looked at
		}
		out.Boards[i] = showBoardHealth(&standing[i])
	}
	if next != "" {
		out.Next = of.Cursor(next)
	}
	return c.SendJSON(http.StatusOK, out)
}

// list returns the boards of a page that the caller's key is for, and after which the next page begins, "" when there is
// none. away: they are those that this server knows, for the database did not answer.
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
				return found, found[limit-1].Name, nil // a cursor can be read: it names no other's board
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

func (h *statusHandlers) server(c *Call, health Health, now time.Time) serverJSON {
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
	return serverJSON{
		Version: h.build.Version, Commit: h.build.Commit, Started: leaderboard.MicrosOf(h.started), MySQL: reached("mysql"), Redis: reached("redis"),
		Requests: t.requests.perSecond(now), Reads: t.reads.perSecond(now), Writes: t.writes.perSecond(now), Streams: h.streams.Open(), Purge: purgeJSON(h.purge()),
	}
}

func showBoardHealth(b *leaderboard.BoardHealth) boardStatusJSON {
	p := &b.Period
	out := boardStatusJSON{
		Board: b.Board.Name, DisplayName: b.Board.Rules.Title, Visibility: b.Board.Rules.Visibility, Window: b.Board.Rules.Windows[0],
		Entries: p.EntryCount, Seq: p.LastSeq, Stale: b.Stale, Resident: b.Resident,
	}
	if p.Window != "" {
		name := p.Name()
		out.Period, out.AsOf = &name, &p.Committed
	}
	if b.Copy != nil {
		out.Copy = &copyJSON{b.Copy.Seq, b.Copy.Entries}
	}
	if b.Board.Rules.Derive != nil {
		out.Derived = &derivedJSON{}
		if b.Lag != nil {
			ms := b.Lag.Milliseconds()
			out.Derived.LagMS = &ms
		}
	}
	return out
}

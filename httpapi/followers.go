package httpapi

import (
	"net/http"
	"slices"

	"leaderboard"
	"leaderboard/httpapi/internal/wire"
)

// followerHandlers make, show and delete followers of a board's changes.
type followerHandlers struct{ changes *changeHandlers }

// followerJSON is a follower as it is shown.
type followerJSON struct {
	Name            string              `json:"name"`
	Window          leaderboard.Window  `json:"window"`
	Period          string              `json:"period"`
	Seq             int64               `json:"seq"`
	Cursor          string              `json:"cursor"`
	Waiting         int64               `json:"waiting"`
	OldestWaitingAt *leaderboard.Micros `json:"oldest_waiting_at"`
	CreatedTime     leaderboard.Micros  `json:"created_time"`
	SeenAt          leaderboard.Micros  `json:"seen_at"`
	EndsAt          leaderboard.Micros  `json:"ends_at"`
}

// showFollower shows followers of a board; its cursor names the period of each.
func showFollower(board string) func(*leaderboard.Follower) followerJSON {
	return func(f *leaderboard.Follower) followerJSON {
		place, _ := wire.AfterChange(board, f.Cursor)
		return followerJSON{
			Name: f.Name, Window: f.Window, Period: place.Period, Seq: f.Seq, Cursor: f.Cursor, Waiting: f.Waiting, OldestWaitingAt: given(f.OldestWaiting),
			CreatedTime: f.CreatedTime, SeenAt: f.Seen, EndsAt: f.Seen + leaderboard.Micros(leaderboard.FollowerTTL.Microseconds()),
		}
	}
}

// put answers PUT /v1/boards/{board}/followers/{name}: 201 when the follower is new. The database must have what comes after
// its cursor.
func (h *followerHandlers) put(c *call) error {
	name := c.pathValue("name")
	if !leaderboard.IsFollowerName(name) {
		return wire.Malformed(wire.InputError{Parameter: "name", Detail: "the name of a follower is [a-z0-9][a-z0-9._-]{0,63}"})
	}
	var body struct {
		After string `json:"after"`
	}
	if err := c.decode(&body, false, nil); err != nil {
		return err
	}
	f, board, err := h.at(c, body.After)
	if err != nil {
		return err
	}
	f.Name = name
	f, created, err := h.changes.store.PutFollower(c.ctx, board, f)
	if err != nil {
		return wire.WriteError(err)
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
		c.locate("/v1/boards/" + board.Name + "/followers/" + name)
	}
	return c.sendJSON(status, showFollower(board.Name)(&f))
}

// at returns a follower that goes on at a cursor, and its board.
func (h *followerHandlers) at(c *call, cursor string) (leaderboard.Follower, leaderboard.Board, error) {
	feed := changeFeed{changeHandlers: h.changes, call: c, form: wire.ChangeForm{Board: c.pathValue("board")}}
	board, err := h.board(c)
	if err != nil {
		return leaderboard.Follower{}, board, err
	}
	var ok bool
	if feed.place, ok = wire.AfterChange(board.Name, cursor); !ok {
		return leaderboard.Follower{}, board, wire.Malformed(wire.InputError{Pointer: "/after", Detail: "want a cursor of this board's changes"})
	}
	if err := feed.find(); err != nil {
		return leaderboard.Follower{}, board, err
	}
	if feed.place.At.Incarnation != 0 || feed.ref.HasRow() {
		if _, err := feed.read(1); err != nil {
			return leaderboard.Follower{}, board, err
		}
	}
	cal, err := board.Rules.Calendar()
	if err != nil {
		return leaderboard.Follower{}, board, err
	}
	span, err := cal.Named(feed.place.Window, feed.place.Period)
	if err != nil {
		return leaderboard.Follower{}, board, &leaderboard.PeriodError{Detail: "The board has no period " + feed.place.Period + " any more."}
	}
	return leaderboard.Follower{Window: feed.place.Window, StartsAt: span.StartsAt, Seq: feed.place.At.Seq, Cursor: cursor}, board, nil
}

// board returns the board in the path.
func (h *followerHandlers) board(c *call) (leaderboard.Board, error) {
	name, err := c.boardName()
	if err != nil {
		return leaderboard.Board{}, err
	}
	return h.changes.store.Board(c.ctx, name)
}

// get answers GET /v1/boards/{board}/followers/{name}.
func (h *followerHandlers) get(c *call) error {
	board, err := h.board(c)
	if err != nil {
		return err
	}
	f, err := h.changes.store.Follower(c.ctx, board.ID, c.pathValue("name"))
	if err != nil {
		return err
	}
	return c.sendJSON(http.StatusOK, showFollower(board.Name)(&f))
}

// list answers GET /v1/boards/{board}/followers, in the order of their names.
func (h *followerHandlers) list(c *call) error {
	limit := int(c.integer("limit", defaultList, 1, maxList))
	of := wire.List{Name: "followers " + c.pathValue("board")}
	after := afterCursor(c, of.After)
	if err := c.badInput(); err != nil {
		return err
	}
	board, err := h.board(c)
	if err != nil {
		return err
	}
	list, err := h.changes.store.Followers(c.ctx, board.ID)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(f leaderboard.Follower) bool { return f.Name <= after })
	return sendList(c, "followers", list, limit, showFollower(board.Name), func(last *leaderboard.Follower) string { return of.Cursor(last.Name) })
}

// remove answers DELETE /v1/boards/{board}/followers/{name}: nothing is kept for it any more.
func (h *followerHandlers) remove(c *call) error {
	board, err := h.board(c)
	if err != nil {
		return err
	}
	if err := h.changes.store.DeleteFollower(c.ctx, board, c.pathValue("name")); err != nil {
		return wire.WriteError(err)
	}
	c.sendNothing(http.StatusNoContent)
	return nil
}

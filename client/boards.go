package client

import (
	"context"
	"iter"
	"net/http"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// PutBoard creates a board or sets all of its rules; a zero rule gets its default, whatever it was before: PatchBoard
// changes some rules. created reports which. Needs scope admin.
func (c *Client) PutBoard(ctx context.Context, board string, rules leaderboard.Rules) (b Board, created bool, err error) {
	return c.board(ctx, Request{Method: http.MethodPut, Path: Path("boards", board), Body: rules.WithDefaults()})
}

// PatchBoard changes some rules of a board: patch is encoded as a JSON merge patch (RFC 7396), such as map[string]any{"title":
// "New", "limits": map[string]any{"max_score": nil}}, where nil gives a rule its default. With the ETag of a board, the rules
// change only if they are unchanged since; otherwise the error is a *Problem with the code precondition-failed. With "", the
// rules change in any case. Errors: leaderboard.ErrBoardNotFound. Needs scope admin.
func (c *Client) PatchBoard(ctx context.Context, board string, patch any, etag string) (Board, error) {
	r := Request{Method: http.MethodPatch, Path: Path("boards", board), Body: patch}
	if etag != "" {
		r.Header = http.Header{"If-Match": {etag}}
	}
	b, _, err := c.board(ctx, r)
	return b, err
}

// Board returns a board. Errors: leaderboard.ErrBoardNotFound.
func (c *Client) Board(ctx context.Context, board string) (Board, error) {
	b, _, err := c.board(ctx, Request{Method: http.MethodGet, Path: Path("boards", board)})
	return b, err
}

// board sends a request whose answer is a board.
func (c *Client) board(ctx context.Context, r Request) (b Board, created bool, err error) {
	answer, err := c.Do(ctx, r)
	if err != nil {
		return b, false, err
	}
	err = answer.Decode(&b)
	b.ETag = answer.Header.Get("ETag")
	return b, answer.Status == http.StatusCreated, err
}

// Boards lists the boards that have all these labels (nil: all boards), by name. It lists private boards only with a
// key.
func (c *Client) Boards(ctx context.Context, labels leaderboard.Labels) iter.Seq2[Board, error] {
	return Items[Board](ctx, c, Path("boards"), api.Values(api.BoardsListQuery{Labels: labels}), "boards")
}

// DeleteBoard deletes a board with all its periods. Needs scope admin.
func (c *Client) DeleteBoard(ctx context.Context, board string) error {
	return c.drop(ctx, Request{Method: http.MethodDelete, Path: Path("boards", board)})
}

// Periods lists the periods of a board, newest first; window "" is all of them.
func (c *Client) Periods(ctx context.Context, board string, window leaderboard.Window) iter.Seq2[Period, error] {
	return Items[Period](ctx, c, Path("boards", board, "periods"), api.Values(api.PeriodsQuery{Window: window}), "periods")
}

// Sources returns the state of a derived board. Errors: leaderboard.ErrNotDerived.
func (c *Client) Sources(ctx context.Context, board string) (Derivation, error) {
	return get[Derivation](ctx, c, Path("boards", board, "sources"), nil)
}

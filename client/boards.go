package client

import (
	"context"
	"iter"
	"net/http"
	"time"

	"leaderboard"
)

// Board is a board with all its rules.
type Board struct {
	Name string `json:"name"`
	leaderboard.Rules
	CreatedTime time.Time `json:"created_time"`
	UpdatedTime time.Time `json:"updated_time"`
}

// PutBoard creates a board or gives it these rules; rules left at their zero value have their defaults. created says
// which. Needs scope admin.
func (c *Client) PutBoard(ctx context.Context, board string, rules leaderboard.Rules) (b Board, created bool, err error) {
	answer, err := c.Do(ctx, Request{Method: http.MethodPut, Path: Path("boards", board), Body: rules.WithDefaults()})
	if err != nil {
		return b, false, err
	}
	return b, answer.Status == http.StatusCreated, answer.Decode(&b)
}

// Board returns a board; leaderboard.ErrBoardNotFound.
func (c *Client) Board(ctx context.Context, board string) (Board, error) {
	return get[Board](ctx, c, Path("boards", board), nil)
}

// Boards lists the boards that have all these labels (nil: all boards), by name. Private boards are listed to holders
// of a key.
func (c *Client) Boards(ctx context.Context, labels leaderboard.Labels) iter.Seq2[Board, error] {
	return Items[Board](ctx, c, Path("boards"), newParams().text("labels", labels.String()).Values, "boards")
}

// DeleteBoard deletes a board with all its periods. Needs scope admin.
func (c *Client) DeleteBoard(ctx context.Context, board string) error {
	return c.drop(ctx, Request{Method: http.MethodDelete, Path: Path("boards", board)})
}

// Period is one period of a board.
type Period struct {
	Window   leaderboard.Window      `json:"window"`
	Period   string                  `json:"period"`    // the name to ask for it with
	StartsAt *time.Time              `json:"starts_at"` // nil of all_time
	EndsAt   *time.Time              `json:"ends_at"`   // exclusive; nil when it has no end
	State    leaderboard.PeriodState `json:"state"`
	Seq      int64                   `json:"seq"`
	Total    int64                   `json:"total"` // entries
	AsOf     time.Time               `json:"as_of"`
}

// Periods lists the periods of a board, newest first; window "" is all of them.
func (c *Client) Periods(ctx context.Context, board string, window leaderboard.Window) iter.Seq2[Period, error] {
	return Items[Period](ctx, c, Path("boards", board, "periods"), newParams().text("window", string(window)).Values, "periods")
}

// Derivation says what a derived board reflects of its sources.
type Derivation struct {
	Board   string                      `json:"board"`
	Seq     int64                       `json:"seq"`
	AsOf    time.Time                   `json:"as_of"`
	State   leaderboard.DerivationState `json:"state"`
	Lag     int64                       `json:"lag"` // changes of the sources that are not reflected yet
	Sources []Source                    `json:"sources"`
}

// Source is a source of a derived board.
type Source struct {
	Board   string             `json:"board"`
	Window  leaderboard.Window `json:"window"`
	Period  string             `json:"period"`
	Weight  int64              `json:"weight"`
	Seq     int64              `json:"seq"`      // the state that the entries reflect
	LastSeq int64              `json:"last_seq"` // the state that the source is in

	Condition leaderboard.SourceCondition `json:"state"` // why it has no entries to count, if it has none
}

// Sources returns what a derived board reflects; leaderboard.ErrNotDerived.
func (c *Client) Sources(ctx context.Context, board string) (Derivation, error) {
	return get[Derivation](ctx, c, Path("boards", board, "sources"), nil)
}

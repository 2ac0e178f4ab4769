package store

import (
	"context"

	"github.com/jmoiron/sqlx"

	"leaderboard/leaderboard"
)

// Steps repeats a statement, whose last argument is the number of rows that it changes, until no rows are left.
type Steps func(ctx context.Context, query string, args ...any) error

// Forget deletes the rows of a member, or gives the member another name in them, alias, and removes what people wrote about the
// member. A member may have very many rows, so they go in steps. It may be called again, also by several processes at once.
type Forget func(ctx context.Context, member, alias []byte, steps Steps) error

// BoardChange writes a feature's rows for a board that is created or changed, in the same transaction. old are the rules
// before. The row of the board is locked. It may refuse the rules by an error.
type BoardChange func(ctx context.Context, tx *sqlx.Tx, b *leaderboard.Board, old *leaderboard.Rules) error

// Data is one list of a member's stored data. Each passes every record to a function. It has the errors of MemberData.
type Data struct {
	List leaderboard.DataList
	Each func(ctx context.Context, member string, tell func(record any) error) error
}

// DataOf returns the Data of a list.
func DataOf(list string, each func(ctx context.Context, member string, tell func(record any) error) error) Data {
	return Data{leaderboard.DataList{Name: list}, each}
}

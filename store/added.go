package store

import (
	"context"

	"github.com/jmoiron/sqlx"

	"leaderboard/leaderboard"
)

// Steps repeats a statement, whose last argument is how many rows it changes, until no more are left.
type Steps func(ctx context.Context, query string, args ...any) error

// Forget deletes the rows of a member, or gives the member another name in them, alias, and removes what people wrote about the
// member. A member may have very many rows, so they go in steps. It may be called again, also by several processes at once.
type Forget func(ctx context.Context, member, alias []byte, steps Steps) error

// BoardChange writes what goes with the rules of a board that is created or changed, in the transaction of that. old are the rules before.
// The row of the board is locked.
type BoardChange func(ctx context.Context, tx *sqlx.Tx, b *leaderboard.Board, old *leaderboard.Rules) error

// Data is a list of what is stored of a member. Each calls tell with every record. Its errors are those of MemberData.
type Data struct {
	List leaderboard.DataList
	Each func(ctx context.Context, member string, tell func(record any) error) error
}

// DataOf returns the Data of a list.
func DataOf(list string, each func(ctx context.Context, member string, tell func(record any) error) error) Data {
	return Data{leaderboard.DataList{Name: list}, each}
}

package store_test

import (
	"fmt"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// TestMovesCostNoStatement: a submit that returns its moves sends as many packets as any other submit: the old entries are read
// anyway.
func TestMovesCostNoStatement(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		p, through := dbtest.NewProxy(t, dsn)
		s := open(t, through, nil)
		dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		_, _ = s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)) // which learns of the board
		packets := func(score int64, moves bool) int {
			return len(p.Committed(t, func() error {
				r := dbtest.One("b", "", "m", score)
				r.Moves = moves
				receipt, err := s.Writer.Submit(t.Context(), r)
				if err == nil && (receipt.First != nil) != moves {
					err = fmt.Errorf("%+v", receipt)
				}
				return err
			}))
		}
		if without, with := packets(2, false), packets(3, true); without != with || without < 2 {
			t.Errorf("%d packets without moves, %d with them", without, with)
		}
	})
}

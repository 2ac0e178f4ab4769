package store_test

import (
	"strings"
	"sync"
	"testing"

	"leaderboard"
)

// TestMovesCostNoStatement: a submit whose moves are told sends as many packets as one without them: what the entries were
// before is read anyway.
func TestMovesCostNoStatement(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		p, through := newProxy(t, dsn)
		s := open(t, through, nil)
		makeBoard(t, s, "b", leaderboard.Rules{})
		_, _ = s.Submit(t.Context(), one("b", "", "m", 1)) // which learns of the board
		packets := func(score int64, moves bool) (n int) {
			var mu sync.Mutex
			p.judgeBy(func(text string) fault {
				mu.Lock()
				defer mu.Unlock()
				if !strings.Contains(text, "SELECT @@") && !strings.Contains(text, "SET ") { // of a connection that is dialled
					n++
				}
				return faultPass
			})
			defer p.heal()
			r := one("b", "", "m", score)
			r.Moves = moves
			receipt, err := s.Submit(t.Context(), r)
			if err != nil || (receipt.First != nil) != moves {
				t.Fatalf("%+v, %v", receipt, err)
			}
			mu.Lock()
			defer mu.Unlock()
			return n
		}
		if without, with := packets(2, false), packets(3, true); without != with || without < 2 {
			t.Errorf("%d packets without moves, %d with them", without, with)
		}
	})
}

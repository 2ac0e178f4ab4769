package cache

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard"
)

// label makes a board with the label type.
func (s *shelf) label(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.boards == nil {
		s.boards = map[string]leaderboard.Board{}
	}
	s.boards[name] = leaderboard.Board{Name: name, Rules: leaderboard.Rules{Labels: leaderboard.Labels{"type": value}}}
}

func TestCatalogLabels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.label("moba", "game")
		s.label("chess", "sport")
		c := NewCatalog(s)
		check := func(reads int, want ...string) {
			t.Helper()
			got, err := c.Labelled(t.Context(), leaderboard.Labels{"type": "game"})
			if err != nil || !slices.Equal(got, want) || s.reads != reads {
				t.Errorf("%q, %v in %d reads; want %q in %d", got, err, s.reads, want, reads)
			}
		}
		check(1, "moba")
		s.label("card", "game")
		check(1, "moba") // as it was less than a second ago
		c.Forget("card")
		check(2, "card", "moba") // this process has changed it
		s.label("rpg", "game")
		time.Sleep(3 * time.Second)
		check(3, "card", "moba", "rpg")
		for i := range maxSelected {
			s.label(fmt.Sprintf("b%d", i), "game")
		}
		c.Forget("b0")
		var broken *leaderboard.RuleError
		if _, err := c.Labelled(t.Context(), leaderboard.Labels{"type": "game"}); !errors.As(err, &broken) || broken.Code != leaderboard.CodeTooManyBoards {
			t.Errorf("more than are selected: %v", err)
		}
	})
}

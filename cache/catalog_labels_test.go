package cache

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
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
		c := NewCatalog(s, CatalogOptions{})
		check := func(reads int, want ...string) {
			t.Helper()
			got, err := c.Labelled(t.Context(), leaderboard.Labels{"type": "game"})
			if err != nil || !slices.Equal(got, want) || s.reads != reads {
				t.Errorf("%q, %v in %d reads; want %q in %d", got, err, s.reads, want, reads)
			}
		}
		check(1, "moba")
		s.label("card", "game")
		check(1, "moba") // known for less than a second
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

// TestCommitsKeepSelections: only a commit that shows a board with other labels than it is known with makes this process
// select again.
func TestCommitsKeepSelections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.label("moba", "game")
		s.label("chess", "sport")
		c := NewCatalog(s, CatalogOptions{})
		commit := func(board string, id, version int64, value string) {
			rules := &leaderboard.Rules{Labels: leaderboard.Labels{"type": value}}
			c.Committed(leaderboard.PeriodRef{Board: board, BoardID: id, Version: version, Rules: rules})
		}
		selects := func(want int, why string) {
			t.Helper()
			before := s.reads
			if _, err := c.Labelled(t.Context(), leaderboard.Labels{"type": "game"}); err != nil || s.reads-before != want {
				t.Errorf("%s: %d reads, %v; want %d", why, s.reads-before, err, want)
			}
		}
		selects(1, "at first")
		for range 100 {
			commit("moba", 0, 0, "game")
			commit("chess", 0, 1, "sport")
		}
		selects(0, "commits to boards that were never read here")
		read := func() {
			t.Helper()
			for _, name := range []string{"moba", "chess"} {
				if _, err := c.Board(t.Context(), name); err != nil {
					t.Fatal(err)
				}
			}
		}
		read()
		commit("moba", 0, 0, "game")
		commit("chess", 0, 1, "sport")
		selects(0, "the same labels")
		before := s.reads
		if read(); s.reads != before+1 {
			t.Errorf("%d of the boards were looked up again, want the one with other rules", s.reads-before)
		}
		commit("chess", 0, 1, "game")
		selects(1, "other labels")
		commit("moba", 5, 0, "game")
		selects(1, "another board of that name")
	})
}

package main

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"leaderboard/internal/testenv"
)

// TestPutMany: every board is there once, and a derived one beside each thousandth.
func TestPutMany(t *testing.T) {
	b, err := newBoard(t.Context(), testenv.MySQL(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.close() })
	const from, to = 995, 1005
	if err := b.putMany(t.Context(), from, to, newProgress(&strings.Builder{}, "", to-from)); err != nil {
		t.Fatal(err)
	}
	var many, derived int
	if err := b.db.QueryRowContext(t.Context(), "SELECT SUM(name LIKE 'many%'), SUM(name LIKE 'sum%') FROM boards").Scan(&many, &derived); err != nil || many != to-from || derived != 1 {
		t.Errorf("%d boards and %d derived ones, %v", many, derived, err)
	}
}

// TestForEach asks about each of the boards once, and says what failed.
func TestForEach(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	broken := errors.New("broken")
	times, took, err := forEach([]int{3, 1, 2}, func(name string) error {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, name)
		if name == "many1" {
			return broken
		}
		return nil
	})
	slices.Sort(asked)
	if !errors.Is(err, broken) || len(times) != 3 || took <= 0 || !slices.Equal(asked, []string{"many1", "many2", "many3"}) {
		t.Errorf("asked %q in %v, %v", asked, times, err)
	}
}

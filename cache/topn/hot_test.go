package topn

import (
	"slices"
	"testing"

	"leaderboard/leaderboard"
)

// TestHot: the saved periods of a process are found by the next; periods that nobody saved, or that another program saved,
// are not.
func TestHot(t *testing.T) {
	t.Parallel()
	l, client := newListings(t)
	if got, err := l.Hot(t.Context()); got != nil || err != nil {
		t.Errorf("before anything was saved: %v, %v", got, err)
	}
	for _, want := range [][]leaderboard.HotPeriod{{{Board: "a", Window: leaderboard.WindowDay, Reads: 1 << 40}, {Board: "ü"}}, {{Board: "b", Window: leaderboard.WindowAllTime}}} {
		if err := l.SaveHot(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if got, err := l.Hot(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("saved %v, found %v, %v", want, got, err)
		}
	}
	if left := client.TTL(t.Context(), "lb:hot").Val(); left <= 0 || left > hotTTL {
		t.Errorf("it is kept for %s", left)
	}
	client.Set(t.Context(), "lb:hot", "nonsense", 0)
	if got, err := l.Hot(t.Context()); err == nil {
		t.Errorf("nonsense was read as %v", got)
	}
}

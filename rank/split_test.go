package rank

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"leaderboard/leaderboard"
)

// crowded returns a world of n entries that are all in one bucket of the index.
func crowded(t *testing.T, n, target int) (*world, *Index) {
	t.Helper()
	w := newWorld(Codec{})
	x, err := w.build(target)
	if err != nil {
		t.Fatal(err)
	}
	next := map[string]*leaderboard.Entry{}
	for i := range n {
		e := leaderboard.Entry{Member: fmt.Sprintf("m%04d", i), Score: int64(i)}
		next[e.Member] = &e
	}
	if err := x.Fold(w.codec, w.commit(next)); err != nil {
		t.Fatal(err)
	}
	return w, x
}

func TestOvergrownFromTwiceTheTarget(t *testing.T) {
	t.Parallel()
	if _, x := crowded(t, 20, 10); len(x.Overgrown()) != 0 {
		t.Errorf("a bucket of twice the target is overgrown")
	}
	w, x := crowded(t, 21, 10)
	if got := x.Overgrown(); len(got) != 1 || got[0].Count != 21 {
		t.Errorf("overgrown: %+v, want the one bucket", got)
	}
	if err := x.Split(w.at.Seq, w.cuts(x)); err != nil {
		t.Fatal(err)
	}
	if x.Len() != 3 || len(x.Overgrown()) != 0 {
		t.Errorf("%d buckets, overgrown %+v, want 3 and none", x.Len(), x.Overgrown())
	}
}

func TestSplitRefuses(t *testing.T) {
	t.Parallel()
	w, x := crowded(t, 100, 10)
	k := w.keys()
	if err := x.Split(w.at.Seq, []Cut{{At: k[50], Left: 50}}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		seq  int64
		cuts []Cut
		want error
	}{
		{"counted before", w.at.Seq - 1, []Cut{{At: k[10], Left: 10}}, ErrGap},
		{"counted after", w.at.Seq + 1, []Cut{{At: k[10], Left: 10}}, ErrGap},
		{"at the start of the first bucket", w.at.Seq, []Cut{{At: "", Left: 0}}, ErrCut},
		{"at a boundary", w.at.Seq, []Cut{{At: k[50], Left: 0}}, ErrCut},
		{"twice at one place", w.at.Seq, []Cut{{At: k[10], Left: 10}, {At: k[10], Left: 0}}, ErrCut},
		{"descending in a bucket", w.at.Seq, []Cut{{At: k[20], Left: 20}, {At: k[10], Left: 10}}, ErrCut},
		{"descending over buckets", w.at.Seq, []Cut{{At: k[60], Left: 10}, {At: k[10], Left: 10}}, ErrCut},
		{"negative", w.at.Seq, []Cut{{At: k[10], Left: -1}}, ErrCut},
		{"longer than a key", w.at.Seq, []Cut{{At: k[10] + Key(make([]byte, maxBound)), Left: 11}}, ErrCut},
	}
	for _, tt := range tests {
		if err := x.Split(tt.seq, tt.cuts); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if err := check(x, w, k); err != nil || x.Len() != 2 {
			t.Fatalf("%s: %d buckets, %v", tt.name, x.Len(), err)
		}
	}
	// More entries in a bucket than the index knows of: then it is wrong, not the caller.
	if err := x.Split(w.at.Seq, []Cut{{At: k[20], Left: 20}, {At: k[30], Left: 31}}); !errors.Is(err, ErrDamaged) {
		t.Errorf("more entries than counted: %v, want ErrDamaged", err)
	}
	if err := x.Split(w.at.Seq, nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("after that: %v, want ErrDamaged", err)
	}
}

func TestCompactWaitsUntilItPays(t *testing.T) {
	t.Parallel()
	w, x := crowded(t, 1000, 10)
	if err := x.Split(w.at.Seq, w.cuts(x)); err != nil {
		t.Fatal(err)
	}
	full := x.Len()
	for i := range 1000 {
		if i%50 == 0 {
			continue
		}
		if err := x.Fold(w.codec, w.commit(map[string]*leaderboard.Entry{fmt.Sprintf("m%04d", i): nil})); err != nil {
			t.Fatal(err)
		}
		if saved := x.Compact(); saved > 0 && saved < x.Len()/4 {
			t.Fatalf("after %d removals a pass over %d buckets saved %d", i, x.Len(), saved)
		}
	}
	if err := check(x, w, w.probes()); err != nil {
		t.Fatal(err)
	}
	if full < 100 || x.Len() > 16+3*2 {
		t.Errorf("%d buckets for 1000 entries, %d for 20", full, x.Len())
	}
	var counts []int64
	for s := range x.Spans() {
		counts = append(counts, s.Count)
	}
	if slices.Max(counts) > 10 {
		t.Errorf("merged beyond the target: %v", counts)
	}
}

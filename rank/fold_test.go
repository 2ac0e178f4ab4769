package rank

import (
	"errors"
	"testing"

	"leaderboard/leaderboard"
)

// folded returns a world with three entries and its index at seq 3.
func folded(t *testing.T) (*world, *Index) {
	t.Helper()
	w := newWorld(Codec{})
	for i, m := range []string{"a", "b", "c"} {
		w.put(leaderboard.Entry{Member: m, Score: int64(10 * i)})
	}
	x, err := w.build(1)
	if err != nil {
		t.Fatal(err)
	}
	return w, x
}

func TestFoldRefusesWhatDoesNotFollow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(c *leaderboard.Commit)
		want   error
	}{
		{"gap", func(c *leaderboard.Commit) { c.FirstSeq++; c.LastSeq++ }, ErrGap},
		{"overlap", func(c *leaderboard.Commit) { c.FirstSeq-- }, ErrGap},
		{"starts from another state", func(c *leaderboard.Commit) { c.PrevCommittedAt++ }, ErrDiverged},
		{"the same seq at another time", func(c *leaderboard.Commit) { c.FirstSeq--; c.LastSeq-- }, ErrDiverged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, x := folded(t)
			good := w.put(leaderboard.Entry{Member: "d", Score: 15})
			bad := *good
			tt.change(&bad)
			if err := x.Fold(w.codec, &bad); !errors.Is(err, tt.want) {
				t.Fatalf("folding: %v, want %v", err, tt.want)
			}
			if err := x.Fold(w.codec, good); err != nil {
				t.Fatalf("folding the right commit after the wrong one: %v", err)
			}
			if err := check(x, w, w.probes()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFoldNoticesDamage(t *testing.T) {
	t.Parallel()
	ghost := leaderboard.Entry{Member: "ghost", Score: 15}
	tests := []struct {
		name   string
		change func(c *leaderboard.Commit)
	}{
		{"another number of entries", func(c *leaderboard.Commit) { c.EntryCount++ }},
		{"removals of what was never there", func(c *leaderboard.Commit) {
			c.EntryCount -= 3 // the total is right, one bucket is not
			c.Changes = append(c.Changes, leaderboard.Change{Old: &ghost}, leaderboard.Change{Old: &ghost}, leaderboard.Change{Old: &ghost})
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, x := folded(t)
			c := *w.put(leaderboard.Entry{Member: "d", Score: 15})
			tt.change(&c)
			if err := x.Fold(w.codec, &c); !errors.Is(err, ErrDamaged) {
				t.Fatalf("folding: %v, want ErrDamaged", err)
			}
			// It stays damaged after any further commit.
			if err := x.Fold(w.codec, &w.log[3]); !errors.Is(err, ErrDamaged) {
				t.Errorf("folding into a damaged index: %v", err)
			}
			if err := x.Split(x.At().Seq, nil); !errors.Is(err, ErrDamaged) {
				t.Errorf("splitting a damaged index: %v", err)
			}
			if _, err := x.AppendBinary(nil); !errors.Is(err, ErrDamaged) {
				t.Errorf("saving a damaged index: %v", err)
			}
			if n := x.Compact(); n != 0 {
				t.Errorf("compacting a damaged index merged %d buckets", n)
			}
		})
	}
}

// TestFindAllocatesNothing: every read of a rank finds a bucket.
func TestFindAllocatesNothing(t *testing.T) {
	w, x := folded(t)
	keys := w.keys()
	var n int64
	if got := testing.AllocsPerRun(100, func() { n += x.Find(keys[1]).Before }); got > 0 {
		t.Errorf("finding costs %v allocations, want none", got)
	}
}

package rank

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// TestBuilderWhileThePeriodChanges: buckets are counted while the period changes, commits are folded at any time, the
// process dies and resumes: the result is the index of the state that was reached.
func TestBuilderWhileThePeriodChanges(t *testing.T) {
	t.Parallel()
	for codec := range codecs() {
		rapid.Check(t, func(t *rapid.T) { runBuild(t, newWorld(codec)) })
	}
}

func runBuild(t *rapid.T, w *world) {
	for range rapid.IntRange(0, 8).Draw(t, "commits before the build") {
		w.commit(drawChanges(t))
	}
	target := rapid.IntRange(1, 4).Draw(t, "target")
	b := NewBuilder(target)
	foldSome := func(n int) {
		missing := w.since(b.At().Seq)
		for i := range missing[:min(n, len(missing))] {
			if err := b.Fold(w.codec, &missing[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for unfinished(b) {
		// One snapshot may cover several buckets, and the period changes before they are appended.
		state, keys := w.at, w.keys()
		for range rapid.IntRange(1, 3).Draw(t, "buckets of the slice") {
			from, more := b.Next()
			if !more {
				break
			}
			to, n := bucketOf(keys, from, target)
			if err := b.Append(state, to, n); err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "commit") {
				w.commit(drawChanges(t))
			}
		}
		foldSome(rapid.IntRange(0, 4).Draw(t, "fold"))
		if rapid.Bool().Draw(t, "restart") {
			b = restart(t, b)
		}
	}
	foldSome(len(w.log))
	x, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if x.At().Seq < w.at.Seq {
		t.Fatalf("index is at %d, the world at %d", x.At().Seq, w.at.Seq)
	}
	if err := check(x, w, w.probes()); err != nil {
		t.Fatal(err)
	}
}

func unfinished(b *Builder) bool { _, more := b.Next(); return more }

// restart saves the build and resumes it; it continues the present build when it cannot be saved yet.
func restart(t *rapid.T, b *Builder) *Builder {
	data, err := b.AppendBinary(nil)
	if errors.Is(err, ErrUnfinished) && b.at.Seq < b.newest.Seq {
		return b
	}
	if err != nil {
		t.Fatal(err)
	}
	resumed, err := Resume(data)
	if err != nil {
		t.Fatal(err)
	}
	next, more := b.Next()
	if n, m := resumed.Next(); n != next || m != more || resumed.At() != b.At() || resumed.Counted() != b.Counted() || resumed.Target() != b.Target() {
		t.Fatalf("resumed %+v, want %+v", resumed, b)
	}
	return resumed
}

func TestBuilderRefuses(t *testing.T) {
	t.Parallel()
	at := func(seq int64) State {
		return State{Revision: leaderboard.Revision{Seq: seq, AsOf: leaderboard.Micros(seq)}, Total: 3}
	}
	commit := func(last int64) *leaderboard.Commit {
		return &leaderboard.Commit{FirstSeq: last, LastSeq: last, PrevCommittedAt: leaderboard.Micros(last - 1), CommittedAt: leaderboard.Micros(last), EntryCount: 3}
	}
	fork := commit(9)
	fork.CommittedAt++
	ghost := commit(8)
	for range 2 {
		ghost.Changes = append(ghost.Changes, leaderboard.Change{Old: &leaderboard.Entry{Member: "a", Score: 1 << 62}})
	}
	// Each test starts with one bucket up to "k" of one entry, counted at seq 7.
	tests := []struct {
		name string
		do   func(b *Builder) error
		want error
	}{
		{"to is not behind next", func(b *Builder) error { return b.Append(at(7), "k", 1) }, ErrCut},
		{"negative count", func(b *Builder) error { return b.Append(at(7), "l", -1) }, ErrCut},
		{"to is longer than a key", func(b *Builder) error { return b.Append(at(7), "l"+Key(make([]byte, maxBound)), 1) }, ErrCut},
		{"after the last", func(b *Builder) error { return errors.Join(b.Append(at(7), "", 1), b.Append(at(7), "m", 1)) }, ErrCut},
		{"older than what is folded", func(b *Builder) error { return b.Append(at(6), "l", 1) }, ErrGap},
		{"another incarnation", func(b *Builder) error {
			return b.Append(State{Revision: leaderboard.Revision{Seq: 7, AsOf: 8}}, "l", 1)
		}, ErrDiverged},
		{"another incarnation than the newest", func(b *Builder) error {
			return errors.Join(b.Append(at(9), "l", 1), b.Append(State{Revision: leaderboard.Revision{Seq: 9, AsOf: 10}}, "m", 1))
		}, ErrDiverged},
		{"fold before the first", func(*Builder) error { return NewBuilder(1).Fold(Codec{}, commit(1)) }, ErrUnfinished},
		{"fold with a gap", func(b *Builder) error { return b.Fold(Codec{}, commit(9)) }, ErrGap},
		{"the log leads past the newest bucket on another way", func(b *Builder) error {
			return errors.Join(b.Append(at(9), "", 2), b.Fold(Codec{}, commit(8)), b.Fold(Codec{}, fork))
		}, ErrDiverged},
		{"entries that were never counted", func(b *Builder) error { return b.Fold(Codec{}, ghost) }, ErrDamaged},
		{"fold after damage", func(b *Builder) error {
			return errors.Join(noError(b.Fold(Codec{}, ghost)), b.Fold(Codec{}, commit(8)))
		}, ErrDamaged},
		{"append after damage", func(b *Builder) error { return errors.Join(noError(b.Fold(Codec{}, ghost)), b.Append(at(8), "", 2)) }, ErrDamaged},
		{"save after damage", func(b *Builder) error { return errors.Join(noError(b.Fold(Codec{}, ghost)), save(b)) }, ErrDamaged},
		{"finish without the last", finish, ErrUnfinished},
		{"finish before the newest", func(b *Builder) error { return errors.Join(b.Append(at(8), "", 2), finish(b)) }, ErrUnfinished},
		{"finish with a wrong total", func(b *Builder) error { return errors.Join(b.Append(at(7), "", 1), finish(b)) }, ErrDamaged},
		{"finish twice", func(b *Builder) error { return errors.Join(b.Append(at(7), "", 2), finish(b), finish(b)) }, ErrUnfinished},
		{"save nothing", func(*Builder) error { return save(NewBuilder(1)) }, ErrUnfinished},
		{"save before the newest", func(b *Builder) error { return errors.Join(b.Append(at(8), "l", 1), save(b)) }, ErrUnfinished},
	}
	for _, tt := range tests {
		b := NewBuilder(1)
		if err := b.Append(at(7), "k", 1); err != nil {
			t.Fatal(err)
		}
		if err := tt.do(b); !errors.Is(err, tt.want) || len(unjoin(err)) != 1 {
			t.Errorf("%s: %v, want one error, %v", tt.name, err, tt.want)
		}
	}
}

func finish(b *Builder) error { _, err := b.Finish(); return err }

func save(b *Builder) error { _, err := b.AppendBinary(nil); return err }

// noError is for a step whose error another test checks.
func noError(error) error { return nil }

// unjoin returns the errors of the steps that failed.
func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

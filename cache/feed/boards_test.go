package feed

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// boardsAsked returns how often a statement asked about a board.
func (d *database) boardsAsked() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, ids := range d.asked {
		for _, id := range ids {
			if _, ok := leaderboard.BoardOf(id); ok {
				n++
			}
		}
	}
	return n
}

// TestBoardsAreAskedAboutAfterAChange: the boards that are read cost nothing while the table of boards is unchanged; after a
// change of it, the same round shows them all.
func TestBoardsAreAskedAboutAfterAChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{Chunk: 2})
		const boards = 5
		table, ids, at := int64(1), make([]int64, boards), make([]leaderboard.Revision, boards)
		for i := range ids {
			ids[i] = leaderboard.BoardPeriod(int64(i + 1))
			at[i] = d.put(ids[i], leaderboard.Revision{Seq: 1, AsOf: 7})
		}
		change := func() { table++; d.put(leaderboard.BoardsPeriod, leaderboard.Revision{Seq: table}) }
		change()
		read := func(want ...Verdict) {
			t.Helper()
			got := make([]Verdict, boards)
			for i, id := range ids {
				got[i] = w.Check(t.Context(), id, at[i])
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
		fresh := slices.Repeat([]Verdict{VerdictFresh}, boards)
		for range 200 {
			read(fresh...)
			time.Sleep(10 * time.Millisecond)
		}
		if n := d.boardsAsked(); n != boards {
			t.Errorf("asked about boards %d times in two seconds without a change, want %d", n, boards)
		}
		newer := d.put(ids[1], leaderboard.Revision{Seq: 2, AsOf: 8})
		d.mu.Lock()
		delete(d.revisions, ids[2])
		d.mu.Unlock()
		change()
		time.Sleep(260 * time.Millisecond) // an interval, and the age that is fresh
		want := slices.Clone(fresh)
		want[1], want[2] = VerdictOld, VerdictDiverged
		read(want...)
		if n := d.boardsAsked(); n != 2*boards {
			t.Errorf("asked about boards %d times, want once more each", n-boards)
		}
		at[1], want[1] = newer, VerdictFresh
		read(want...)
		d.answer(time.Millisecond, leaderboard.ErrUnavailable)
		time.Sleep(500 * time.Millisecond)
		read(slices.Repeat([]Verdict{VerdictUnknown}, boards)...)
		if n := d.boardsAsked(); n != 2*boards {
			t.Errorf("asked about boards %d times while the database is away", n-2*boards)
		}
	})
}

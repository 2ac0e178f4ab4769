package store_test

import (
	"errors"
	"fmt"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestCommitsSinceAfterPruning: commits that are missing in the log of one period, or damaged, are reported for that
// period, and more periods than fit into one statement are read.
func TestCommitsSinceAfterPruning(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		from := map[string]leaderboard.PeriodRevision{}
		for _, name := range []string{"whole", "pruned", "empty", "gap", "damaged"} {
			ref := dbtest.MakeBoard(t, s, name, leaderboard.Rules{Policy: leaderboard.PolicyLatest})
			for score := range int64(6) {
				if score == 2 {
					from[name] = at(t, s, ref)
				}
				if _, err := s.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: name, Entries: []leaderboard.Submission{{Member: "m", Score: score}}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		dbtest.MustExec(t, db, "DELETE FROM changes WHERE period_id = ? AND last_seq <= 3", from["pruned"].PeriodID)
		dbtest.MustExec(t, db, "DELETE FROM changes WHERE period_id = ?", from["empty"].PeriodID)
		dbtest.MustExec(t, db, "DELETE FROM changes WHERE period_id = ? AND last_seq = 4", from["gap"].PeriodID)
		dbtest.MustExec(t, db, "UPDATE changes SET payload = 'x' WHERE period_id = ? AND last_seq = 4", from["damaged"].PeriodID)
		places := []leaderboard.PeriodRevision{from["whole"], from["pruned"], from["empty"], from["gap"], from["damaged"]}
		for id := range int64(600) {
			places = append(places, leaderboard.PeriodRevision{PeriodID: 1<<40 + id})
		}
		parts, err := s.Entries.CommitsSince(t.Context(), places, 100)
		if err != nil || len(parts) != len(places) {
			t.Fatalf("%d parts of %d, %v", len(parts), len(places), err)
		}
		for name, want := range map[string]string{"whole": "3 4 5 6 ", "pruned": "pruned", "empty": "pruned", "gap": "3 ", "damaged": "damaged"} {
			if got := outline(parts[from[name].PeriodID]); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		if err := parts[1<<40+599].Err; !errors.Is(err, leaderboard.ErrPeriodNotFound) {
			t.Errorf("no such period: %v", err)
		}
	})
}

// at returns the revision of a period.
func at(t *testing.T, s *store.Store, ref leaderboard.PeriodRef) leaderboard.PeriodRevision {
	t.Helper()
	p, err := s.Boards.Period(t.Context(), ref.ID)
	if err != nil {
		t.Fatal(err)
	}
	return leaderboard.PeriodRevision{PeriodID: ref.ID, Revision: p.Revision()}
}

// outline names the seqs of the commits of a part, or the reason for their absence.
func outline(part leaderboard.LogPart) (text string) {
	switch {
	case errors.Is(part.Err, leaderboard.ErrLogPruned):
		return "pruned"
	case errors.Is(part.Err, rank.ErrDiverged):
		return "diverged"
	case part.Err != nil:
		return "damaged"
	}
	for _, c := range part.Commits {
		text += fmt.Sprint(c.LastSeq, " ")
	}
	return text
}

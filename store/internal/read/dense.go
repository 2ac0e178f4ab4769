package read

import (
	"context"
	"fmt"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// DenseDepth is how many entries there may be ahead of one whose dense rank is asked for. To be numbered densely, equal
// scores must be looked at one by one: no index of counts helps with that.
const DenseDepth = 100_000

// dense counts the different (score, tiebreak) ahead of each group of tied entries; ahead is the number of entries
// ahead of the last group. Numbers of this kind cannot be rebased: it takes a transaction.
func (v *view) dense(ctx context.Context, groups []rank.Key, ahead int64) ([]int64, error) {
	if ahead > DenseDepth {
		return nil, &leaderboard.RuleError{
			Code:   leaderboard.CodeModeNotAvailable,
			Detail: fmt.Sprintf("dense ranks are known down to %d entries, this is behind %d; strict and tied ranks are known everywhere", DenseDepth, ahead),
		}
	}
	if !v.snapshot {
		return nil, errNeedsSnapshot
	}
	out := make([]int64, 0, len(groups))
	last, sum := entries.Beginning(), int64(0)
	for len(out) < len(groups) {
		t := (&db.Text{}).Str("SELECT ")
		dest := make([]any, min(countsPerQuery, len(groups)-len(out)))
		counts := make([]int64, len(dest))
		for i := range dest {
			here, err := entries.BeforeKey(groups[len(out)+i])
			if err != nil {
				return nil, err
			}
			t.Comma(i).Str("(SELECT COUNT(DISTINCT score, tiebreak) FROM entries FORCE INDEX (entries_order) WHERE period_id = ")
			t.Int(v.ref.ID).Str(" AND ")
			entries.Range{From: last, To: here}.Where(t)
			t.Str(")")
			dest[i], last = &counts[i], here
		}
		if err := v.q.QueryRowContext(ctx, v.reader.db.Limited(t.String())).Scan(dest...); err != nil {
			return nil, err
		}
		for _, n := range counts {
			sum += n
			out = append(out, sum)
		}
	}
	return out, nil
}

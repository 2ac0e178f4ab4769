package read

import (
	"context"
	"fmt"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// DenseDepth is the number of entries up to which an entry's dense rank is computed. For dense ranks the different scores
// must be counted one by one: an index of counts does not help.
const DenseDepth = 100_000

// dense returns the dense ranks of groups of tied entries; ahead are the numbers of entries ahead of each, ascending. When a
// group is too deep, its rank is 0 in mode all, which has other ranks too; in mode dense that is an error.
func (v *view) dense(ctx context.Context, mode leaderboard.Mode, groups []rank.Key, ahead []int64) ([]int64, error) {
	out := make([]int64, len(groups))
	n := 0 // groups that are not too deep
	for n < len(groups) && ahead[n] <= DenseDepth {
		n++
	}
	switch {
	case n < len(groups) && mode == leaderboard.ModeDense:
		return nil, &leaderboard.RuleError{
			Code:   leaderboard.CodeModeNotAvailable,
			Detail: fmt.Sprintf("dense ranks are known down to %d entries, this is behind %d; strict and tied ranks are known everywhere", DenseDepth, ahead[n]),
		}
	case n == 0:
		return out, nil
	case ahead[n-1] == 0: // nothing is better
		for i := range n {
			out[i] = 1
		}
		return out, nil
	}
	return out, v.countDistinct(ctx, groups[:n], out)
}

// countDistinct sets each of ranks to 1 + the number of different (score, tiebreak) ahead of its group.
func (v *view) countDistinct(ctx context.Context, groups []rank.Key, ranks []int64) error {
	last, sum := entries.Beginning(), int64(1)
	for done := 0; done < len(groups); {
		t := (&mysql.Text{}).Str("SELECT ")
		dest := make([]any, min(countsPerQuery, len(groups)-done))
		counts := make([]int64, len(dest))
		for i := range dest {
			here, err := entries.BeforeKey(groups[done+i])
			if err != nil {
				return err
			}
			t.Comma(i).Str("(SELECT COUNT(DISTINCT score, tiebreak) FROM entries FORCE INDEX (entries_order) WHERE period_id = ")
			t.Int(v.ref.ID).Str(" AND ")
			entries.Range{From: last, To: here}.Where(t)
			t.Str(")")
			dest[i], last = &counts[i], here
		}
		if err := v.q.QueryRowContext(ctx, v.reader.db.Limited(t.String())).Scan(dest...); err != nil {
			return err
		}
		for _, n := range counts {
			sum += n
			ranks[done] = sum
			done++
		}
	}
	return nil
}

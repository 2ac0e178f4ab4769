package store

import "context"

// scanCounter counts by scanning the ordered index: exact, and O(count).
type scanCounter struct{ store *Store }

// countsPerQuery bounds the subqueries of one statement.
const countsPerQuery = 40

func (c scanCounter) count(ctx context.Context, q querier, periodID int64, ivs []interval) ([]int64, error) {
	return c.each(ctx, q, periodID, "COUNT(*)", ivs)
}

func (c scanCounter) distinct(ctx context.Context, q querier, periodID int64, ivs []interval) ([]int64, error) {
	return c.each(ctx, q, periodID, "COUNT(DISTINCT score, tiebreak)", ivs)
}

func (c scanCounter) each(ctx context.Context, q querier, periodID int64, what string, ivs []interval) ([]int64, error) {
	counts := make([]int64, len(ivs))
	for i := 0; i < len(ivs); i += countsPerQuery {
		n := min(countsPerQuery, len(ivs)-i)
		dest := make([]any, n)
		for j := range dest {
			dest[j] = &counts[i+j]
		}
		query := c.store.limited(countQuery(periodID, what, ivs[i:i+n]))
		if err := q.QueryRowContext(ctx, query).Scan(dest...); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// countQuery has a column per interval.
func countQuery(periodID int64, what string, ivs []interval) string {
	t := (&text{}).str("SELECT ")
	for i, iv := range ivs {
		t.comma(i)
		countColumn(t, periodID, what, iv)
	}
	return t.String()
}

func countColumn(t *text, periodID int64, what string, iv interval) {
	t.str("(SELECT ").str(what).str(" FROM entries FORCE INDEX (entries_order) WHERE period_id = ").int(periodID).str(" AND ")
	iv.where(t)
	t.str(")")
}

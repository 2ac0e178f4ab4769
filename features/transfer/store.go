package transfer

import (
	"context"
	"math"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Store reads whole periods.
type Store struct {
	db   *mysql.DB
	kept entries.KeptReader // nil: no feature keeps data with entries
}

// Export implements Exports. The transaction has one of the connections that nothing else waits for.
func (s *Store) Export(
	ctx context.Context, ref leaderboard.PeriodRef, kept bool, begin func(leaderboard.State) error, list func([]leaderboard.Entry, []string) error,
) error {
	codec := rank.CodecOf(ref.Rules)
	var part []leaderboard.Entry
	whole := entries.Snapshot{DB: s.db, Open: s.db.LongSnapshot, Period: &ref, Limit: math.MaxInt}
	if kept {
		whole.Kept = s.kept
	}
	return whole.Read(ctx, begin, func(keys []rank.Key, bodies []string) error {
		part = part[:0]
		for _, key := range keys {
			e, err := codec.Entry(key)
			if err != nil {
				return err
			}
			part = append(part, e)
		}
		return list(part, bodies)
	})
}

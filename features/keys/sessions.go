package keys

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/mysql"
	"leaderboard/store"
)

// sessionTTL is for how long a session is shown that is over.
const sessionTTL = 24 * time.Hour

// sessionsNext finds sessions that are over, the oldest first.
const sessionsNext = "SELECT key_id FROM sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?"

// sweepSessions returns the job that deletes sessions that ended a day ago, with their keys: the keys first, so that none stays
// behind.
func sweepSessions(db *mysql.DB, sweeper store.Sweeper) store.Job {
	return store.Job{Name: "sweep sessions", Run: func(ctx context.Context, slice store.Slice) (more bool, err error) {
		for !slice.Over() {
			var ids [][]byte
			if err := db.Pool.SelectContext(ctx, &ids, sessionsNext, sweeper.Before(sessionTTL), store.SweepRows); err != nil || len(ids) == 0 {
				return false, err
			}
			for _, remove := range []string{"DELETE FROM api_keys WHERE id IN (?) LIMIT ?", "DELETE FROM sessions WHERE key_id IN (?) LIMIT ?"} {
				statement, args, err := sqlx.In(remove, ids, store.SweepRows)
				if err != nil {
					return false, err
				}
				if _, err := sweeper.Delete(ctx, statement, args...); err != nil {
					return false, err
				}
			}
			if len(ids) < store.SweepRows {
				return false, nil
			}
		}
		return true, nil
	}}
}

package store

import (
	"context"
	"errors"
	"fmt"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
)

// foldCommits is how many commits one statement reads from the log for an index.
const foldCommits = 100

func isGap(err error) bool { return errors.Is(err, rank.ErrGap) }

// isDamage says whether an index that led to err was wrong, not merely old.
func isDamage(err error) bool {
	return errors.Is(err, rank.ErrDamaged) || errors.Is(err, rank.ErrForked)
}

// isUseless says whether err means that an index must be dropped.
func isUseless(err error) bool {
	return isDamage(err) || isGap(err) || errors.Is(err, leaderboard.ErrLogPruned) || errors.Is(err, errPayload)
}

// reach folds the log into the index until it is at m or later. q must see m: it is the transaction of the reader, or
// the pool. One reader reads the log, the others wait for it; the one that reads has the connection that it needs.
func (x *indexes) reach(ctx context.Context, t *tracker, q db.Querier, m rank.Mark) error {
	if t.at().Seq < m.Seq {
		select {
		case t.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := x.readUpTo(ctx, t, q, m.Seq)
		<-t.turn
		if err != nil {
			return err
		}
		x.tend(t)
	}
	return t.check(m)
}

func (x *indexes) readUpTo(ctx context.Context, t *tracker, q db.Querier, seq int64) error {
	for at := t.at(); at.Seq < seq; at = t.at() {
		n, err := x.store.readLog(ctx, q, t.ref.ID, at.Seq, foldCommits, t.fold)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("%w: at seq %d, an answer was at %d", rank.ErrForked, at.Seq, seq)
		}
	}
	return nil
}

// readLog passes the commits behind fromSeq to fold, at most limit, and returns how many there were. The entries in them
// are as they are stored, whatever the rules of the board are or were.
func (s *Store) readLog(ctx context.Context, q db.Querier, periodID, fromSeq int64, limit int, fold func(step) error) (int, error) {
	commits, err := s.logOf(ctx, q, periodID, fromSeq, limit, decodeStored)
	if err != nil {
		return 0, err
	}
	for i := range commits {
		if err := fold(step{commit: &commits[i]}); err != nil {
			return i, err
		}
	}
	return len(commits), nil
}

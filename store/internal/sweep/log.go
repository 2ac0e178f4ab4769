package sweep

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"leaderboard/leaderboard"
)

const (
	// followTTL is how long the log is kept for a follower that makes no progress.
	followTTL = 24 * time.Hour
	// logSteps is how many statements delete commits of one period before others have their turn.
	logSteps = 20
	// aheadMost bounds the periods with commits from the future for which the time of their first sight is remembered.
	aheadMost = 100_000
)

// oldest is the oldest commit in the log of a period.
type oldest struct {
	PeriodID int64     `db:"period_id"`
	Seq      int64     `db:"last_seq"`
	At       time.Time `db:"committed_at"`
	Changes  int64     `db:"changes"` // of the period that are in the log; only oldestQuery reads it
}

// LogSize is the size of the change log as a pass found it, before it deleted any of it.
type LogSize struct {
	Changes int64         // of all periods
	Oldest  time.Duration // age of the oldest commit, by the database clock; 0 without any
	At      time.Time     // of the end of the pass, by the clock of the process; zero before the first
}

// measure adds a pass's findings about a period.
func (l *LogSize) measure(o *oldest, now time.Time) {
	l.Changes += o.Changes
	l.Oldest = max(l.Oldest, now.Sub(o.At))
}

// LogSize returns the size that the last complete pass found. It may be called at any time.
func (s *Sweeper) LogSize() LogSize {
	if size := s.logSize.Load(); size != nil {
		return *size
	}
	return LogSize{}
}

const (
	// oldestQuery finds the oldest commits of the next periods that have any: it steps from period to period in the primary
	// key, past all rows between. It takes the period to start after, and a limit.
	oldestQuery = "SELECT c.period_id, c.last_seq, c.committed_at, COALESCE(p.last_seq, c.last_seq) - c.first_seq + 1 AS changes FROM (SELECT period_id, MIN(last_seq) AS seq FROM changes WHERE period_id > ?" +
		" GROUP BY period_id ORDER BY period_id LIMIT ?) o JOIN changes c ON c.period_id = o.period_id AND c.last_seq = o.seq" +
		" LEFT JOIN periods p ON p.id = o.period_id"
	logNext   = "SELECT period_id, last_seq, committed_at FROM changes WHERE period_id = ? AND last_seq >= ? AND last_seq <= ? ORDER BY last_seq LIMIT ?"
	logNewest = "SELECT last_seq FROM changes WHERE period_id = ? ORDER BY last_seq DESC LIMIT 1"
)

// Changes deletes commits that are older than ChangeTTL and that no follower still needs, period by period.
// Commits that they do not take within a day are deleted too.
func (s *Sweeper) Changes(ctx context.Context, slice Slice) (more bool, err error) {
	if s.doubted {
		return false, nil
	}
	followed, err := s.followedSeqs(ctx)
	if err != nil {
		return false, err
	}
	more, err = s.logs.Turn(ctx, slice, List[int64, oldest]{
		Next: func(ctx context.Context, after int64) (page []oldest, last bool, err error) {
			if after == 0 {
				s.measured = LogSize{}
			}
			err = s.db.Pool.SelectContext(ctx, &page, oldestQuery, after, pagePeriods)
			slices.SortFunc(page, func(a, b oldest) int { return cmp.Compare(a.PeriodID, b.PeriodID) })
			return page, len(page) < pagePeriods, err
		},
		Key: func(o *oldest) int64 { return o.PeriodID },
		Work: func(ctx context.Context, o *oldest) (bool, error) {
			s.measured.measure(o, s.now)
			o.Changes = 0 // it is counted, and may have another turn
			return s.prune(ctx, o, followed)
		},
	})
	if err == nil && !more {
		size := s.measured
		size.At = time.Now()
		s.logSize.Store(&size)
	}
	return more, err
}

// prune deletes the old commits of a period, and reports whether those were all.
func (s *Sweeper) prune(ctx context.Context, o *oldest, followed map[int64]int64) (finished bool, err error) {
	limit, fromFuture := s.Before(s.cfg.ChangeTTL), o.At.After(s.now.Add(clockStep))
	if !fromFuture && !o.At.Before(limit) {
		return true, nil
	}
	upTo, needed := followed[o.PeriodID]
	if !needed {
		upTo = math.MaxInt64
	}
	if fromFuture {
		return s.pruneAhead(ctx, o, upTo)
	}
	if o.Seq <= upTo {
		if finished, err = s.pruneLog(ctx, o, upTo, limit); !finished {
			return false, err
		}
	}
	if limit := s.Before(followTTL); needed && s.cfg.ChangeTTL < followTTL && o.At.Before(limit) {
		return s.pruneLog(ctx, o, math.MaxInt64, limit)
	}
	return true, nil
}

// pruneLog deletes commits of a period from the oldest on, up to a seq and made before a time, logSteps times Rows at most.
// A DELETE by time alone would read all the younger rows, for want of an index on the time.
func (s *Sweeper) pruneLog(ctx context.Context, o *oldest, upTo int64, limit time.Time) (finished bool, err error) {
	const remove = "DELETE FROM changes WHERE period_id = ? AND last_seq >= ? AND last_seq <= ? ORDER BY last_seq LIMIT ?"
	for range logSteps {
		var rows []oldest
		if err := s.db.Pool.SelectContext(ctx, &rows, logNext, o.PeriodID, o.Seq, upTo, Rows); err != nil {
			return false, err
		}
		old := 0
		for old < len(rows) && rows[old].At.Before(limit) {
			old++
		}
		if old == 0 {
			return true, nil
		}
		last := rows[old-1].Seq
		if _, err := s.Delete(ctx, remove, o.PeriodID, o.Seq, last, Rows); err != nil {
			return false, err
		}
		if old < Rows {
			return true, nil
		}
		o.Seq = last + 1 // deleted rows may still have to be stepped over
	}
	return false, nil
}

// ahead is how far the log of a period reached when its commits were first seen to be from the future.
type ahead struct {
	seq   int64
	since time.Time // by the clock of the process
}

// pruneAhead prunes a log whose oldest commit is from the future: the clock went back, and the times of commits do not (see
// leaderboard.CommitTime), so they do not show ages until the clock has caught up. Their age is counted from when they were
// first seen.
func (s *Sweeper) pruneAhead(ctx context.Context, o *oldest, upTo int64) (finished bool, err error) {
	mark, ok := s.ahead[o.PeriodID]
	if !ok {
		if len(s.ahead) >= aheadMost {
			clear(s.ahead) // commits that come again are counted from then on
		}
		mark.since = time.Now()
		if err := s.db.Pool.GetContext(ctx, &mark.seq, logNewest, o.PeriodID); err != nil {
			return false, err
		}
		s.ahead[o.PeriodID] = mark
		return true, nil
	}
	if time.Since(mark.since) < s.cfg.ChangeTTL {
		return true, nil
	}
	if time.Since(mark.since) >= followTTL {
		upTo = mark.seq
	}
	if finished, err = s.pruneLog(ctx, o, min(upTo, mark.seq), leaderboard.MaxTime.Time()); finished && mark.seq <= upTo {
		delete(s.ahead, o.PeriodID)
	}
	return finished, err
}

// followedSeqs returns up to which seq all that follow a period have come, by the id of the period.
func (s *Sweeper) followedSeqs(ctx context.Context) (map[int64]int64, error) {
	all := map[int64]int64{}
	for _, followed := range s.followers {
		seqs, err := followed(ctx)
		if err != nil {
			return nil, err
		}
		for id, seq := range seqs {
			if least, again := all[id]; !again || seq < least {
				all[id] = seq
			}
		}
	}
	return all, nil
}

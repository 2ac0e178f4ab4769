package topn

import (
	"context"
	"errors"
	"fmt"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Effect is the result of applying commits to a copy.
type Effect string

// The effects. Only Gap asks the caller for more, see CatchUp.
const (
	EffectApplied  Effect = "applied"  // the copy is at the last commit
	EffectShort    Effect = "short"    // the same as EffectApplied, and so few entries are left that a rebuild is due
	EffectCurrent  Effect = "current"  // the copy was there or further on already
	EffectGap      Effect = "gap"      // the copy is at a state that the commits do not start from
	EffectDiverged Effect = "diverged" // the copy was of another history and is dropped
	EffectDamaged  Effect = "damaged"  // the copy was damaged and is dropped
	EffectMissing  Effect = "missing"  // there is no copy, so there is nothing to do
)

// applyGroup is how many changes go into one script at most: it blocks Redis for well under a millisecond. A commit is
// never divided.
const applyGroup = 500

// Apply brings the copy from the state before the first commit to the state after the last. The commits follow each
// other without a gap. Repeating it, or applying commits in the wrong order, does no harm.
func (c *Copies) Apply(ctx context.Context, p leaderboard.PeriodRef, commits []leaderboard.Commit) (Effect, error) {
	effect := EffectCurrent
	for len(commits) > 0 {
		n := 1
		for changes := len(commits[0].Changes); n < len(commits); n++ {
			if changes += len(commits[n].Changes); changes > applyGroup {
				break
			}
		}
		var err error
		if effect, err = c.applyGroup(ctx, p, commits[:n]); err != nil {
			return "", err
		}
		switch effect {
		case EffectApplied, EffectShort, EffectCurrent:
		default:
			return effect, nil
		}
		commits = commits[n:]
	}
	return effect, nil
}

func (c *Copies) applyGroup(ctx context.Context, p leaderboard.PeriodRef, commits []leaderboard.Commit) (Effect, error) {
	first, last := &commits[0], &commits[len(commits)-1]
	final := finalKeys(rank.CodecOf(p.Rules), commits)
	args := make([]any, 0, 8+2*len(final))
	args = append(args, format(p), decimal(first.From().Seq), decimal(first.From().AsOf), decimal(last.To().Seq),
		decimal(last.To().AsOf), decimal(last.EntryCount), p.Rules.TopN, c.slack(p))
	for member, key := range final {
		args = append(args, member, string(key))
	}
	raw, err := c.scripts.apply.Run(ctx, c.background, c.keys(p), args...).Slice()
	if err != nil {
		return "", fmt.Errorf("topn: apply seq %d to %d to period %d: %w", first.FirstSeq, last.LastSeq, p.ID, err)
	}
	r := reply{raw: raw}
	switch effect := Effect(r.string()); effect {
	case EffectApplied, EffectShort, EffectCurrent, EffectGap, EffectDiverged, EffectDamaged, EffectMissing:
		return effect, r.err
	case "format":
		return EffectMissing, r.err
	default:
		return "", errors.Join(r.err, fmt.Errorf("topn: apply: status %q", effect))
	}
}

// finalKeys returns the key of each member that the commits concern after the last of them, "" without an entry.
func finalKeys(codec rank.Codec, commits []leaderboard.Commit) map[string]rank.Key {
	final := map[string]rank.Key{}
	for i := range commits {
		for j := range commits[i].Changes {
			change := &commits[i].Changes[j]
			if change.New == nil {
				final[change.Member] = ""
			} else {
				final[change.Member] = codec.Key(*change.New)
			}
		}
	}
	return final
}

const (
	// catchUpCommits is how many rows of the log are read at once.
	catchUpCommits = 200
	// catchUpRounds bounds a catch-up while writers and other followers move the copy on. In each round, this process
	// or another one makes progress.
	catchUpRounds = 1000
)

// CatchUp brings the copy to the state that the period is in when it starts, by the change log. Errors:
// leaderboard.ErrNeedsBuild, which may wrap the reason (ErrMissing, ErrDamaged, leaderboard.ErrLogPruned). A copy that
// is of another incarnation than MySQL's is dropped. It needs no lease.
func (c *Copies) CatchUp(ctx context.Context, p leaderboard.PeriodRef) (leaderboard.CopyOutcome, error) {
	var out leaderboard.CopyOutcome
	target := int64(-1) // where MySQL was at first; following a busy writer further would not end
	for range catchUpRounds {
		info, err := c.usable(ctx, p)
		if err != nil {
			return out, err
		}
		var commits []leaderboard.Commit
		if target < 0 {
			out.FromSeq = info.Seq
		}
		out.ToSeq = info.Seq
		if target < 0 || info.Seq < target {
			var last int64
			if commits, last, err = c.missing(ctx, p, info); err != nil {
				return out, err
			}
			target = max(target, last)
		}
		if len(commits) == 0 {
			if info.Short {
				return out, fmt.Errorf("%w: %d entries are left", leaderboard.ErrNeedsBuild, info.N)
			}
			return out, nil
		}
		if err := c.applyLog(ctx, p, commits, &out); err != nil {
			return out, err
		}
	}
	return out, fmt.Errorf("topn: the copy of period %d does not get from seq %d to %d", p.ID, out.ToSeq, target)
}

func (c *Copies) usable(ctx context.Context, p leaderboard.PeriodRef) (leaderboard.CopyInfo, error) {
	info, err := c.Info(ctx, p)
	switch {
	case err != nil:
		return info, err
	case info.Damaged:
		return info, fmt.Errorf("%w: %w", leaderboard.ErrNeedsBuild, ErrDamaged)
	case !info.Exists:
		return info, fmt.Errorf("%w: %w", leaderboard.ErrNeedsBuild, ErrMissing)
	}
	return info, nil
}

func (c *Copies) applyLog(ctx context.Context, p leaderboard.PeriodRef, commits []leaderboard.Commit, out *leaderboard.CopyOutcome) error {
	effect, err := c.Apply(ctx, p, commits)
	if err != nil {
		return err
	}
	switch effect {
	case EffectApplied, EffectShort:
		for i := range commits {
			out.Rows += int64(len(commits[i].Changes))
		}
		return nil
	case EffectCurrent, EffectGap: // another process was here in the meantime: look again
		return nil
	default: // gone, or of another incarnation, as the script sees by the commit that its state comes from
		return fmt.Errorf("%w: %s", leaderboard.ErrNeedsBuild, effect)
	}
}

// missing reads the next commits that the copy lacks, none when it is where MySQL is, and the seq that MySQL is at. The
// order of reading decides what can be concluded: the copy was looked at before MySQL, so a MySQL at a lower seq is
// another incarnation, never just a slow reader. Nothing here trusts a snapshot that was read earlier.
func (c *Copies) missing(ctx context.Context, p leaderboard.PeriodRef, info leaderboard.CopyInfo) ([]leaderboard.Commit, int64, error) {
	period, err := c.log.Period(ctx, p.ID)
	if err != nil {
		return nil, 0, err
	}
	switch {
	case period.Incarnation != p.Incarnation:
		return nil, 0, leaderboard.ErrPeriodNotFound
	case period.Revision() == info.Revision:
		return nil, period.LastSeq, nil
	case period.LastSeq <= info.Seq:
		return nil, 0, c.dropDiverged(ctx, p, info, period.LastSeq)
	}
	commits, err := c.log.Changes(ctx, p.ID, info.Seq, catchUpCommits)
	switch {
	case errors.Is(err, leaderboard.ErrLogPruned):
		return nil, 0, fmt.Errorf("%w: %w", leaderboard.ErrNeedsBuild, err)
	case err != nil:
		return nil, 0, err
	case len(commits) == 0 || commits[0].From().Seq != info.Seq || commits[0].Incarnation != p.Incarnation:
		return nil, 0, fmt.Errorf("%w: the log does not go on at seq %d", leaderboard.ErrNeedsBuild, info.Seq)
	}
	return commits, period.LastSeq, nil
}

// dropDiverged drops a copy whose state MySQL never was in, if it still is in that state.
func (c *Copies) dropDiverged(ctx context.Context, p leaderboard.PeriodRef, info leaderboard.CopyInfo, lastSeq int64) error {
	c.opts.Logger.WarnContext(ctx, "copy is of another history than MySQL, dropping it",
		"board", p.Board, "period", p.ID, "copy_seq", info.Seq, "copy_as_of", info.AsOf.String(), "mysql_seq", lastSeq)
	if _, err := c.drop(ctx, p, decimal(info.Seq), decimal(info.AsOf)); err != nil {
		return err
	}
	return fmt.Errorf("%w: the copy at seq %d was of another history", leaderboard.ErrNeedsBuild, info.Seq)
}

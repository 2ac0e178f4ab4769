package cache

import (
	"context"
	"errors"
	"fmt"

	"leaderboard"
	"leaderboard/rank"
)

// Effect is what became of commits that were applied to a copy.
type Effect string

// The effects. Only Gap asks the caller for more, see CatchUp.
const (
	EffectApplied Effect = "applied" // the copy is at the last commit
	EffectShort   Effect = "short"   // the same, and so few entries are left that a rebuild is due
	EffectCurrent Effect = "current" // the copy was there or further on already
	EffectGap     Effect = "gap"     // the copy is at a state that the commits do not start from
	EffectForked  Effect = "forked"  // the copy was of another history and is dropped
	EffectDamaged Effect = "damaged" // the copy was damaged and is dropped
	EffectMissing Effect = "missing" // there is no copy, so there is nothing to do
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
	args = append(args, format(p), decimal(first.FromSeq()), decimal(first.PrevCommittedAt), decimal(last.LastSeq),
		decimal(last.CommittedAt), decimal(last.EntryCount), p.Rules.TopN, c.slack(p))
	for member, key := range final {
		args = append(args, member, string(key))
	}
	raw, err := c.scripts.apply.Run(ctx, c.patient, c.keys(p), args...).Slice()
	if err != nil {
		return "", fmt.Errorf("cache: apply seq %d to %d to period %d: %w", first.FirstSeq, last.LastSeq, p.ID, err)
	}
	r := reader{raw: raw}
	switch effect := Effect(r.string()); effect {
	case EffectApplied, EffectShort, EffectCurrent, EffectGap, EffectForked, EffectDamaged, EffectMissing:
		return effect, r.err
	case "format":
		return EffectMissing, r.err
	default:
		return "", errors.Join(r.err, fmt.Errorf("cache: apply: status %q", effect))
	}
}

// finalKeys is what each member that the commits concern has after the last of them, "" when no entry.
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

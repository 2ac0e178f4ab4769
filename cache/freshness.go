package cache

import (
	"context"
	"errors"
	"slices"

	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
)

// query asks a layer, and has the feed judge its answer, as long as the layer has a newer one. The judge is Feed.Judge,
// also for boards of the catalog and for the parts that handlers add to an answer.
func (r *Reader) query(ctx context.Context, l layer, q *pending) (a leaderboard.Answered, v feed.Verdict, err error) {
	for times := 1; ; times++ {
		if a, err = l.find(ctx, q); a == nil {
			return nil, v, err
		}
		if v = r.judge(ctx, q, a); errors.Is(err, leaderboard.ErrSeqAhead) && slices.ContainsFunc(q.refs(), hasRow) {
			v = feed.VerdictOld
		}
		if v == feed.VerdictFresh || v == feed.VerdictUnknown || !l.outdated(ctx, q, a, v, times) {
			return a, v, err
		}
	}
}

func hasRow(ref leaderboard.PeriodRef) bool { return ref.HasRow() }

// judge returns the worst verdict on the states of an answer. When no statement showed a period lately, it waits for the
// feed. The state of a period without a row is always fresh.
func (r *Reader) judge(ctx context.Context, q question, a leaderboard.Answered) feed.Verdict {
	w, refs := r.opts.Feed, q.refs()
	if w == nil {
		return feed.VerdictFresh
	}
	worst := feed.VerdictFresh
	var unknown []int
	for i := range refs {
		if !refs[i].HasRow() {
			continue
		}
		switch v := w.Judge(refs[i].ID, a.At(i).Revision); v {
		case feed.VerdictUnknown:
			unknown = append(unknown, i) // the next statement is about all of them
		case feed.VerdictDiverged:
			return v
		case feed.VerdictOld:
			worst = v
		}
	}
	for _, i := range unknown {
		switch v := w.Check(ctx, refs[i].ID, a.At(i).Revision); v {
		case feed.VerdictUnknown, feed.VerdictDiverged:
			return v
		case feed.VerdictOld:
			worst = v
		}
	}
	return worst
}

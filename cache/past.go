package cache

import (
	"context"

	"leaderboard/cache/feed"
	"leaderboard/cache/resident"
	"leaderboard/leaderboard"
)

// Past implements leaderboard.Pasts. Periods in memory are answered from there. All other periods that still change go
// into one question, and all other periods that are over into another.
func (r *Reader) Past(ctx context.Context, periods []leaderboard.PeriodRef, member string) ([]leaderboard.PastEntry, error) {
	out := make([]leaderboard.PastEntry, len(periods))
	late, err := r.together(ctx, periods, func() (int, []leaderboard.State, error) {
		of, err := r.past(ctx, periods, member, out)
		if of == 1 {
			return of, nil, err
		}
		at := make([]leaderboard.State, len(out))
		for i := range out {
			at[i] = out[i].State
		}
		return of, at, err
	})
	for i := range out {
		out[i].Stale = out[i].Stale || late
	}
	return out, err
}

// past answers into out, in the order of periods, and returns of how many answers that consists.
func (r *Reader) past(ctx context.Context, periods []leaderboard.PeriodRef, member string, out []leaderboard.PastEntry) (of int, err error) {
	near, open, over := r.pastParts(periods)
	if near.refs != nil && !r.pastInMemory(ctx, &near, member, out) {
		for i := range near.refs {
			ref, more := &near.refs[i], len(near.refs)-i-1
			if ref.Closed {
				over.add(near.at[i], ref, more)
			} else {
				open.add(near.at[i], ref, more)
			}
		}
		near.refs = nil
	}
	for _, part := range []*pastPart{&near, &open, &over} {
		if part.refs != nil {
			of++
		}
	}
	if len(open.refs) == 1 { // like any member of a board: perhaps it is in Redis
		q := membersQuestion{onePeriod{open.refs[0]}, leaderboard.MembersQuery{
			Query: leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: open.refs[0].LastSeq}, Members: []string{member},
		}}
		a, err := r.answer(ctx, newPending(q))
		if err != nil {
			return of, err
		}
		out[open.at[0]], open.refs = pastOf(a.(*leaderboard.Standings)), nil
	}
	for _, part := range []*pastPart{&open, &over} { // answers about periods that are over are kept for long
		if part.refs == nil {
			continue
		}
		a, err := r.answer(ctx, newPending(pastQuestion{manyPeriods{part.refs}, member}))
		if err != nil {
			return of, err
		}
		part.put(out, a.(past))
	}
	return of, nil
}

// pastPart is some of the periods of a question, and which they are.
type pastPart struct {
	refs []leaderboard.PeriodRef
	at   []int
}

// add adds a period. more is how many may follow.
func (p *pastPart) add(i int, ref *leaderboard.PeriodRef, more int) {
	if p.refs == nil {
		p.refs, p.at = make([]leaderboard.PeriodRef, 0, 1+more), make([]int, 0, 1+more)
	}
	p.refs, p.at = append(p.refs, *ref), append(p.at, i)
}

// put puts an answer about the periods where it belongs.
func (p *pastPart) put(out []leaderboard.PastEntry, a past) {
	for i, at := range p.at {
		out[at] = a[i]
	}
}

// pastParts divides periods into periods in memory, changing periods, and periods that are over. All in memory are judged
// together, so that none waits for a separate statement. A period that is over does not count as read: a question about a
// hundred periods would push others out of memory. A single changing period is never near, because it is asked about like
// any member.
func (r *Reader) pastParts(periods []leaderboard.PeriodRef) (near, open, over pastPart) {
	changing := 0
	for i := range periods {
		if !periods[i].Closed {
			changing++
		}
	}
	for i := range periods {
		p, weight := &periods[i], int64(0)
		if !p.Closed && changing > 1 {
			weight = resident.WeightDeep
		}
		in, more := r.inMemory(p, weight), len(periods)-i-1
		switch {
		case in && (p.Closed || changing > 1):
			near.add(i, p, more)
		case p.Closed:
			over.add(i, p, more)
		default:
			open.add(i, p, more)
		}
	}
	return near, open, over
}

// inMemory reports whether a period is in memory. A period without a row counts as in memory.
func (r *Reader) inMemory(p *leaderboard.PeriodRef, weight int64) bool {
	if !p.HasRow() {
		return true
	}
	return r.opts.Resident != nil && r.opts.Resident.Get(p, weight) != nil
}

// pastInMemory answers about periods in memory. It returns false when one of them is not new enough there, or has left.
func (r *Reader) pastInMemory(ctx context.Context, near *pastPart, member string, out []leaderboard.PastEntry) bool {
	q := newPending(pastQuestion{manyPeriods{near.refs}, member})
	a, verdict, err := r.query(ctx, r.memory, q)
	if a == nil || err != nil || verdict != feed.VerdictFresh {
		return false
	}
	near.put(out, r.found(r.memory, q, a).(past))
	r.opts.Observer.AnswerGiven(leaderboard.SourceLocal, false)
	return true
}

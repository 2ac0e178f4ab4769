package cache

import (
	"context"

	"leaderboard"
	"leaderboard/cache/feed"
)

// Past implements leaderboard.Pasts. The standing in a period that still changes is read like that of any member; those in
// closed periods come from memory when they are there, and all others in one question.
func (r *Reader) Past(ctx context.Context, periods []leaderboard.PeriodRef, member string) ([]leaderboard.PastEntry, error) {
	out := make([]leaderboard.PastEntry, len(periods))
	at := make([]leaderboard.State, len(periods))
	late, err := r.together(ctx, periods, func() ([]leaderboard.State, error) {
		err := r.past(ctx, periods, member, out)
		for i := range out {
			at[i] = out[i].State
		}
		return at, err
	})
	for i := range out {
		out[i].Stale = out[i].Stale || late
	}
	return out, err
}

// past answers into out, in the order of periods.
func (r *Reader) past(ctx context.Context, periods []leaderboard.PeriodRef, member string, out []leaderboard.PastEntry) error {
	r.watchMemory(periods)
	rest, places := pastQuestion{member: member}, []int(nil)
	for i := range periods {
		p := &periods[i]
		q := membersQuestion{about{*p}, leaderboard.MembersQuery{
			Query: leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: p.LastSeq}, Members: []string{member},
		}}
		if p.Closed {
			// It does not count as reading the period: a question about thirty periods would push others out of memory.
			one := newAsked(pastQuestion{several{periods[i : i+1]}, member})
			if a, verdict, err := r.ask(ctx, r.memory, one); a != nil && err == nil && verdict == feed.VerdictFresh {
				out[i] = a.(past)[0]
				continue
			}
			rest.periods, places = append(rest.periods, *p), append(places, i)
			continue
		}
		a, err := r.answer(ctx, newAsked(q))
		if err != nil {
			return err
		}
		out[i] = pastOf(a.(*leaderboard.Standings))
	}
	if places == nil {
		return nil
	}
	found, err := r.answer(ctx, newAsked(rest))
	if err != nil {
		return err
	}
	for i, at := range places {
		out[at] = found.(past)[i]
	}
	return nil
}

// watchMemory makes the feed ask about all periods in memory together, so that none waits for a statement of its own.
func (r *Reader) watchMemory(periods []leaderboard.PeriodRef) {
	if r.opts.Resident == nil {
		return
	}
	for i := range periods {
		if m := r.opts.Resident.Get(&periods[i], 0); m != nil {
			r.opts.Feed.Judge(periods[i].ID, m.At().Revision)
		}
	}
}

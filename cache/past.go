package cache

import (
	"context"

	"leaderboard"
	"leaderboard/cache/resident"
	"leaderboard/cache/watch"
	"leaderboard/rank"
)

// Pasts answers what a member has in many periods. It implements leaderboard.Pasts. A period that still changes is read
// like any member in it; of the closed ones, those in memory are answered from there, and all others from what is kept of
// the member, or by MySQL in one question, within the bound of the Reader.
type Pasts struct {
	reader   *Reader
	database leaderboard.Pasts
	closed   *answers[pastKey, []leaderboard.PastEntry]
}

// NewPasts asks database where reader does not have the answer in memory.
func NewPasts(reader *Reader, database leaderboard.Pasts) *Pasts {
	o := reader.opts
	return &Pasts{reader, database, newAnswers(o.answerRules(), pastOps(&o), o.LocalEntries/16, o.LocalBytes/16)}
}

// pastKey is what a member's past in closed periods is kept under: nothing changes there but by a correction, which the
// watch tells of.
type pastKey struct {
	periods string // ids and histories
	codec   rank.Codec
	member  string
}

func pastStates(p []leaderboard.PastEntry) []leaderboard.State {
	states := make([]leaderboard.State, len(p))
	for i := range p {
		states[i] = p[i].State
	}
	return states
}

func pastAt(p []leaderboard.PastEntry, states []leaderboard.State) []leaderboard.PastEntry {
	out := make([]leaderboard.PastEntry, len(p))
	for i := range p {
		out[i] = leaderboard.PastEntry{State: states[i], Ranked: p[i].Ranked}
	}
	return out
}

func pastOps(o *ReaderOptions) answerOps[pastKey, []leaderboard.PastEntry] {
	return combinedOps(o, func(k pastKey) string { return k.periods }, pastStates, pastAt,
		func(p []leaderboard.PastEntry) int { return len(p) })
}

// Past implements leaderboard.Pasts.
func (h *Pasts) Past(ctx context.Context, periods []leaderboard.PeriodRef, member string) ([]leaderboard.PastEntry, error) {
	out := make([]leaderboard.PastEntry, len(periods))
	late := true // the slowest answer outlasted another
	for try := 0; try < confirmAttempts && late; try++ {
		if err := h.past(ctx, periods, member, out); err != nil {
			return nil, err
		}
		states := pastStates(out)
		late = !anyStale(states) && h.reader.judgeAll(periodIDs(periods), states) != watch.VerdictFresh
	}
	for i := range out {
		out[i].Stale = out[i].Stale || late
	}
	return out, nil
}

// past answers into out, in the order of periods.
func (h *Pasts) past(ctx context.Context, periods []leaderboard.PeriodRef, member string, out []leaderboard.PastEntry) error {
	r := h.reader
	r.watchMemory(periods)
	var rest []int
	for i := range periods {
		p := &periods[i]
		q := leaderboard.MembersQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: p.LastSeq}, Members: []string{member}}
		ask := func(m *resident.Period) (*leaderboard.Standings, error) { return m.Members(q) }
		var (
			s   *leaderboard.Standings
			ok  = true
			err error
		)
		if p.Closed { // which makes it no warmer: a question about thirty periods would push others out of memory
			s, ok, err = fromMemory(ctx, r, p, 0, q.MinSeq, standingsShape(), ask)
		} else {
			s, err = r.Members(ctx, *p, q)
		}
		switch {
		case err != nil:
			return err
		case ok:
			out[i] = pastOf(s)
		default:
			rest = append(rest, i)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	refs := make([]leaderboard.PeriodRef, len(rest))
	for i, at := range rest {
		refs[i] = periods[at]
	}
	found, err := h.closedPast(ctx, refs, member)
	if err != nil {
		return err
	}
	for i, at := range rest {
		out[at] = found[i]
	}
	return nil
}

// watchMemory has the watch ask about all periods in memory together, so that none waits for a statement of its own.
func (r *Reader) watchMemory(periods []leaderboard.PeriodRef) {
	if r.opts.Resident == nil {
		return
	}
	for i := range periods {
		if m := r.opts.Resident.Get(&periods[i], 0); m != nil {
			r.opts.Watch.Judge(periods[i].ID, m.At().Revision)
		}
	}
}

// closedPast returns what is kept of a member in closed periods, or what MySQL says.
func (h *Pasts) closedPast(ctx context.Context, periods []leaderboard.PeriodRef, member string) ([]leaderboard.PastEntry, error) {
	key := pastKey{periodIDs(periods), rank.CodecOf(periods[0].Rules), member}
	found, err := combined(ctx, h.reader, h.closed, key, false, key.periods, pastStates, func(ctx context.Context) ([]leaderboard.PastEntry, error) {
		return h.database.Past(ctx, periods, member)
	})
	if err != nil {
		return nil, err
	}
	h.reader.opts.OnAnswer(found[0].Source, found[0].Stale)
	return found, nil
}

// pastOf returns the answer about one member as one about its past.
func pastOf(s *leaderboard.Standings) leaderboard.PastEntry {
	out := leaderboard.PastEntry{State: s.State}
	if len(s.Entries) > 0 {
		ranked := s.Entries[0].Ranked
		ranked.Dense = 0 // known or not, as it happens
		out.Ranked = &ranked
	}
	return out
}

// checkAll returns the worst of what the watch says of the states of several periods, for which it may have to be waited.
func (r *Reader) checkAll(ctx context.Context, periods string, states []leaderboard.State) watch.Verdict {
	w := r.opts.Watch
	if w == nil || allFresh(w, periods, states) { // which asks about those that are not known, all together
		return watch.VerdictFresh
	}
	worst := watch.VerdictFresh
	for i, id := range idsOf(periods, len(states)) {
		switch v := w.Check(ctx, id, states[i].Revision); {
		case v == watch.VerdictUnknown:
			return v
		case v != watch.VerdictFresh:
			worst = watch.VerdictOld
		}
	}
	return worst
}

// judgeAll says whether all states of several periods are fresh, or one is old.
func (r *Reader) judgeAll(periods string, states []leaderboard.State) watch.Verdict {
	if w := r.opts.Watch; w == nil || allFresh(w, periods, states) {
		return watch.VerdictFresh
	}
	return watch.VerdictOld
}

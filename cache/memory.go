package cache

import (
	"context"
	"errors"
	"slices"

	"leaderboard/cache/feed"
	"leaderboard/cache/resident"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// memory is the layer of the periods that are whole in memory.
type memory struct{ opts *ReaderOptions }

// memoryTimes bounds how often periods in memory are asked again after they have moved on.
const memoryTimes = 3

// find implements layer. All periods of the question must be in memory; each counts as read, so that all of them are loaded
// in time. A period without a row counts as in memory.
func (m *memory) find(ctx context.Context, q *pending) (a leaderboard.Answered, err error) {
	refs := q.refs()
	in := make(resident.Combined, len(refs))
	for i := range refs {
		switch {
		case !refs[i].HasRow():
			in[i] = resident.Empty(&refs[i])
		case m.opts.Resident != nil:
			in[i] = m.opts.Resident.Get(&refs[i], q.weight())
		}
	}
	if slices.Contains(in, nil) {
		return nil, nil
	}
	at := statesOf(in)
	ctx, span := trace.Start(ctx, "read memory", trace.KindInternal)
	a, err = q.query(ctx, inMemory{in})
	switch {
	case errors.Is(err, rank.ErrDamaged):
		a, err = nil, nil // it is about to leave
	case err != nil:
		a = at
	}
	endRead(span, refs, a != nil, nil)
	return a, err
}

// outdated implements layer. It waits for commits of other processes, and gives up a period that has diverged.
func (m *memory) outdated(ctx context.Context, q *pending, a leaderboard.Answered, v feed.Verdict, times int) bool {
	refs := q.refs()
	moved := times < memoryTimes
	for i := range refs {
		if !refs[i].HasRow() {
			continue
		}
		p := m.opts.Resident.Get(&refs[i], 0)
		switch {
		case p == nil:
			return false
		case v == feed.VerdictDiverged:
			if m.opts.Feed.Judge(refs[i].ID, a.At(i).Revision) == feed.VerdictDiverged {
				m.opts.Resident.Drop(refs[i].ID, p)
			}
			moved = false
		case a.At(i).Seq < max(q.minSeq(i), refs[i].LastSeq) || !m.opts.Feed.Fresh(refs[i].ID, a.At(i).Revision):
			moved = moved && m.opts.Resident.Await(ctx, refs[i].ID, p, a.At(i).Revision)
		}
	}
	return moved
}

func statesOf(in resident.Combined) states {
	at := make(states, len(in))
	for i, p := range in {
		at[i].Revision = p.At().Revision
	}
	return at
}

// inMemory answers from the periods in memory that it has.
type inMemory struct{ in resident.Combined }

func (m inMemory) Page(_ context.Context, _ leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	return m.in[0].Page(q)
}

func (m inMemory) Members(_ context.Context, _ leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	return m.in[0].Members(q)
}

func (m inMemory) ScoreRank(_ context.Context, _ leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	return m.in[0].ScoreRank(q)
}

func (m inMemory) Distribution(_ context.Context, _ leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	return m.in[0].Distribution(q)
}

func (m inMemory) CombinedPage(_ context.Context, p []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	return m.in.Page(p, q)
}

func (m inMemory) CombinedMember(_ context.Context, p []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (*leaderboard.CombinedStandings, error) {
	return m.in.Member(p, q)
}

func (m inMemory) Moves(_ context.Context, _ leaderboard.PeriodRef, q leaderboard.MovesQuery) (*leaderboard.Moves, error) {
	return m.in[0].Moves(q)
}

// Past implements leaderboard.Pasts: each period for itself.
func (m inMemory) Past(_ context.Context, refs []leaderboard.PeriodRef, member string) ([]leaderboard.PastEntry, error) {
	return resident.Past(m.in, refs, member)
}

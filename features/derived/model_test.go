package derived

import (
	"context"
	"math"
	"reflect"
	"slices"

	"leaderboard/api"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// model is a store in memory with derived boards. Each step computes all entries from scratch. It shares only the rule with
// the feature: the periods that are its sources, and the entries that follow from them. The calls of a method are not one transaction.
type model struct {
	*storetest.Model
	reflected map[int64]reflection // by the id of a derived board, none before its first step
}

// reflection is the sources from which the entries of a derived board were computed.
type reflection struct {
	rule    leaderboard.Derive
	periods []part  // by position
	seqs    []int64 // of the periods
}

// modelSource is a source with its period. A period that does not exist has the id 0.
type modelSource struct {
	sourceSpan
	board  leaderboard.Board
	period leaderboard.Period
}

// newModel returns a model on a store in memory, which checks the sources of boards from now on.
func newModel(m *storetest.Model) *model {
	m.OnBoard = func(b *leaderboard.Board, old *leaderboard.Rules, find func(string) *leaderboard.Board) error {
		if b.Rules.Derive == nil || reflect.DeepEqual(old.Derive, b.Rules.Derive) {
			return nil
		}
		return checkSources(b.Rules.Derive, b.Name, sourcesFound(b.Rules.Derive, find))
	}
	return &model{m, map[int64]reflection{}}
}

// sourcesFound returns the sources of a rule among the boards that find returns.
func sourcesFound(d *leaderboard.Derive, find func(string) *leaderboard.Board) findSource {
	var found []leaderboard.Board
	for _, f := range d.From {
		if b := find(f.Board); b != nil {
			found = append(found, *b)
		}
	}
	return sourcesAmong(found, func(b *leaderboard.Board) leaderboard.Calendar {
		calendar, _ := b.Rules.Calendar() // the rules were checked
		return calendar
	})
}

// derived returns a derived board with its period, and the sources that it should have now.
func (m *model) derived(ctx context.Context, name string) (l leaderboard.Listing, sources []modelSource, err error) {
	l, err = m.Current(ctx, name)
	if err == nil && l.Board.Rules.Derive == nil {
		err = leaderboard.ErrNotDerived
	}
	if err != nil {
		return l, nil, err
	}
	boards := map[string]*leaderboard.Board{}
	for _, f := range l.Board.Rules.Derive.From {
		if b, err := m.Board(ctx, f.Board); err == nil {
			boards[f.Board] = &b
		}
	}
	find := sourcesFound(l.Board.Rules.Derive, func(name string) *leaderboard.Board { return boards[name] })
	for _, span := range spansOf(l.Board.Rules.Derive, l.Clock, find) {
		s := modelSource{sourceSpan: span}
		if span.Found {
			s.board = *boards[span.Board]
			periods, err := m.Periods(ctx, s.board.ID, span.Window, 0, math.MaxInt)
			if err != nil {
				return l, nil, err
			}
			if i := slices.IndexFunc(periods, func(p leaderboard.Period) bool { return p.StartsAt == span.StartsAt }); i >= 0 {
				s.period = periods[i]
			}
		}
		sources = append(sources, s)
	}
	return l, sources, nil
}

// FollowSources is the model of Stepper.FollowSources.
func (m *model) FollowSources(ctx context.Context, board string, _ bool) (Step, error) {
	l, sources, err := m.derived(ctx, board)
	if err != nil {
		return Step{}, err
	}
	rule, seq := l.Board.Rules.Derive, l.Periods[0].LastSeq
	step := Step{State: m.state(&l.Board, sources), Clock: l.Clock, Behind: m.lag(ctx, l.Board.ID), FromSeq: seq}
	now, shares := reflection{rule: *rule}, map[string][]share{}
	for i := range sources {
		s := &sources[i]
		now.periods, now.seqs = append(now.periods, part{s.period.ID, s.Weight}), append(now.seqs, s.period.LastSeq)
		if s.period.ID == 0 {
			continue
		}
		page, err := m.Page(ctx, s.period.Ref(&s.board), leaderboard.PageQuery{Limit: math.MaxInt32})
		if err != nil {
			return step, err
		}
		for _, e := range page.Entries {
			shares[e.Member] = append(shares[e.Member], share{s.Weight, e.Score, e.CreatedTime})
		}
	}
	entries := map[string]leaderboard.Entry{}
	for member, list := range shares {
		if e, ok := combine(rule, member, list, len(sources)); ok {
			entries[member] = e
		}
	}
	step.ToSeq, err = m.Rewrite(ctx, board, entries)
	step.Rows, m.reflected[l.Board.ID] = step.ToSeq-step.FromSeq, now
	return step, err
}

// Recompute is the model of Stepper.Recompute.
func (m *model) Recompute(ctx context.Context, board string) (Step, error) {
	return m.FollowSources(ctx, board, true)
}

func (m *model) state(b *leaderboard.Board, sources []modelSource) api.DerivationState {
	was, ok := m.reflected[b.ID]
	if !ok || !reflect.DeepEqual(was.rule, *b.Rules.Derive) {
		return api.DerivationStateComputing
	}
	weighed := map[part]int{}
	for _, p := range was.periods {
		weighed[p]++
	}
	for i := range sources {
		weighed[part{sources[i].period.ID, sources[i].Weight}]--
	}
	for _, n := range weighed {
		if n != 0 {
			return api.DerivationStateRolling
		}
	}
	return api.DerivationStateFollowing
}

func (m *model) lag(ctx context.Context, id int64) (n int64) {
	was := m.reflected[id]
	for i, reflected := range was.periods {
		if p, err := m.Period(ctx, reflected.periodID); err == nil {
			n += p.LastSeq - was.seqs[i]
		}
	}
	return n
}

// Derivation is the model of Stepper.Derivation, without the sources that have left.
func (m *model) Derivation(ctx context.Context, board string) (api.Derivation, error) {
	l, sources, err := m.derived(ctx, board)
	if err != nil {
		return api.Derivation{}, err
	}
	own := l.Periods[0]
	out := api.Derivation{Board: board, Seq: own.LastSeq, AsOf: own.Committed.Time(), State: m.state(&l.Board, sources), Lag: m.lag(ctx, l.Board.ID)}
	was := m.reflected[l.Board.ID]
	for _, s := range sources {
		source := api.Source{
			Board: s.Board, Window: s.Window, Period: s.Name, Weight: s.Weight, LastSeq: s.period.LastSeq, Condition: s.condition(s.period.LastSeq > 0),
		}
		i := slices.IndexFunc(was.periods, func(p part) bool { return p.periodID == s.period.ID })
		if i >= 0 && out.State != api.DerivationStateComputing {
			source.Seq = was.seqs[i]
		}
		out.Sources = append(out.Sources, source)
	}
	out.State = withSources(out.State, out.Sources)
	return out, nil
}

// VerifySources is the model of Stepper.VerifySources; the model is always right.
func (m *model) VerifySources(ctx context.Context, board string) (leaderboard.Verification, error) {
	d, err := m.Derivation(ctx, board)
	return leaderboard.Verification{Equal: err == nil && d.State != api.DerivationStateComputing, Seq: d.Seq}, err
}

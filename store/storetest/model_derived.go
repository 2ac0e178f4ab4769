package storetest

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"leaderboard/leaderboard"
)

// derived returns a derived board, its only period, and the sources that it should have now.
func (m *Model) derived(name string) (b *modelBoard, own *modelPeriod, sources []modelSource, err error) {
	b = m.boards[name]
	if b == nil {
		return nil, nil, nil, leaderboard.ErrBoardNotFound
	}
	if b.Rules.Derive == nil {
		return nil, nil, nil, leaderboard.ErrNotDerived
	}
	spans := b.Rules.Derive.Spans(m.clock(), m.findSource)
	for _, span := range spans {
		s := modelSource{SourceSpan: span}
		if span.Found {
			for _, p := range m.boards[span.Board].periods {
				if p.Window == span.Window && p.StartsAt == span.StartsAt {
					s.period = p
				}
			}
		}
		sources = append(sources, s)
	}
	return b, m.current(b)[0], sources, nil
}

// findSource finds the board of a source.
func (m *Model) findSource(name string) (leaderboard.SourceBoard, bool) {
	b := m.boards[name]
	if b == nil {
		return leaderboard.SourceBoard{}, false
	}
	cal, err := b.Rules.Calendar()
	return leaderboard.SourceBoard{
		Windows: b.Rules.Windows, Calendar: cal, CreatedTime: b.CreatedTime, Derived: b.Rules.Derive != nil,
	}, err == nil
}

type modelSource struct {
	leaderboard.SourceSpan
	period *modelPeriod // nil: there is no such period
}

// FollowSources is the model of derived.Stepper.FollowSources, as far as entries go: it computes all of them from scratch.
func (m *Model) FollowSources(ctx context.Context, board string, _ bool) (leaderboard.DeriveStep, error) {
	defer m.leave()
	if err := m.enter(ctx, "FollowSources"); err != nil {
		return leaderboard.DeriveStep{}, err
	}
	b, own, sources, err := m.derived(board)
	if err != nil {
		return leaderboard.DeriveStep{}, err
	}
	step := leaderboard.DeriveStep{State: b.state(sources), Clock: m.clock(), Behind: b.lag(), FromSeq: own.LastSeq}
	members := map[string]bool{}
	for _, entries := range []map[string]leaderboard.Entry{own.entries, own.hiddenEntries} {
		for member := range entries {
			members[member] = true
		}
	}
	now := reflection{rule: *b.Rules.Derive}
	for _, s := range sources {
		seq := int64(0)
		if s.period != nil {
			for member := range s.period.entries {
				members[member] = true
			}
			seq = s.period.LastSeq
		}
		now.periods, now.seqs = append(now.periods, s.period), append(now.seqs, seq)
	}
	var changes []leaderboard.Change
	for _, member := range slices.Sorted(maps.Keys(members)) {
		entries := own.entries
		if m.isHidden(b.ID, member) {
			entries = own.hiddenEntries
		}
		if c := derive(entries, b.Rules.Derive, member, sources); c != nil && !m.isHidden(b.ID, member) {
			changes = append(changes, *c)
		}
	}
	m.commit(b, own, changes)
	b.reflected = &now
	step.Rows, step.ToSeq = int64(len(changes)), own.LastSeq
	return step, nil
}

// derive gives a member the entry that the sources make, and returns the change, if any.
func derive(own map[string]leaderboard.Entry, rule *leaderboard.Derive, member string, sources []modelSource) *leaderboard.Change {
	var parts []leaderboard.Part
	for _, s := range sources {
		if s.period == nil {
			continue
		}
		if e, ok := s.period.entries[member]; ok {
			parts = append(parts, leaderboard.Part{Weight: s.Weight, Score: e.Score, CreatedTime: e.CreatedTime})
		}
	}
	c := leaderboard.Change{Member: member}
	if old, ok := own[member]; ok {
		c.Old = &old
	}
	if e, ok := rule.Combine(member, parts, len(sources)); ok {
		c.New = &e
	}
	if reflect.DeepEqual(c.Old, c.New) {
		return nil
	}
	if c.New == nil {
		delete(own, member)
	} else {
		own[member] = *c.New
	}
	return &c
}

// Recompute is the model of derived.Stepper.Recompute.
func (m *Model) Recompute(ctx context.Context, board string) (leaderboard.DeriveStep, error) {
	return m.FollowSources(ctx, board, true)
}

func (b *modelBoard) state(sources []modelSource) leaderboard.DerivationState {
	if b.reflected == nil || !reflect.DeepEqual(b.reflected.rule, *b.Rules.Derive) {
		return leaderboard.DerivationStateComputing
	}
	weighed := map[modelPart]int{}
	for i, p := range b.reflected.periods {
		weighed[modelPart{p, sources[i].Weight}]++ // the rule is the same, with the same number of sources
	}
	for _, s := range sources {
		weighed[modelPart{s.period, s.Weight}]--
	}
	for _, n := range weighed {
		if n != 0 {
			return leaderboard.DerivationStateRolling
		}
	}
	return leaderboard.DerivationStateFollowing
}

type modelPart struct {
	period *modelPeriod
	weight int64
}

func (b *modelBoard) lag() (n int64) {
	if b.reflected == nil {
		return 0
	}
	for i, p := range b.reflected.periods {
		if p != nil {
			n += p.LastSeq - b.reflected.seqs[i]
		}
	}
	return n
}

// Derivation is the model of derived.Stepper.Derivation, without the sources that have left.
func (m *Model) Derivation(ctx context.Context, board string) (leaderboard.Derivation, error) {
	defer m.leave()
	if err := m.enter(ctx, "Derivation"); err != nil {
		return leaderboard.Derivation{}, err
	}
	b, own, sources, err := m.derived(board)
	if err != nil {
		return leaderboard.Derivation{}, err
	}
	out := leaderboard.Derivation{Board: b.Name, Revision: own.Revision(), State: b.state(sources), Lag: b.lag()}
	for _, s := range sources {
		told := leaderboard.SourceState{
			Board: s.Board, Window: s.Window, Period: s.Name, Weight: s.Weight, Condition: s.Condition(s.period != nil && s.period.LastSeq > 0),
		}
		if s.period != nil {
			told.LastSeq = s.period.LastSeq
			if i := slices.Index(b.reflectedPeriods(), s.period); i >= 0 && out.State != leaderboard.DerivationStateComputing {
				told.Seq = b.reflected.seqs[i]
			}
		}
		out.Sources = append(out.Sources, told)
	}
	out.State = out.State.With(out.Sources)
	return out, nil
}

func (b *modelBoard) reflectedPeriods() []*modelPeriod {
	if b.reflected == nil {
		return nil
	}
	return b.reflected.periods
}

// VerifySources is the model of derived.Stepper.VerifySources; the model is always right.
func (m *Model) VerifySources(ctx context.Context, board string) (leaderboard.Verification, error) {
	d, err := m.Derivation(ctx, board)
	return leaderboard.Verification{Equal: err == nil && d.State != leaderboard.DerivationStateComputing, Seq: d.Seq}, err
}

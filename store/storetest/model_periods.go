package storetest

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"leaderboard/leaderboard"
)

// current returns the board's current periods, in the order of its windows. It closes periods that have ended and begins
// missing ones.
func (m *Model) current(b *modelBoard) []*modelPeriod {
	now := m.clock()
	m.closeEnded(b)
	var current []*modelPeriod
	for _, w := range b.Rules.Windows {
		p := b.open(w, now)
		if p == nil {
			p = m.begin(b, w, now)
		}
		if p != nil {
			current = append(current, p)
		}
	}
	return current
}

func (m *Model) closeEnded(b *modelBoard) {
	for _, p := range b.periods {
		if p.EndsAt <= m.clock() {
			p.State = leaderboard.PeriodStateClosed
		}
	}
}

// open returns the latest open period of a window that is not in the future, or nil.
func (b *modelBoard) open(w leaderboard.Window, now leaderboard.Micros) *modelPeriod {
	var latest *modelPeriod
	for _, p := range b.periods {
		if p.Window == w && p.State == leaderboard.PeriodStateOpen && p.StartsAt <= now+leaderboard.ClockBack && (latest == nil || latest.precedes(p, now)) {
			latest = p
		}
	}
	return latest
}

// precedes reports whether the other one of two open periods of a window is current: a period that has begun goes first.
func (p *modelPeriod) precedes(other *modelPeriod, now leaderboard.Micros) bool {
	if begun := other.StartsAt <= now; begun != (p.StartsAt <= now) {
		return begun
	}
	return other.StartsAt > p.StartsAt
}

func (m *Model) begin(b *modelBoard, w leaderboard.Window, now leaderboard.Micros) *modelPeriod {
	cal, err := b.Rules.Calendar()
	if err != nil {
		return nil // the rules were checked
	}
	span, ok := cal.At(w, now)
	if !ok {
		return nil
	}
	if i := slices.IndexFunc(b.periods, func(p *modelPeriod) bool { return p.Window == w && p.StartsAt == span.StartsAt }); i >= 0 {
		p := b.periods[i] // closed by a clock that was ahead
		p.State = leaderboard.PeriodStateOpen
		m.runs = append(m.runs, leaderboard.Run{
			ID: m.nextID(), BoardID: b.ID, PeriodID: p.ID, Kind: leaderboard.RunKindReopen, Reason: leaderboard.RunReasonClock,
			State: leaderboard.RunStateDone, FromSeq: p.LastSeq, ToSeq: p.LastSeq, StartedAt: now,
		})
		return p
	}
	p := &modelPeriod{entries: map[string]leaderboard.Entry{}, hiddenEntries: map[string]leaderboard.Entry{}, metadata: map[string]string{}}
	p.Period = leaderboard.Period{
		ID: m.nextID(), Incarnation: leaderboard.NewIncarnation(rand.Uint64), BoardID: b.ID, Window: w, Label: span.Name, StartsAt: span.StartsAt, EndsAt: span.EndsAt,
		State: leaderboard.PeriodStateOpen, Committed: now,
	}
	b.periods = append(b.periods, p)
	m.periods[p.ID] = p
	return p
}

// dropUnused takes the calendar periods of a board away; false when one of them was used.
func (m *Model) dropUnused(b *modelBoard) (ok bool) {
	return m.drop(b, func(p *modelPeriod) bool {
		return p.Window != leaderboard.WindowAllTime && p.Window != leaderboard.WindowSeason
	}) == nil
}

// conflict returns the conflict of the board's content with other rules, a nil error without one; unused periods make way.
func (m *Model) conflict(b *modelBoard, rules *leaderboard.Rules) error {
	if fixed := b.Rules.FixedByEntries(rules); fixed != nil {
		if slices.ContainsFunc(b.periods, func(p *modelPeriod) bool { return len(p.entries) > 0 }) {
			return &leaderboard.ConflictError{Reason: "the board has entries", Fields: fixed}
		}
		if slices.ContainsFunc(b.periods, func(p *modelPeriod) bool { return len(p.hiddenEntries) > 0 }) {
			return &leaderboard.ConflictError{Reason: "the board has entries of hidden members", Fields: fixed}
		}
	}
	if fixed := b.Rules.FixedByPeriods(rules); fixed != nil && !m.dropUnused(b) {
		return &leaderboard.ConflictError{Reason: "calendar periods of the board were used", Fields: fixed}
	}
	if used := m.dropSeasons(b, rules.Seasons); used != nil {
		return leaderboard.SeasonConflict(used...)
	}
	return nil
}

// dropSeasons takes the seasons away that are not as the rules say, unless some of these were used.
func (m *Model) dropSeasons(b *modelBoard, seasons []leaderboard.SeasonRule) (used []leaderboard.SeasonRule) {
	return m.drop(b, func(p *modelPeriod) bool {
		return p.Window == leaderboard.WindowSeason && !slices.ContainsFunc(seasons, func(s leaderboard.SeasonRule) bool {
			return s.Name == p.Name() && s.StartsAt == p.StartsAt && s.EndsAt == p.EndsAt
		})
	})
}

// drop takes periods away, or none if some were used.
func (m *Model) drop(b *modelBoard, which func(*modelPeriod) bool) (used []leaderboard.SeasonRule) {
	for _, p := range b.periods {
		if which(p) && (p.LastSeq > 0 || len(p.hiddenEntries) > 0) {
			used = append(used, leaderboard.SeasonRule{Name: p.Name(), StartsAt: p.StartsAt, EndsAt: p.EndsAt})
		}
	}
	if used != nil {
		slices.SortFunc(used, func(a, b leaderboard.SeasonRule) int { return cmp.Compare(a.StartsAt, b.StartsAt) })
		return used
	}
	for _, p := range b.periods {
		if which(p) {
			delete(m.periods, p.ID)
		}
	}
	b.periods = slices.DeleteFunc(b.periods, which)
	return nil
}

// sweep closes periods that ended ten seconds ago, and forgets closed periods that the board does not keep.
func (m *Model) sweep(b *modelBoard) {
	closed := map[leaderboard.Window][]*modelPeriod{}
	for _, p := range b.periods {
		if p.EndsAt <= m.clock()-10_000_000 {
			p.State = leaderboard.PeriodStateClosed
		}
		if p.State == leaderboard.PeriodStateClosed {
			closed[p.Window] = append(closed[p.Window], p)
		}
	}
	for w, kept := range b.Rules.Keep {
		slices.SortFunc(closed[w], func(a, b *modelPeriod) int { return cmp.Compare(b.StartsAt, a.StartsAt) })
		for _, p := range closed[w][min(kept, len(closed[w])):] {
			delete(m.periods, p.ID)
			b.periods = slices.DeleteFunc(b.periods, func(o *modelPeriod) bool { return o == p })
		}
	}
}

// Current is the model of store.Boards.Current.
func (m *Model) Current(ctx context.Context, name string) (leaderboard.Listing, error) {
	defer m.leave()
	if err := m.enter(ctx, "Current"); err != nil {
		return leaderboard.Listing{}, err
	}
	b := m.boards[name]
	if b == nil {
		return leaderboard.Listing{}, leaderboard.ErrBoardNotFound
	}
	l := leaderboard.Listing{Board: b.Board, Clock: m.clock()}
	for _, p := range m.current(b) {
		l.Periods = append(l.Periods, p.Period)
	}
	return l, nil
}

// CurrentPeriod is the model of store.Boards.CurrentPeriod.
func (m *Model) CurrentPeriod(ctx context.Context, b leaderboard.Board, w leaderboard.Window) (leaderboard.Period, error) {
	defer m.leave()
	if err := m.enter(ctx, "CurrentPeriod"); err != nil {
		return leaderboard.Period{}, err
	}
	if own := m.boards[b.Name]; own != nil && own.ID == b.ID && slices.Contains(own.Rules.Windows, w) {
		if p := own.open(w, m.clock()); p != nil && p.EndsAt > m.clock() {
			return p.Period, nil
		}
	}
	return leaderboard.Period{}, leaderboard.ErrPeriodNotFound
}

// PeriodNamed is the model of store.Boards.PeriodNamed.
func (m *Model) PeriodNamed(ctx context.Context, boardID int64, w leaderboard.Window, name string) (leaderboard.Period, error) {
	defer m.leave()
	if err := m.enter(ctx, "PeriodNamed"); err != nil {
		return leaderboard.Period{}, err
	}
	for _, p := range m.periods {
		if p.BoardID == boardID && p.Window == w && p.Name() == name {
			return p.Period, nil
		}
	}
	return leaderboard.Period{}, leaderboard.ErrPeriodNotFound
}

// FirstPeriod is the model of store.Boards.FirstPeriod.
func (m *Model) FirstPeriod(ctx context.Context, boardID int64, w leaderboard.Window) (leaderboard.Period, error) {
	defer m.leave()
	if err := m.enter(ctx, "FirstPeriod"); err != nil {
		return leaderboard.Period{}, err
	}
	var first *modelPeriod
	for _, p := range m.periods {
		if p.BoardID == boardID && p.Window == w && (first == nil || p.StartsAt < first.StartsAt) {
			first = p
		}
	}
	if first == nil {
		return leaderboard.Period{}, leaderboard.ErrPeriodNotFound
	}
	return first.Period, nil
}

// Period is the model of store.Boards.Period.
func (m *Model) Period(ctx context.Context, id int64) (leaderboard.Period, error) {
	defer m.leave()
	if err := m.enter(ctx, "Period"); err != nil {
		return leaderboard.Period{}, err
	}
	if p := m.periods[id]; p != nil {
		return p.Period, nil
	}
	return leaderboard.Period{}, leaderboard.ErrPeriodNotFound
}

// Periods is the model of store.Boards.Periods.
func (m *Model) Periods(ctx context.Context, boardID int64, w leaderboard.Window, before int64, limit int) ([]leaderboard.Period, error) {
	defer m.leave()
	if err := m.enter(ctx, "Periods"); err != nil {
		return nil, err
	}
	periods := []leaderboard.Period{}
	for _, p := range m.periods {
		if p.BoardID == boardID && (w == "" || p.Window == w) && (before == 0 || p.ID < before) {
			periods = append(periods, p.Period)
		}
	}
	slices.SortFunc(periods, func(a, b leaderboard.Period) int { return cmp.Compare(b.ID, a.ID) })
	return periods[:min(limit, len(periods))], nil
}

// PeriodsBefore is the model of store.Boards.PeriodsBefore.
func (m *Model) PeriodsBefore(ctx context.Context, boardID int64, w leaderboard.Window, before leaderboard.Micros, limit int) ([]leaderboard.Period, error) {
	defer m.leave()
	if err := m.enter(ctx, "PeriodsBefore"); err != nil {
		return nil, err
	}
	var periods []leaderboard.Period
	for _, p := range m.periods {
		if p.BoardID == boardID && p.Window == w && p.StartsAt < before {
			periods = append(periods, p.Period)
		}
	}
	slices.SortFunc(periods, func(a, b leaderboard.Period) int { return cmp.Compare(b.StartsAt, a.StartsAt) })
	return periods[:min(limit, len(periods))], nil
}

package read

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// combined is one state of several periods that are ranked as one, seen in one REPEATABLE READ transaction. The number
// of entries ahead of a place is the sum of those ahead of it in each period, which the rank index of each knows:
// nothing has to be added up that grows with the boards.
type combined struct {
	reader *Reader
	q      db.Querier
	views  []*view // in the order asked for, that of the boards' names
	total  int64
	last   func() // called before what is counted last, when nothing is asked after that; nil: something may be
}

// CombinedPage implements leaderboard.CombinedRankings.
func (s *Reader) CombinedPage(ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	q.Limit, q.Offset = min(max(q.Limit, 0), maxPage), max(q.Offset, 0)
	var page *leaderboard.CombinedPage
	err := s.merge(ctx, periods, q.Mode, func(m *combined) (err error) {
		page, err = m.page(ctx, q)
		return err
	})
	if err != nil {
		return nil, db.Translate(ctx, "page of several boards", err)
	}
	return page, nil
}

// CombinedMember implements leaderboard.CombinedRankings.
func (s *Reader) CombinedMember(ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (*leaderboard.CombinedStandings, error) {
	var out *leaderboard.CombinedStandings
	err := s.merge(ctx, periods, q.Mode, func(m *combined) (err error) {
		out, err = m.member(ctx, q.Member)
		return err
	})
	if err != nil {
		return nil, db.Translate(ctx, "member of several boards", err)
	}
	return out, nil
}

// merge runs fn on one state of all periods. fn may run several times. Periods that move on faster than they can be
// read are ErrOverloaded.
func (s *Reader) merge(ctx context.Context, periods []leaderboard.PeriodRef, mode leaderboard.Mode, fn func(*combined) error) error {
	if broken := leaderboard.CheckCombined(periods, mode); broken != nil {
		return broken
	}
	var err error
	for range attempts {
		s.reads.looks.Add(1)
		if err = s.mergeOnce(ctx, periods, fn); !errors.Is(err, errMoved) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", leaderboard.ErrOverloaded, err)
}

func (s *Reader) mergeOnce(ctx context.Context, periods []leaderboard.PeriodRef, fn func(*combined) error) error {
	tx, err := s.db.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	m := &combined{reader: s, q: tx}
	for _, ref := range periods {
		m.views = append(m.views, &view{
			reader: s, q: tx, last: func() {}, ref: ref, codec: rank.CodecOf(ref.Rules),
		})
	}
	defer m.end()
	if err := m.look(ctx); err != nil {
		return err
	}
	return fn(m)
}

// end gives back what the views hold. What is to become of an index after an error is decided where the error is found:
// it is the fault of one of them.
func (m *combined) end() {
	for _, v := range m.views {
		_ = v.done(nil)
	}
}

// look reads the states of all views, in one statement.
func (m *combined) look(ctx context.Context) error {
	byID := make(map[int64]*view, len(m.views))
	for _, v := range m.views {
		byID[v.ref.ID] = v
	}
	rows, err := m.q.QueryContext(ctx, m.reader.db.Limited(m.lookText()))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			id   int64
			asOf time.Time
			st   = leaderboard.State{Source: leaderboard.SourceMySQL}
		)
		if err := rows.Scan(&id, &st.Incarnation, &st.Seq, &asOf, &st.Total); err != nil {
			return err
		}
		st.AsOf = leaderboard.MicrosOf(asOf)
		if st.Incarnation != byID[id].ref.Incarnation {
			return leaderboard.ErrPeriodNotFound
		}
		if st.Seq < byID[id].ref.LastSeq {
			return seqAhead(st.Seq, byID[id].ref.LastSeq)
		}
		byID[id].setState(st)
		m.total += st.Total
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, v := range m.views {
		if !v.hasState {
			return leaderboard.ErrPeriodNotFound
		}
	}
	return nil
}

func (m *combined) lookText() string {
	t := (&db.Text{}).Str("SELECT p.id, " + entries.StateColumns + " FROM periods p WHERE p.id IN (")
	for i, v := range m.views {
		t.Comma(i).Int(v.ref.ID)
	}
	return t.Str(") AND p.state <> 'deleting' LIMIT ").Int(int64(len(m.views))).String()
}

func (m *combined) states() []leaderboard.State {
	out := make([]leaderboard.State, len(m.views))
	for i, v := range m.views {
		out[i] = v.state
	}
	return out
}

// prepare chooses how to count in each period. Indexes that have to be loaded first are loaded side by side; one permit
// to scan is enough for all periods that have none, since they are scanned one after the other.
func (m *combined) prepare(ctx context.Context) error {
	if m.views[0].prepared {
		return nil
	}
	var loading sync.WaitGroup
	for _, v := range m.views {
		if x := m.reader.indexes; x.Wanted(v.state.Total) && x.Ready(v.ref) == nil {
			loading.Go(func() { v.choose(ctx) })
		} else {
			v.choose(ctx)
		}
	}
	loading.Wait()
	for _, v := range m.views {
		if err := v.reach(ctx); err != nil {
			return v.done(err)
		}
	}
	turn := func() {}
	for _, v := range m.views {
		if err := v.admitScan(ctx); err != nil {
			return err
		}
		if v.scanned != nil {
			turn, v.scanned = v.scanned, nil
			break
		}
	}
	for i, v := range m.views {
		if v.scanned = func() {}; i == 0 {
			v.scanned = turn
		}
	}
	return nil
}

// counting is what is asked of one period, see view.locate.
type counting struct {
	spans  []rank.Span
	at     rank.State
	counts []entries.Count
}

// ahead counts for each period the entries ahead of each of the keys given for it, which are what beforeKey takes, in
// ascending order and all different: one statement for up to countsPerQuery counts, however many periods they are in.
func (m *combined) ahead(ctx context.Context, keys [][]rank.Key) ([][]int64, error) {
	if err := m.prepare(ctx); err != nil {
		return nil, err
	}
	asked := make([]counting, len(m.views))
	counts := &countText{combined: m}
	for i, v := range m.views {
		c := &asked[i]
		var err error
		if c.spans, c.at, err = v.spans(keys[i], rank.Span{}); err != nil {
			return nil, v.done(err)
		}
		if c.counts, err = entries.Counts(keys[i], c.spans); err != nil {
			return nil, err
		}
		for j := range c.counts {
			if err := counts.add(ctx, &c.counts[j], v.ref.ID); err != nil {
				return nil, err
			}
		}
	}
	if m.last != nil {
		m.last()
	}
	if err := counts.flush(ctx); err != nil {
		return nil, err
	}
	out := make([][]int64, len(m.views))
	for i, v := range m.views {
		c, n := &asked[i], len(asked[i].counts)
		var err error
		if out[i], err = v.sumUp(keys[i], c.spans, c.at, counts.found[:n]); err != nil {
			return nil, v.done(err)
		}
		counts.found = counts.found[n:]
	}
	return out, nil
}

// countText gathers counts of several periods into statements.
type countText struct {
	*combined
	t     db.Text
	n     int // counts in t
	found []entries.Counted
}

func (c *countText) add(ctx context.Context, what *entries.Count, periodID int64) error {
	if c.n == 0 {
		c.t.Reset()
		c.t.Str("SELECT 1")
	}
	what.Subquery(&c.t, periodID)
	if c.n++; c.n < countsPerQuery {
		return nil
	}
	return c.flush(ctx)
}

func (c *countText) flush(ctx context.Context) error {
	if c.n == 0 {
		return nil
	}
	var one int
	counts, dest := make([]int64, c.n), []any{&one}
	for i := range counts {
		dest = append(dest, &counts[i])
	}
	c.n = 0
	if err := c.q.QueryRowContext(ctx, c.reader.db.Limited(c.t.String())).Scan(dest...); err != nil {
		return err
	}
	for _, n := range counts {
		c.found = append(c.found, entries.Unpack(n))
	}
	return nil
}

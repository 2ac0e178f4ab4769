// Package read answers questions about the entries of periods, each exact at the state that it reports: pages, members,
// scores, distributions, combined rankings, and whole periods. The data for one answer, or for the answers of one batch, are
// read in a REPEATABLE READ, READ ONLY transaction, which sees one state.
//
// Read view.go (a period in such a transaction), then ask.go (a batch of questions) with page.go, count.go, dense.go and
// moves.go (their parts) and scans.go (counting without a rank index). The other files are questions of another kind.
package read

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/index"
)

// Reader answers questions about the entries of periods. All methods may be called concurrently.
type Reader struct {
	db      *mysql.DB
	indexes *index.Indexes
	target  int          // entries that a bucket of an index is meant to have
	kept    entries.Kept // nil: nothing keeps anything with entries
	scans   *scans
	reads   reads
}

// reads counts what Reads returns.
type reads struct{ transactions, scans, repeats atomic.Int64 }

// New returns a Reader. target is the number of entries per bucket of an index; kept may be nil.
func New(d *mysql.DB, x *index.Indexes, target int, kept entries.Kept) *Reader {
	return &Reader{db: d, indexes: x, target: target, kept: kept, scans: newScans(d.Config.StatementTimeout)}
}

// Reads are the transactions that answers took since the start.
type Reads struct {
	Transactions int64
	Scans        int64 // of these, counts by scanning a period that should have a rank index
	Repeats      int64 // of these, attempts in vain because the period changed
}

// Reads returns how many transactions answers took.
func (s *Reader) Reads() Reads {
	return Reads{s.reads.transactions.Load(), s.reads.scans.Load(), s.reads.repeats.Load()}
}

// looking is a transaction, which sees one state of all periods.
type looking struct {
	reader *Reader
	q      mysql.Querier
	last   func() // marks the next statement as the last one
	scans  bool   // it has the permit to scan
}

// view is one state of one period.
type view struct {
	*looking
	ref   leaderboard.PeriodRef
	codec rank.Codec

	state    leaderboard.State
	hasState bool // state is known
	floor    int64
	index    *index.Tracker // nil: count by scanning
	missing  *index.Missing // of a period without the index that it should have
	prepared bool           // index is chosen, and has got as far as state
	known    counted        // without an index: the counts so far
}

// errMoved means that the index does not reach the state that was seen. Another attempt helps.
var errMoved = errors.New("store: the period moved on while it was read")

// attempts is how often look tries.
const attempts = 3

// read runs fn on one state of a period, see look.
func (s *Reader) read(ctx context.Context, ref leaderboard.PeriodRef, fn func(*view) error) error {
	return s.look(ctx, []leaderboard.PeriodRef{ref}, func(views []*view) error { return views[0].fault(fn(views[0])) })
}

// look runs fn on one state of periods. fn may run several times; it looks at the views only. ErrOverloaded: periods change
// faster than they can be read, or lack an index when it is not their turn to be scanned.
func (s *Reader) look(ctx context.Context, periods []leaderboard.PeriodRef, fn func([]*view) error) (err error) {
	var permit *scan
	var until time.Time // until when it waits for an index
	defer func() { permit.end(err) }()
	for moved := 0; moved < attempts; {
		s.reads.transactions.Add(1)
		err = s.lookOnce(ctx, periods, permit != nil, fn)
		lacks, ok := errors.AsType[*errMissing](err)
		switch {
		case ok:
			if until.IsZero() {
				until = leave(ctx)
			}
			if permit, err = s.scans.admit(ctx, lacks.index, until); err != nil {
				return err
			}
			if permit != nil {
				s.reads.scans.Add(1)
			}
		case errors.Is(err, errMoved):
			s.reads.repeats.Add(1)
			moved++
		default:
			return err
		}
	}
	return fmt.Errorf("%w: %w", leaderboard.ErrOverloaded, err)
}

func (s *Reader) lookOnce(ctx context.Context, periods []leaderboard.PeriodRef, scans bool, fn func([]*view) error) (err error) {
	l, views := &looking{reader: s, scans: scans}, make([]*view, len(periods))
	for i, ref := range periods {
		views[i] = &view{looking: l, ref: ref, codec: rank.CodecOf(ref.Rules)}
		if !ref.HasRow() {
			views[i].setState(leaderboard.StateWithoutRow(&ref))
			views[i].prepared = true
		} else if t := s.indexes.Ready(ref); t != nil {
			views[i].floor = t.At().Seq
		}
	}
	look, err := s.db.Look(ctx)
	if err != nil {
		return err
	}
	defer func() { look.End(err != nil) }()
	l.q, l.last = look, look.Last
	return fn(views)
}

// fault returns the consequence of an index's error for the answer: an unusable index is dropped, and the answer is read
// without it.
func (v *view) fault(err error) error {
	if err == nil || v.index == nil || errors.Is(err, errMoved) {
		return err
	}
	switch {
	case errors.Is(err, leaderboard.ErrPeriodNotFound), index.IsUseless(err):
		v.reader.indexes.Drop(v.index, err)
	case errors.Is(err, index.ErrTooOld), errors.Is(err, index.ErrBehind):
	default:
		return err
	}
	if errors.Is(err, leaderboard.ErrPeriodNotFound) {
		return err
	}
	return fmt.Errorf("%w: %w", errMoved, err)
}

// look reads the state, and with it the keys of the members that have an entry, in order. It is the first statement.
func (v *view) look(ctx context.Context, members []string) ([]rank.Key, error) {
	if v.hasState {
		return nil, nil
	}
	r, err := (&entries.Query{Members: members}).Run(ctx, v.reader.db, v.q, v.ref.ID)
	if err == nil && r.State.Incarnation != v.ref.Incarnation { // the id is another period's since a restore
		err = leaderboard.ErrPeriodNotFound
	}
	if err != nil {
		return nil, err
	}
	v.setState(r.State)
	return r.Keys[0], nil
}

func (v *view) setState(state leaderboard.State) { v.state, v.hasState = state, true }

// prepare chooses how to count in each period: with its index, if any, which it brings to the state of the view.
func prepare(ctx context.Context, views []*view) error {
	for _, v := range views {
		if !v.prepared {
			v.index, v.missing = v.reader.indexes.Need(v.ref, v.state.Total)
		}
	}
	for _, v := range views {
		if v.prepared {
			continue
		}
		if err := v.reach(ctx); err != nil {
			return v.fault(err)
		}
	}
	return nil
}

// reach brings the index to the state of the view. An index that was ahead of the database before the statement is of another
// incarnation.
func (v *view) reach(ctx context.Context) error {
	v.prepared = true
	if v.index == nil {
		return nil
	}
	if v.state.Seq < v.floor {
		return fmt.Errorf("%w: the index was at seq %d before the database answered at %d", rank.ErrDiverged, v.floor, v.state.Seq)
	}
	return v.reader.indexes.Reach(ctx, v.index, v.q, index.RankState(v.state))
}

// mayScan returns an error when the view would be counted by scanning a large period, and has no permit for that.
func (v *view) mayScan() error {
	if v.missing == nil || v.scans {
		return nil
	}
	return &errMissing{v.missing}
}

package store

import (
	"context"
	"errors"
	"fmt"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
)

// view is one state of one period, read in several statements: in a transaction that sees nothing else, or one by one,
// which saves four round trips; then numbers are carried to the state of the view, see indexes.
type view struct {
	store    *Store
	q        db.Querier
	ref      leaderboard.PeriodRef
	codec    rank.Codec
	minSeq   int64
	snapshot bool // q is a transaction

	state    leaderboard.State
	settled  bool     // state is known
	index    *tracker // nil: count by scanning
	prepared bool     // index is chosen
	scanned  func()   // ends the turn to scan, nil without one
}

// errNeedsSnapshot: what was asked cannot be carried from state to state.
var errNeedsSnapshot = errors.New("store: this takes a transaction")

// Attempts of read: with single statements, then in a transaction.
const (
	lightAttempts    = 2
	snapshotAttempts = 3
)

// read runs fn on one state of the period, at least minSeq. fn may run several times; it looks at the view only. A
// period that moves on faster than it can be read is ErrOverloaded.
func (s *Store) read(ctx context.Context, ref leaderboard.PeriodRef, minSeq int64, fn func(*view) error) error {
	v := view{store: s, ref: ref, codec: rank.CodecOf(ref.Rules), minSeq: minSeq}
	var err error
	for range lightAttempts {
		light := v
		light.q = s.db
		if err = light.done(fn(&light)); err == nil {
			s.indexes.reads.single.Add(1)
		}
		if errors.Is(err, errNeedsSnapshot) {
			break
		}
		if !errors.Is(err, errMoved) {
			return err
		}
		s.indexes.reads.moved.Add(1)
	}
	for range snapshotAttempts {
		s.indexes.reads.snapshot.Add(1)
		if err = s.view(ctx, v, fn); !errors.Is(err, errMoved) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", leaderboard.ErrOverloaded, err)
}

// view runs fn on a REPEATABLE READ, READ ONLY transaction, whose snapshot its first statement takes.
func (s *Store) view(ctx context.Context, v view, fn func(*view) error) error {
	tx, err := s.db.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	v.q, v.snapshot = tx, true
	if _, err := v.look(ctx, question{}); err != nil {
		return err
	}
	return v.done(fn(&v))
}

// done ends the view. An index that turned out useless is dropped, and the answer put together without it.
func (v *view) done(err error) error {
	if v.scanned != nil {
		v.scanned()
		v.scanned = nil
	}
	if err == nil || v.index == nil {
		return err
	}
	switch {
	case errors.Is(err, leaderboard.ErrPeriodNotFound), isUseless(err):
		v.store.indexes.drop(v.index, err)
	case errors.Is(err, errTooOld), errors.Is(err, errBehind):
	default:
		return err
	}
	if errors.Is(err, leaderboard.ErrPeriodNotFound) {
		return err
	}
	return fmt.Errorf("%w: %w", errMoved, err)
}

// look asks a question. The first one decides the state of the view, the others must find the same.
func (v *view) look(ctx context.Context, qu question) (reply, error) {
	r, err := v.store.ask(ctx, v.q, v.ref.ID, qu)
	if err != nil {
		return r, err
	}
	if v.settled {
		if r.state != v.state {
			return r, errMoved
		}
		return r, nil
	}
	return r, v.settle(r.state)
}

// keys reads entries without the state, which is known; that makes for a statement that is planned in half the time.
func (v *view) keys(ctx context.Context, sc scan) ([]rank.Key, error) {
	t := (&db.Text{}).Str("SELECT member, score, tiebreak, created_at")
	sc.from(t, v.ref.ID)
	rows, err := v.q.QueryContext(ctx, v.store.db.Limited(t.String()))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []rank.Key
	err = scanEntries(rows, rank.Codec{}, func(e leaderboard.Entry) { keys = append(keys, rank.Codec{}.Key(e)) })
	return keys, err
}

func (v *view) settle(state leaderboard.State) error {
	v.state, v.settled = state, true
	if state.Seq < v.minSeq {
		return fmt.Errorf("%w: it is at %d, not at %d", leaderboard.ErrSeqAhead, state.Seq, v.minSeq)
	}
	return nil
}

// prepare chooses how to count: with the index of the period, if it has one. An index that is at hand is taken without
// knowing how large the period is, which saves a round trip.
func (v *view) prepare(ctx context.Context) error {
	if v.prepared {
		return nil
	}
	if v.index = v.store.indexes.ready(v.ref.ID); v.index == nil {
		if !v.settled {
			if _, err := v.look(ctx, question{}); err != nil {
				return err
			}
		}
		v.index = v.store.indexes.use(ctx, v.ref, v.state.Total)
	}
	v.prepared = true
	return nil
}

// turn waits for the right to count by scanning, for a period that is large enough to have an index and has none.
func (v *view) turn(ctx context.Context) (err error) {
	if v.index != nil || v.scanned != nil || !v.store.indexes.wanted(v.state.Total) {
		return nil
	}
	if !v.snapshot {
		return errNeedsSnapshot // the scan takes long, and numbers can be carried with an index only
	}
	v.store.indexes.reads.scanned.Add(1)
	v.scanned, err = v.store.indexes.scan(ctx)
	return err
}

// member is the key of a member's entry; ErrNotRanked when there is none.
func (v *view) member(ctx context.Context, member string) (rank.Key, error) {
	keys, err := v.members(ctx, []string{member})
	if err == nil && len(keys) == 0 {
		err = leaderboard.ErrNotRanked
	}
	if err != nil {
		return "", err
	}
	return keys[0], nil
}

// members are the keys of the members that have an entry, in order.
func (v *view) members(ctx context.Context, members []string) ([]rank.Key, error) {
	var possible []string
	for _, m := range members {
		if leaderboard.CheckMember(m) == nil {
			possible = append(possible, m)
		}
	}
	r, err := v.look(ctx, question{members: possible})
	if err != nil {
		return nil, err
	}
	return r.keys[0], nil
}

package index

import (
	"context"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Status is the state of the rank index of a period.
type Status struct {
	// PeriodSeq and Entries are the state of the period.
	PeriodSeq int64
	Entries   int64
	// Saved reports whether an index is saved in the database and can be read; the fields below belong to it. Damaged
	// describes the fault of an index that cannot be read.
	Saved   bool
	Damaged string
	// Building: the saved index is a build under way, or interrupted; Counted are the entries in its buckets.
	Building bool
	Counted  int64
	Buckets  int
	Target   int64              // entries that a bucket is meant to have
	Seq      int64              // the state that it is true at; the log leads from there to PeriodSeq
	Bytes    int64              // as saved
	SavedAt  leaderboard.Micros // database clock
	// Loaded reports whether this process has an index in memory, at LoadedSeq.
	Loaded    bool
	LoadedSeq int64
}

// Status reports on the rank index of a period. Errors: ErrPeriodNotFound, ErrUnavailable.
func (x *Indexes) Status(ctx context.Context, ref leaderboard.PeriodRef) (Status, error) {
	state, err := x.stateOf(ctx, x.db.Pool, ref)
	if err != nil {
		return Status{}, mysql.Translate(ctx, "index status", err)
	}
	st := Status{PeriodSeq: state.Seq, Entries: state.Total}
	at, _, loaded := x.Loaded(ref)
	st.Loaded, st.LoadedSeq = loaded, at.Seq
	saved, err := x.saved.read(ctx, ref)
	if err != nil {
		return st, mysql.Translate(ctx, "index status", err)
	}
	if saved != nil {
		st.describe(saved)
	}
	return st, nil
}

func (st *Status) describe(saved *savedIndex) {
	st.Bytes, st.SavedAt = int64(len(saved.payload)), saved.savedAt
	if !saved.whole {
		st.Damaged = "rows are missing, or belong to different indexes"
		return
	}
	if index, err := rank.Decode(saved.payload); err == nil {
		st.Saved, st.Buckets, st.Target, st.Seq = true, index.Len(), index.Target(), index.At().Seq
		st.Counted = index.At().Total
		return
	}
	b, err := rank.Resume(saved.payload)
	if err != nil {
		st.Damaged = err.Error()
		return
	}
	st.Saved, st.Building, st.Target, st.Seq, st.Counted = true, true, b.Target(), b.At().Seq, b.Counted()
}

// Loaded returns the state of the index of a period that is in memory, and its number of buckets; false without an index.
func (x *Indexes) Loaded(ref leaderboard.PeriodRef) (at rank.State, buckets int, ok bool) {
	t := x.peek(ref)
	if t == nil {
		return at, 0, false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.index.At(), t.index.Len(), true
}

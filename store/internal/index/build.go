package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

const (
	// buildSlice is the default of Config.BuildSlice.
	buildSlice = 64
	// buildSave is the default of Config.BuildSave.
	buildSave = 10 * time.Second
)

// buildAlone counts the period in slices of some buckets, each slice in a short transaction that sees one state; the
// builder folds later commits into a bucket. So no snapshot is held open for long, and writers never wait.
func (x *Indexes) buildAlone(ctx context.Context, ref leaderboard.PeriodRef, want BuildRequest) (leaderboard.Run, error) {
	run, err := x.runs.StartRun(ctx, leaderboard.Run{
		BoardID: ref.BoardID, Board: ref.Board, PeriodID: ref.ID, Window: ref.Window, Period: ref.Name,
		Kind: leaderboard.RunKindIndex, Reason: want.Reason, Actor: want.Actor, State: leaderboard.RunStateRunning,
	})
	if err != nil {
		return run, err
	}
	start := time.Now()
	b := &build{indexes: x, ref: ref, want: want, run: run, saved: start}
	index, err := b.work(ctx)
	var t *Tracker
	if err == nil {
		t = newTracker(ref, index, 1)
		x.install(t)
		err = x.save(ctx, t, true)
	}
	run.Rows, run.Took, run.State = b.counted, time.Since(start), leaderboard.RunStateDone
	if t != nil {
		run.ToSeq = t.At().Seq
	}
	if err != nil {
		run.State, run.Error = leaderboard.RunStateFailed, reasonOf(ctx, err)
		x.db.Log.WarnContext(ctx, "a build of a rank index failed", "board", ref.Board, "period", ref.ID, "error", err)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), mysql.TidyTimeout)
	defer cancel()
	recorded, unrecorded := x.runs.FinishRun(end, run)
	switch {
	case err == nil && unrecorded != nil && !errors.Is(unrecorded, leaderboard.ErrRunNotFound):
		err = unrecorded
	case err == nil && unrecorded == nil:
		run = recorded // it has failed if another process has ended the runs of this one
	}
	return run, err
}

// reasonOf returns why a build failed, in words that may be shown to users.
func reasonOf(ctx context.Context, err error) string {
	err = mysql.Translate(ctx, "build index", err)
	switch {
	case ctx.Err() != nil:
		return "the server was stopped"
	case errors.Is(err, leaderboard.ErrPeriodNotFound):
		return "the period no longer exists"
	case errors.Is(err, leaderboard.ErrOverloaded):
		return "it took too long"
	case errors.Is(err, leaderboard.ErrUnavailable):
		return "MySQL does not answer"
	default:
		return "failed, see the log"
	}
}

// build is the state of a build under way. It belongs to one goroutine.
type build struct {
	indexes *Indexes
	ref     leaderboard.PeriodRef
	want    BuildRequest
	run     leaderboard.Run
	builder *rank.Builder
	newest  rank.State // the newest state that a bucket was counted at
	counted int64
	saved   time.Time
}

func (b *build) work(ctx context.Context) (*rank.Index, error) {
	b.resume(ctx)
	for {
		if _, more := b.builder.Next(); !more {
			break
		}
		if err := b.slice(ctx); err != nil {
			return nil, err
		}
		if err := b.checkpoint(ctx); err != nil {
			return nil, err
		}
	}
	return b.builder.Finish()
}

// resume takes up a build that was interrupted, if the log still reaches back to it.
func (b *build) resume(ctx context.Context) {
	x := b.indexes
	b.builder = rank.NewBuilder(x.cfg.Target)
	saved, err := x.saved.read(ctx, b.ref)
	if err != nil || saved == nil || !saved.whole {
		return
	}
	resumed, err := rank.Resume(saved.payload)
	if err != nil || resumed.Target() != b.builder.Target() {
		return
	}
	if _, more := resumed.Next(); !more {
		return // the index is whole, and a new one is wanted
	}
	if _, err := readSteps(ctx, x.db, x.db.Pool, b.ref.ID, resumed.At().Seq, 1, func(st step) error {
		return resumed.Fold(st.codec, st.commit)
	}); err != nil {
		return
	}
	b.builder, b.newest, b.counted = resumed, resumed.At(), resumed.Counted()
}

// slice counts the next buckets at one state.
func (b *build) slice(ctx context.Context) error {
	tx, err := b.indexes.db.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	state, err := b.indexes.stateOf(ctx, tx, b.ref)
	if err != nil {
		return err
	}
	for range b.indexes.cfg.BuildSlice {
		from, more := b.builder.Next()
		if !more {
			break
		}
		if err := b.append(ctx, tx, RankState(state), from); err != nil {
			return err
		}
	}
	return nil
}

// append counts the next bucket: it finds its last entry and the next entry.
func (b *build) append(ctx context.Context, tx *sql.Tx, m rank.State, from rank.Key) error {
	start, err := entries.BeforeKey(from)
	if err != nil {
		return err
	}
	size, to, rest := b.builder.Target(), rank.Key(""), entries.Range{From: start, To: entries.End()}
	last := entries.Scan{Range: rest, Offset: size - 1, Limit: 2}
	keys, err := last.Keys(ctx, b.indexes.db, tx, b.ref.ID)
	if err != nil {
		return err
	}
	if len(keys) == 2 {
		to = entries.Between(keys[0], keys[1])
	} else {
		all := entries.Query{Counts: []entries.Count{{Range: rest}}}
		r, err := all.Run(ctx, b.indexes.db, tx, b.ref.ID)
		if err != nil {
			return err
		}
		size = r.Counts[0].All
	}
	if err := b.builder.Append(m, to, size); err != nil {
		return err
	}
	b.newest, b.counted = m, b.counted+size
	return nil
}

// fold reads the log up to the newest bucket.
func (b *build) fold(ctx context.Context) error {
	d := b.indexes.db
	for b.builder.At().Seq < b.newest.Seq {
		at := b.builder.At().Seq
		n, err := readSteps(ctx, d, d.Pool, b.ref.ID, at, foldCommits, func(st step) error {
			return b.builder.Fold(st.codec, st.commit)
		})
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("%w: at seq %d", rank.ErrDiverged, at)
		}
	}
	return nil
}

// checkpoint keeps the build close to the log, and saves it now and then.
func (b *build) checkpoint(ctx context.Context) error {
	if err := b.fold(ctx); err != nil {
		return err
	}
	b.progress()
	if _, more := b.builder.Next(); !more || time.Since(b.saved) < b.indexes.cfg.BuildSave {
		return nil
	}
	b.saved = time.Now()
	payload, err := b.builder.AppendBinary(nil)
	if err != nil {
		return err
	}
	if err := b.indexes.saved.write(ctx, b.ref, b.builder.At().Seq, payload, true); err != nil {
		return err
	}
	b.run.Rows = b.counted
	_, err = b.indexes.runs.FinishRun(ctx, b.run)
	return err
}

func (b *build) progress() {
	if b.want.Progress != nil {
		b.want.Progress(b.counted, max(b.counted, b.newest.Total))
	}
}

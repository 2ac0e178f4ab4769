// Package derived keeps the entries of derived boards equal to the combination of their sources.
//
// How a step comes to an exact result: one snapshot has the states of the sources, the members that have changed since the
// reflected ones, from the log, and these members' entries in all sources. The entries of other members follow from
// unchanged inputs. The transaction that writes takes the locks of every writer, and writes only if the board is still what
// the snapshot found: its rules, its seq, and its step, which every step increments. So the entries go from one exact
// combination of the sources' states to the next, whichever process takes the steps.
//
// Every process lists the derived boards. Among several processes one leads a board, by a lock that only saves work. A
// commit of this process to a source wakes the boards that follow it. Once a second one question about all boards finds
// commits of other processes and rollovers, and wakes the boards concerned; a board has a goroutine only while it takes
// steps. After a step it rests for at least a quarter of the step's time. A rollover, which touches most of a board, rests
// within the step and has a separate permit, so that other boards continue.
//
// Read spans.go (the sources that a rule means at a moment), combine.go (their entries of a member make one), step.go (a
// step), snapshot.go with sources.go (the board and the states of its sources), changed.go (which members may differ),
// members.go (their entries in the board and in its sources), and write.go. status.go compares and reports in the words of
// states.go, lead.go shares the work between processes, idle.go finds the boards that have work, follow.go wakes them, and
// task.go takes their steps. change.go checks the rule of a board that is made or changed.
package derived

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"leaderboard/api"
	"leaderboard/internal/bounded"
	"leaderboard/internal/mysql"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/commit"
)

// stepAttempts is how often a step starts over because another writer was faster.
const stepAttempts = 3

// Stepper keeps derived boards up to date with their sources. All methods may be called concurrently.
type Stepper struct {
	snapshots
	*overview
	writer    *store.Writer
	rows      int         // changes that one transaction takes
	verifying atomic.Bool // a derived board is compared with its sources
}

// NewStepper returns a Stepper whose transactions change at most a number of rows each. A step with more rows takes several,
// and until the last one the board is api.DerivationStateComputing.
func NewStepper(d *mysql.DB, b *store.Boards, w *store.Writer, rows int) *Stepper {
	return &Stepper{
		snapshots: snapshots{db: d, boards: b, nested: bounded.New[nestedSource, bool](nestedLogged, 0)},
		overview:  &overview{asks: d, idle: map[int64]*idle{}}, writer: w, rows: rows,
	}
}

// FollowSources takes a derived board one step further: from the state of its sources that its entries reflect to the
// present one, in one transaction. Nothing is written when nothing has changed. Any process may call it at any time; of two
// calls at once one starts over. Errors: ErrBoardNotFound, ErrNotDerived, ErrUnknownRule, ErrOverloaded when other calls were
// faster each time, ErrUnavailable, ErrOutcomeUnknown.
//
// A step that computes all entries, or adds or removes sources, takes long and pauses between its readings. When the caller
// does not allow a long step, it does nothing then and sets the field Long of the step.
func (f *Stepper) FollowSources(ctx context.Context, board string, long bool) (Step, error) {
	var (
		step Step
		err  error
	)
	for range stepAttempts {
		if step, err = f.followOnce(ctx, board, long); !errors.Is(err, commit.ErrConcurrent) {
			return step, mysql.Translate(ctx, "follow sources", err)
		}
	}
	return step, mysql.Translate(ctx, "follow sources", fmt.Errorf("%w: %w", leaderboard.ErrOverloaded, err))
}

func (f *Stepper) followOnce(ctx context.Context, board string, long bool) (Step, error) {
	var step Step
	err := f.inSnapshot(ctx, board, long, func(d *derivation) (err error) {
		step = Step{State: d.state(), Clock: d.clock, Behind: d.lag(), FromSeq: d.own.LastSeq, ToSeq: d.own.LastSeq}
		if step.State == api.DerivationStateFollowing && step.Behind == 0 {
			f.put(d.board.ID, d.idle())
			return nil
		}
		f.put(d.board.ID, nil)
		if err := d.board.CheckWritable(); err != nil {
			return err
		}
		if d.paced = step.State != api.DerivationStateFollowing; d.paced && !long {
			step.Long = true
			return nil
		}
		ctx, span := trace.Start(ctx, "derived step", trace.KindInternal)
		defer func() { endStep(span, board, &step, err) }()
		out := &output{d: d, writer: f.writer, rows: f.rows, step: &step}
		if step.State != api.DerivationStateComputing {
			err = d.computeChanged(ctx, out)
			if errors.Is(err, errNeedsCompute) {
				if !long {
					step = Step{Long: true}
					return nil
				}
				f.db.Log.InfoContext(ctx, "a derived board is computed from scratch", "board", board, "reason", err)
				step.State, d.paced, err = api.DerivationStateComputing, true, nil
			}
		}
		if err == nil && step.State == api.DerivationStateComputing {
			err = d.computeAll(ctx, out)
		}
		if err != nil {
			return err
		}
		return out.finish(ctx)
	})
	return step, err
}

// endStep ends the span of a step.
func endStep(span trace.Span, board string, step *Step, err error) {
	if span.On() {
		span.Set(
			slog.String("leaderboard.board", board), slog.String("leaderboard.step.state", string(step.State)), slog.Int64("leaderboard.members", step.Members),
			slog.Int64("leaderboard.rows", step.Rows),
		)
	}
	span.Done(err)
}

// computeAll passes every member to out.
func (d *derivation) computeAll(ctx context.Context, out *output) error {
	out.step.Members = 0
	return d.merge(ctx, func(member string, h held) error {
		out.step.Members++
		return out.add(ctx, member, h, d.combine(member, h.entries))
	})
}

// computeChanged passes the members to out whose entries may differ from the reflected state.
func (d *derivation) computeChanged(ctx context.Context, out *output) error {
	members, err := d.changedMembers(ctx)
	if err != nil {
		return err
	}
	out.step.Members = int64(len(members))
	perStatement := min(mysql.MaxRows, max(20, lookUps/(len(d.periods)+1)))
	for chunk := range slices.Chunk(members, perStatement) {
		start := time.Now()
		found, err := d.lookUp(ctx, chunk)
		if err != nil {
			return err
		}
		for i, member := range chunk {
			if err := out.add(ctx, member, found[i], d.combine(member, found[i].entries)); err != nil {
				return err
			}
		}
		if err := d.rest(ctx, time.Since(start)); err != nil {
			return err
		}
	}
	return nil
}

// Recompute computes all entries of a derived board from scratch from its sources and writes the differing ones. The
// returned step has DerivationStateComputing if this call computed them; otherwise another process has computed them since
// the call, and the step is the remaining work. Errors: the errors of FollowSources.
func (f *Stepper) Recompute(ctx context.Context, board string) (Step, error) {
	b, err := f.boards.Board(ctx, board)
	if err == nil && b.Rules.Derive == nil {
		err = leaderboard.ErrNotDerived
	}
	if err == nil {
		err = b.CheckWritable()
	}
	if err != nil {
		return Step{}, mysql.Translate(ctx, "recompute", err)
	}
	// From now on the board reflects no rule: the next step computes all entries.
	const forget = "UPDATE derived_boards SET rule_hash = '', step = step + 1 WHERE board_id = ?"
	if _, err := f.db.Pool.ExecContext(ctx, forget, b.ID); err != nil {
		return Step{}, mysql.Translate(ctx, "recompute", err)
	}
	return f.FollowSources(ctx, board, true)
}

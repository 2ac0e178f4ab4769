package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// Bounds of a step.
const (
	// stepMembers is how many members a step looks up one by one; with more of them everything is computed anew.
	stepMembers = 1_000_000
	// stepAttempts is how often a step starts over that somebody else was faster than.
	stepAttempts = 3
)

// errOvertaken: somebody else wrote to the board since the snapshot was taken. Starting over helps.
var errOvertaken = errors.New("store: the board moved on while a step was made")

// errNeedsCompute: the changes since the reflected state cannot be known any more.
var errNeedsCompute = errors.New("store: the derived board must be computed anew")

// FollowSources takes a derived board one step further: from the state of its sources that its entries reflect to the
// present one, in one transaction. Nothing is written when nothing has changed. Everybody may call it at any time; of
// two at once one starts over. Errors: ErrBoardNotFound, ErrNotDerived, ErrOverloaded when others keep being faster,
// ErrUnavailable, ErrOutcomeUnknown.
//
// A step that computes all entries, or takes sources in or out, takes long and rests between its readings. Unless it may
// be long it does nothing then, and says so in the field Long of the step.
//
// How a step comes to an exact result: one snapshot has the states of the sources, the members that have changed since
// the reflected ones, from the log, and these members' entries in all sources. The entries of members that have not
// changed follow from what has not changed. The transaction that writes takes the locks of every writer, and writes
// only if the board is still what the snapshot found: its rules, its seq, and its step, which every step moves on. So the
// entries go from one exact combination of the sources' states to the next, whoever takes the steps.
func (s *Store) FollowSources(ctx context.Context, board string, long bool) (leaderboard.DeriveStep, error) {
	var (
		step leaderboard.DeriveStep
		err  error
	)
	for range stepAttempts {
		if step, err = s.followOnce(ctx, board, long); !errors.Is(err, errOvertaken) {
			return step, db.Translate(ctx, "follow sources", err)
		}
	}
	return step, db.Translate(ctx, "follow sources", fmt.Errorf("%w: %w", leaderboard.ErrOverloaded, err))
}

func (s *Store) followOnce(ctx context.Context, board string, long bool) (leaderboard.DeriveStep, error) {
	var step leaderboard.DeriveStep
	err := s.derivation(ctx, board, func(d *derivation) (err error) {
		step = leaderboard.DeriveStep{State: d.state(), Clock: d.clock, Behind: d.lag(), FromSeq: d.own.LastSeq, ToSeq: d.own.LastSeq}
		if d.paced = step.State != leaderboard.DerivationStateFollowing; d.paced && !long {
			step.Long = true
			return nil
		}
		out := &output{d: d, step: &step}
		switch {
		case step.State == leaderboard.DerivationStateComputing:
			err = d.computeAll(ctx, out)
		case step.State == leaderboard.DerivationStateFollowing && step.Behind == 0:
			return nil
		default:
			if err = d.computeChanged(ctx, out); errors.Is(err, errNeedsCompute) {
				if !long {
					step = leaderboard.DeriveStep{Long: true}
					return nil
				}
				s.db.Log.Info("a derived board is computed anew", "board", board, "reason", err)
				step.State, d.paced = leaderboard.DerivationStateComputing, true
				err = d.computeAll(ctx, out)
			}
		}
		if err != nil {
			return err
		}
		return out.finish(ctx)
	})
	return step, err
}

// Recompute computes all entries of a derived board anew from its sources and writes those that differ. The returned step
// has DerivationStateComputing if it is the one that did so; otherwise another process, which follows the board, was faster and has
// done it since this was called, and the step is what was left to do then. Errors as of FollowSources.
func (s *Store) Recompute(ctx context.Context, board string) (leaderboard.DeriveStep, error) {
	b, err := s.Board(ctx, board)
	if err == nil && b.Rules.Derive == nil {
		err = leaderboard.ErrNotDerived
	}
	if err != nil {
		return leaderboard.DeriveStep{}, db.Translate(ctx, "recompute", err)
	}
	// From now on the entries follow no rule: whoever takes the next step computes all of them.
	const forget = "UPDATE derived_boards SET rule_hash = '', step = step + 1 WHERE board_id = ?"
	if _, err := s.db.ExecContext(ctx, forget, b.ID); err != nil {
		return leaderboard.DeriveStep{}, db.Translate(ctx, "recompute", err)
	}
	return s.FollowSources(ctx, board, true)
}

// DerivedBoards lists derived boards in the order of their ids, behind the id given (0 for the first), at most limit.
func (s *Store) DerivedBoards(ctx context.Context, after int64, limit int) ([]leaderboard.Board, error) {
	var rows []boardRow
	query := s.db.Limited("SELECT b.id, b.name, b.version, b.rules, b.created_at, b.updated_at FROM derived_boards d" +
		" JOIN boards b ON b.id = d.board_id AND b.state = 'open' WHERE d.board_id > ? ORDER BY d.board_id LIMIT ?")
	if err := s.db.SelectContext(ctx, &rows, query, after, max(0, limit)); err != nil {
		return nil, db.Translate(ctx, "derived boards", err)
	}
	boards := make([]leaderboard.Board, len(rows))
	for i := range rows {
		var err error
		if boards[i], err = rows[i].board(); err != nil {
			return nil, err
		}
	}
	return boards, nil
}

// state is how the board stands to its sources.
func (d *derivation) state() leaderboard.DerivationState {
	switch spec := specOf(d.board.Rules.Derive); {
	case !slices.Equal(spec, d.spec):
		return leaderboard.DerivationStateComputing
	case len(d.leaving())+len(d.arriving()) > 0:
		return leaderboard.DerivationStateRolling
	default:
		return leaderboard.DerivationStateFollowing
	}
}

// specOf names a rule. It has its defaults.
func specOf(d *leaderboard.Derive) []byte {
	b, err := json.Marshal(d)
	if err != nil {
		return nil // it came from JSON
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// lag is how many changes of the reflected sources are not reflected.
func (d *derivation) lag() int64 {
	n := int64(0)
	for _, r := range d.reflected {
		n += max(0, d.periods[r.periodID].lastSeq-r.seq)
	}
	return n
}

// readingRests is how long a step that touches most of a board rests behind a piece of reading, as a multiple of the time
// that it took: a turn of the day has time. It does not rest between pieces of writing. As long as the transaction is open
// every reader of the board has to look behind the rows that it has changed, which slows ranks down; the sooner it is over
// the better. What is left of the reads over a whole turn is measured by the section derived of the bench (goal: 0.8).
const readingRests = 6

// rest leaves the server to others for a while, in a turn of the day or a computation. Behind a busy source a step does not
// rest.
func (d *derivation) rest(ctx context.Context, took time.Duration) error {
	if !d.paced {
		return nil
	}
	timer := time.NewTimer(took * readingRests)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

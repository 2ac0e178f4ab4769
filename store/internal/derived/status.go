package derived

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Derivation compares a derived board with the states of its sources, in one snapshot. The sources come in the order of the
// rule, then sources that are still reflected although the rule no longer names them. Errors: ErrBoardNotFound,
// ErrNotDerived.
func (f *Stepper) Derivation(ctx context.Context, board string) (leaderboard.Derivation, error) {
	var out leaderboard.Derivation
	err := f.inSnapshot(ctx, board, false, func(d *derivation) error {
		out = leaderboard.Derivation{Board: d.board.Name, Revision: d.own.Revision(), State: d.state(), Lag: d.lag()}
		seqs := map[part][]int64{}
		if out.State != leaderboard.DerivationStateComputing {
			for _, r := range d.reflected {
				seqs[part{r.periodID, r.weight}] = append(seqs[part{r.periodID, r.weight}], r.seq)
			}
		}
		for i := range d.desired {
			want := &d.desired[i]
			source := leaderboard.SourceState{
				Board: want.Board, Window: want.Window, Period: want.Name, Weight: want.Weight, LastSeq: d.periods[want.periodID].lastSeq,
				Condition: want.Condition(d.periods[want.periodID].lastSeq > 0),
			}
			at := part{want.periodID, want.Weight}
			if left := seqs[at]; len(left) > 0 {
				source.Seq, seqs[at] = left[0], left[1:]
			}
			out.Sources = append(out.Sources, source)
		}
		out.State = out.State.With(out.Sources)
		return d.addLeaving(ctx, seqs, &out)
	})
	return out, mysql.Translate(ctx, "derivation", err)
}

// addLeaving adds the sources that seqs still has.
func (d *derivation) addLeaving(ctx context.Context, seqs map[part][]int64, out *leaderboard.Derivation) error {
	for _, p := range d.leaving() {
		if len(seqs[p]) == 0 || p.periodID == 0 {
			continue
		}
		source := leaderboard.SourceState{Weight: p.weight, Seq: seqs[p][0], LastSeq: d.periods[p.periodID].lastSeq, Condition: leaderboard.SourceConditionLeft}
		seqs[p] = seqs[p][1:]
		var board, window, name []byte
		query := d.db.Limited("SELECT b.name, p.window_name, p.name FROM periods p JOIN boards b ON b.id = p.board_id WHERE p.id = ?")
		if err := d.q.QueryRowContext(ctx, query, p.periodID).Scan(&board, &window, &name); errors.Is(err, sql.ErrNoRows) {
			continue // deleted: the next step computes everything from scratch
		} else if err != nil {
			return err
		}
		named := leaderboard.Period{Window: leaderboard.Window(window), Label: string(name)}
		source.Board, source.Window, source.Period = string(board), named.Window, named.Name()
		out.Sources = append(out.Sources, source)
	}
	return nil
}

// VerifySources compares the entries of a derived board with the combination of its sources, in one snapshot. Members with
// changes that are not followed yet are left out; while the board is DerivationStateComputing it is not equal. The reported
// difference is for the first such member in byte order; it has no rank. It reads all entries of all sources, so a process
// makes one verification at a time. Errors: ErrBoardNotFound, ErrNotDerived, ErrOverloaded while another verification is
// under way.
func (f *Stepper) VerifySources(ctx context.Context, board string) (leaderboard.Verification, error) {
	var v leaderboard.Verification
	if !f.verifying.CompareAndSwap(false, true) {
		return v, fmt.Errorf("store: verify sources: %w: another verification is under way", leaderboard.ErrOverloaded)
	}
	defer f.verifying.Store(false)
	err := f.inSnapshot(ctx, board, true, func(d *derivation) error {
		v = leaderboard.Verification{Seq: d.own.LastSeq, Total: d.own.EntryCount}
		if d.state() == leaderboard.DerivationStateComputing {
			v.Detail = "the entries are being computed"
			return nil
		}
		behind := map[string]bool{}
		members, err := d.changedMembers(ctx)
		if errors.Is(err, errNeedsCompute) {
			v.Detail = "the sources no longer tell what has changed since, the entries must be computed anew"
			return nil
		}
		if err != nil {
			return err
		}
		for _, m := range members {
			behind[m] = true
		}
		if v.Equal = true; len(behind) > 0 {
			v.Detail = fmt.Sprintf("%d members with changes that are not followed yet are left out", len(behind))
		}
		err = d.merge(ctx, func(member string, h held) error {
			if behind[member] {
				return nil
			}
			v.Checked++
			if want := d.combine(member, h.entries); !entries.Same(h.own(), want) {
				v.Equal, v.Difference = false, &leaderboard.Difference{Copy: h.own(), Database: want}
				v.Detail = "the entry of " + member + " is not what the sources make"
				return errFound
			}
			return nil
		})
		if errors.Is(err, errFound) {
			err = nil
		}
		return err
	})
	return v, mysql.Translate(ctx, "verify sources", err)
}

// errFound ends a walk that has found its goal.
var errFound = errors.New("store: found")

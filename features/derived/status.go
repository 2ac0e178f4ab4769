package derived

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"leaderboard/api"
	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Derivation compares a derived board with the states of its sources, in one snapshot. The sources come in the order of the
// rule, then sources that are still reflected although the rule no longer names them. Errors: ErrBoardNotFound,
// ErrNotDerived.
func (f *Stepper) Derivation(ctx context.Context, board string) (api.Derivation, error) {
	var out api.Derivation
	err := f.inSnapshot(ctx, board, false, func(d *derivation) error {
		out = api.Derivation{Board: d.board.Name, Seq: d.own.LastSeq, AsOf: d.own.Committed.Time(), State: d.state(), Lag: d.lag()}
		seqs := map[part][]int64{}
		if out.State != api.DerivationStateComputing {
			for _, r := range d.reflected {
				seqs[part{r.periodID, r.weight}] = append(seqs[part{r.periodID, r.weight}], r.seq)
			}
		}
		for i := range d.desired {
			want := &d.desired[i]
			source := api.Source{
				Board: want.Board, Window: want.Window, Period: want.Name, Weight: want.Weight, LastSeq: d.periods[want.periodID].lastSeq,
				Condition: want.condition(d.periods[want.periodID].lastSeq > 0),
			}
			at := part{want.periodID, want.Weight}
			if left := seqs[at]; len(left) > 0 {
				source.Seq, seqs[at] = left[0], left[1:]
			}
			out.Sources = append(out.Sources, source)
		}
		out.State = withSources(out.State, out.Sources)
		return d.addLeaving(ctx, seqs, &out)
	})
	return out, mysql.Translate(ctx, "derivation", err)
}

// addLeaving adds the sources that seqs still has.
func (d *derivation) addLeaving(ctx context.Context, seqs map[part][]int64, out *api.Derivation) error {
	for _, p := range d.leaving() {
		if len(seqs[p]) == 0 || p.periodID == 0 {
			continue
		}
		source := api.Source{Weight: p.weight, Seq: seqs[p][0], LastSeq: d.periods[p.periodID].lastSeq, Condition: api.SourceConditionLeft}
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
		if d.state() == api.DerivationStateComputing {
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

// derivedLags asks, for each source of a derived board, when the first change was committed that the board does not reflect;
// NULL when it reflects all.
const derivedLags = "SELECT s.board_id, TIMESTAMPDIFF(MICROSECOND, IF(p.last_seq > s.seq, COALESCE(" +
	"(SELECT c.committed_at FROM changes c WHERE c.period_id = s.source_period_id AND c.last_seq > s.seq ORDER BY c.last_seq LIMIT 1), p.committed_at), NULL), "

// DerivedLags returns, by the id of a derived board, the age of the oldest change of its sources that it does not reflect, 0
// when it reflects all. It takes one statement for all boards. Boards whose entries are being computed are left out. Errors:
// ErrUnavailable.
func (f *Stepper) DerivedLags(ctx context.Context, ids []int64) (map[int64]time.Duration, error) {
	lags := make(map[int64]time.Duration, len(ids))
	if len(ids) == 0 {
		return lags, nil
	}
	t := (&mysql.Text{}).Str(derivedLags + f.db.Sysdate() + ") AS lag_us FROM derived_boards d JOIN derived_sources s ON s.board_id = d.board_id" +
		" LEFT JOIN periods p ON p.id = s.source_period_id WHERE d.rule_hash <> '' AND d.board_id IN (").Ints(ids).Str(")")
	var rows []struct {
		Board int64  `db:"board_id"`
		Lag   *int64 `db:"lag_us"`
	}
	if err := f.db.Pool.SelectContext(ctx, &rows, f.db.Limited(t.String())); err != nil {
		return nil, mysql.Translate(ctx, "status", err)
	}
	for _, r := range rows {
		lag := lags[r.Board]
		if r.Lag != nil {
			lag = max(lag, time.Duration(*r.Lag)*time.Microsecond)
		}
		lags[r.Board] = lag
	}
	return lags, nil
}

// followedSeqs returns up to which seq every derived board has followed a period, by the id of the period: older commits of
// its log are not needed.
func (f *Stepper) followedSeqs(ctx context.Context) (map[int64]int64, error) {
	var rows []struct {
		ID  int64 `db:"source_period_id"`
		Seq int64 `db:"seq"`
	}
	const query = "SELECT s.source_period_id, MIN(s.seq) AS seq FROM derived_sources s JOIN boards b ON b.id = s.board_id AND b.state = 'open' GROUP BY s.source_period_id"
	if err := f.db.Pool.SelectContext(ctx, &rows, query); err != nil {
		return nil, err
	}
	followed := make(map[int64]int64, len(rows))
	for _, r := range rows {
		followed[r.ID] = r.Seq
	}
	return followed, nil
}

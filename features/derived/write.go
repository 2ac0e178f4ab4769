package derived

import (
	"context"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
)

// output collects the changes of a step and writes them.
type output struct {
	d       *derivation
	writer  *commit.Writer
	rows    int // changes that one transaction takes
	step    *Step
	changes []leaderboard.Change // without seq; from the visible entries to the entries that follow from the sources
}

// add compares a member's entry with the entry that follows from the sources. When there are more changes than one
// transaction takes it writes them; the board is then DerivationStateComputing until finish, because its entries are of two
// states.
func (o *output) add(ctx context.Context, member string, h held, want *leaderboard.Entry) error {
	if entries.Same(h.own(), want) {
		return nil
	}
	if len(o.changes) >= o.rows {
		if err := o.write(ctx, nil); err != nil {
			return err
		}
	}
	o.changes = append(o.changes, leaderboard.Change{Member: member, Old: h.visible, New: want})
	return nil
}

// finish writes the rest, after which the entries reflect the snapshot.
func (o *output) finish(ctx context.Context) error {
	return o.write(ctx, specOf(o.d.board.Rules.Derive))
}

// write stores the changes and the rule that the entries follow then; nil is no rule. It fails with commit.ErrConcurrent
// when the board has changed since the snapshot.
func (o *output) write(ctx context.Context, spec []byte) error {
	d := o.d
	seq, err := o.writer.Rewrite(ctx, commit.Rewrite{Board: d.board, Period: d.own, Changes: o.changes, Fence: d.reflectQuery(spec)})
	if err != nil {
		return err
	}
	o.step.Rows += int64(len(o.changes))
	o.changes = o.changes[:0]
	d.step++
	d.own.LastSeq, o.step.ToSeq = seq, seq
	return nil
}

// reflectQuery returns the states that the entries reflect now: the sources as the snapshot found them when they follow
// spec, otherwise nothing. The count of steps is the fence: of two steps at once, one finds that it has changed.
func (d *derivation) reflectQuery(spec []byte) string {
	t := (&mysql.Text{}).Str("DELETE FROM derived_sources WHERE board_id = ").Int(d.board.ID)
	if spec != nil {
		t.Str(" AND position >= ").Int(int64(len(d.desired))).Str(";INSERT INTO derived_sources (board_id, position, source_period_id, weight, seq) VALUES ")
		for i, s := range d.desired {
			t.Comma(i).Str("(").Int(d.board.ID).Str(",").Int(int64(i)).Str(",").Int(s.periodID).Str(",").Int(s.Weight).Str(",")
			t.Int(d.periods[s.periodID].lastSeq).Str(")")
		}
		t.Str(" ON DUPLICATE KEY UPDATE source_period_id = VALUES(source_period_id), weight = VALUES(weight), seq = VALUES(seq)")
	}
	t.Str(";UPDATE derived_boards SET step = step + 1, rule_hash = ").HexBytes(spec).Str(" WHERE board_id = ").Int(d.board.ID)
	return t.Str(" AND step = ").Int(d.step).Str(";").String()
}

package commit

import (
	"database/sql"
	"slices"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// States of a row of hidden_members.
const (
	StateHiding    = "hiding"    // hidden; visible entries are still to be moved
	StateHidden    = "hidden"    // hidden, and everything is moved
	StateRestoring = "restoring" // not hidden; entries are still to be moved back, then the row goes
)

// hiding is the part that sets the entries of hidden members aside. It belongs to the engine, because every reader knows
// both sides of a period.
type hiding struct{}

// On returns the hidden members of a board, nil if no member is hidden.
func (hiding) On(b *Board, n *Needs) BoardPart {
	if !b.known.HasHidden {
		return nil
	}
	return &hidden{board: b, boardID: b.ID(), periods: b.PeriodIDs(), asked: n.Members(), members: map[string]bool{}}
}

// Same is always true: whether a board has hidden members is no rule.
func (hiding) Same(_, _ *leaderboard.Rules) bool { return true }

// Rule returns nothing: to hide a member is no rule of a board.
func (hiding) Rule() string { return "" }

// hidden is which members of a batch are hidden on a board, or everywhere.
type hidden struct {
	board   *Board
	boardID int64
	periods []int64
	asked   []string
	members map[string]bool
}

// Read reads which of the members are hidden, and their entries that are set aside. A member with such an entry in an open
// period has a row of hidden_members, so most batches find nothing here.
func (h *hidden) Read(t *mysql.Text) {
	sides := []int64{0} // no period: a list may not be empty
	for _, id := range h.periods {
		sides = append(sides, entries.AsideIn(id))
	}
	for chunk := range slices.Chunk(h.asked, mysql.MaxRows) {
		t.Str("SELECT h.board_id, h.member, h.state, e.period_id, e.score, e.tiebreak, e.created_time FROM hidden_members h FORCE INDEX (PRIMARY)")
		t.Str(" LEFT JOIN entries e FORCE INDEX (PRIMARY) ON e.period_id IN (").Ints(sides).Str(") AND e.member = h.member")
		t.Str(" WHERE h.board_id IN (0,").Int(h.boardID).Str(") AND h.member IN (").Hexes(chunk).Str(");")
	}
}

// Scan reads the answers to Read.
func (h *hidden) Scan(rows *sql.Rows) error {
	for range slices.Chunk(h.asked, mysql.MaxRows) {
		err := mysql.EachRow(rows, func() error {
			var (
				board               int64
				member, state       string
				id, score, tiebreak sql.NullInt64
				created             sql.NullTime
			)
			if err := rows.Scan(&board, &member, &state, &id, &score, &tiebreak, &created); err != nil {
				return err
			}
			if state != StateRestoring {
				h.members[member] = true
			}
			if id.Valid {
				h.found(id.Int64, member, score.Int64, tiebreak.Int64, created.Time)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// found notes an entry that is set aside.
func (h *hidden) found(id int64, member string, score, tiebreak int64, created time.Time) {
	for _, p := range h.board.Current() {
		if id == entries.AsideIn(p.ID()) {
			e := &leaderboard.Entry{Member: member, CreatedTime: leaderboard.MicrosOf(created)}
			e.Score, e.Tiebreak = p.Stored(score, tiebreak)
			p.FoundAside(e)
		}
	}
}

// SetsAside reports whether a member is hidden.
func (h *hidden) SetsAside(member string) bool { return h.members[member] }

// Changed is always false: members are hidden elsewhere.
func (h *hidden) Changed() bool { return false }

package commit

import (
	"database/sql"
	"maps"
	"slices"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// plays are the plays that members of a board have, by member, and what a batch makes of them. Their rows are locked.
type plays map[string]*play

// play is a play that was begun.
type play struct {
	leaderboard.Play
	over    bool // it is used up, or was refused too often: its row goes
	refused bool // once more than its row says
}

// appendPlays asks for the plays of members, and locks them: one may be begun anew meanwhile.
func (r *reading) appendPlays(t *mysql.Text) {
	for chunk := range slices.Chunk(r.players, mysql.MaxRows) {
		t.Str("SELECT member, id, started_at, refusals FROM plays FORCE INDEX (PRIMARY) WHERE board_id = ").Int(r.boardID)
		t.Str(" AND member IN (").Hexes(chunk).Str(") FOR UPDATE;")
	}
}

// scanPlays reads the answers to appendPlays.
func (r *reading) scanPlays(rows *sql.Rows) error {
	r.plays = plays{}
	for range slices.Chunk(r.players, mysql.MaxRows) {
		if err := mysql.NextResult(rows); err != nil {
			return err
		}
		for rows.Next() {
			var (
				p       play
				id      []byte
				started time.Time
			)
			if err := rows.Scan(&p.Member, &id, &started, &p.Refusals); err != nil {
				return err
			}
			copy(p.ID[:], id)
			p.StartedTime = leaderboard.MicrosOf(started)
			r.plays[p.Member] = &p
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

// judgePlay returns why a submission of a player is refused for its play, nil when it is not, or needs none.
func (b *lockedBoard) judgePlay(sub *leaderboard.Submission, caller *leaderboard.Caller) *leaderboard.RuleError {
	rules := &b.known.Board.Rules
	if caller.Player == "" || !rules.NeedsPlay() {
		return nil
	}
	var begun *leaderboard.Play
	if p := b.plays[sub.Member]; p != nil && !p.over {
		begun = &p.Play
	}
	return leaderboard.AsRule(rules.JudgePlay(sub, begun, b.clock))
}

// settlePlay notes what became of a submission with a play: it was carried out, which uses the play up, or refused.
func (b *lockedBoard) settlePlay(sub *leaderboard.Submission, res *leaderboard.Result, caller *leaderboard.Caller) {
	p := b.plays[sub.Member]
	if caller.Player == "" || !b.known.Board.Rules.NeedsPlay() || p == nil || p.over || sub.Play == nil || *sub.Play != p.ID {
		return
	}
	if !res.Status.Failed() || res.Status == leaderboard.StatusHeld {
		p.over = true
		return
	}
	p.Refusals++
	p.refused, p.over = true, p.Refusals >= leaderboard.MaxPlayRefusals
}

// played reports whether a batch has something to write of the board's plays.
func (b *lockedBoard) played() bool {
	for _, p := range b.plays {
		if p.over || p.refused {
			return true
		}
	}
	return false
}

// appendPlays writes what became of plays, in the order of their members.
func appendPlays(t *mysql.Text, played []*lockedBoard) {
	for _, b := range played {
		var over, refused []string
		for _, member := range slices.Sorted(maps.Keys(b.plays)) {
			switch p := b.plays[member]; {
			case p.over:
				over = append(over, member)
			case p.refused:
				refused = append(refused, member)
			}
		}
		for chunk := range slices.Chunk(over, mysql.MaxRows) {
			t.Str("DELETE FROM plays WHERE board_id = ").Int(b.known.Board.ID).Str(" AND member IN (").Hexes(chunk).Str(");")
		}
		for _, member := range refused {
			t.Str("UPDATE plays SET refusals = ").Int(int64(b.plays[member].Refusals)).Str(" WHERE board_id = ").Int(b.known.Board.ID)
			t.Str(" AND member = ").Hex(member).Str(";")
		}
	}
}

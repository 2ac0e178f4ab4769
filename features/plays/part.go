// Package plays lets players submit once per play: a play that was begun before is used up by the submission that names it.
package plays

import (
	"database/sql"
	"maps"
	"slices"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
)

// Part adds plays to the transaction of submissions.
type Part struct{}

// On returns the plays of the members who submit with a play.
func (Part) On(b *commit.Board, n *commit.Needs) commit.BoardPart {
	var players []string
	for _, sub := range n.Submissions() {
		if sub.Play != nil {
			players = append(players, sub.Member)
		}
	}
	slices.Sort(players)
	return &plays{board: b, players: slices.Compact(players)}
}

// Same is always true: plays are read by the submissions.
func (Part) Same(_, _ *leaderboard.Rules) bool { return true }

// Rule returns the rule that the part carries out.
func (Part) Rule() string { return "/players/submit" }

// plays are the plays of members of a board, with the changes of a batch. Their rows are locked.
type plays struct {
	board   board
	players []string // each once, in byte order
	begun   map[string]*play
}

// board is a commit.Board.
type board interface {
	ID() int64
	Rules() *leaderboard.Rules
	Clock() leaderboard.Micros
}

// play is a play that was begun.
type play struct {
	leaderboard.Play
	over    bool // it is used up, or was refused too often: its row goes
	refused bool // Refusals are more than the row says
}

// Read asks for the plays, and locks them, because a member may begin another one meanwhile.
func (b *plays) Read(t *mysql.Text) {
	for chunk := range slices.Chunk(b.players, mysql.MaxRows) {
		t.Str("SELECT member, id, started_at, refusals FROM plays FORCE INDEX (PRIMARY) WHERE board_id = ").Int(b.board.ID())
		t.Str(" AND member IN (").Hexes(chunk).Str(") FOR UPDATE;")
	}
}

// Scan reads the answers to Read.
func (b *plays) Scan(rows *sql.Rows) error {
	b.begun = map[string]*play{}
	for range slices.Chunk(b.players, mysql.MaxRows) {
		err := mysql.EachRow(rows, func() error {
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
			b.begun[p.Member] = &p
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Before refuses the submission of a player who needs a play and has no play, or a different one.
func (b *plays) Before(a *commit.Attempt) error {
	if a.Caller.Player == "" {
		return nil
	}
	p := b.begun[a.Sub.Member]
	if p != nil && p.isOf(a.Sub) {
		a.Start = p.StartedTime
	}
	rules := b.board.Rules()
	if !rules.NeedsPlay() {
		return nil
	}
	var begun *leaderboard.Play
	if p != nil && !p.over {
		begun = &p.Play
	}
	return rules.CheckPlay(a.Sub, begun, b.board.Clock())
}

// isOf reports whether a submission names the play.
func (p *play) isOf(sub *leaderboard.Submission) bool { return sub.Play != nil && *sub.Play == p.ID }

// Done notes the result of a submission with a play: it was carried out, which uses the play up, or refused.
func (b *plays) Done(a *commit.Attempt, res *leaderboard.Result) {
	p := b.begun[a.Sub.Member]
	if a.Caller.Player == "" || !b.board.Rules().NeedsPlay() || p == nil || p.over || !p.isOf(a.Sub) {
		return
	}
	if !res.Status.Failed() || res.Status == leaderboard.StatusHeld {
		p.over = true
		return
	}
	p.Refusals++
	p.refused, p.over = true, p.Refusals >= leaderboard.MaxPlayRefusals
}

// Changed reports whether a play was used or refused.
func (b *plays) Changed() bool {
	for _, p := range b.begun {
		if p.over || p.refused {
			return true
		}
	}
	return false
}

// Write deletes plays that are over and counts refusals, in the order of the members.
func (Part) Write(t *mysql.Text, changed []commit.BoardPart) {
	for _, b := range commit.PartsOf[*plays](changed) {
		var over, refused []string
		for _, member := range slices.Sorted(maps.Keys(b.begun)) {
			switch p := b.begun[member]; {
			case p.over:
				over = append(over, member)
			case p.refused:
				refused = append(refused, member)
			}
		}
		for chunk := range slices.Chunk(over, mysql.MaxRows) {
			t.Str("DELETE FROM plays WHERE board_id = ").Int(b.board.ID()).Str(" AND member IN (").Hexes(chunk).Str(");")
		}
		for _, member := range refused {
			t.Str("UPDATE plays SET refusals = ").Int(int64(b.begun[member].Refusals)).Str(" WHERE board_id = ").Int(b.board.ID())
			t.Str(" AND member = ").Hex(member).Str(";")
		}
	}
}

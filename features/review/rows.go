package review

import (
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// heldColumns returns the columns that readHeld reads, each after a prefix such as "h.".
func heldColumns(prefix string) string {
	names := [...]string{
		"id", "board_id", "member", "state", "held_at", "created_time", "score", "tiebreak", "reason", "submission", "actor", "request_id",
		"decided_at", "decided_by", "note", "outcome",
	}
	return prefix + strings.Join(names[:], ", "+prefix)
}

// waitingColumns returns heldColumns for comparisons, without the submission.
func waitingColumns() string { return strings.Replace(heldColumns(""), "submission", "'{}'", 1) }

// heldSubmission is held.submission.
type heldSubmission struct {
	Score    int64             `json:"score"`
	Tiebreak *int64            `json:"tiebreak,omitempty"`
	Fields   map[string]int64  `json:"fields,omitempty"`
	Edit     *leaderboard.Edit `json:"edit,omitempty"`
	Metadata string            `json:"metadata,omitempty"`
	Periods  []int64           `json:"periods"`
}

// readHeld reads a row of columns.
func readHeld(scan func(dest ...any) error) (*leaderboard.Held, error) {
	var (
		h                        leaderboard.Held
		held, created            time.Time
		decided                  sql.NullTime
		text                     []byte
		decidedBy, note, outcome sql.NullString
		written                  heldSubmission
		dest                     = []any{&h.ID, &h.BoardID, &h.Member, &h.State, &held, &created, &h.NewScore, &h.Tiebreak, &h.Reason, &text}
	)
	if err := scan(append(dest, &h.Actor, &h.RequestID, &decided, &decidedBy, &note, &outcome)...); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &written); err != nil {
		return nil, mysql.Wrap("held submission", err)
	}
	h.HeldTime, h.CreatedTime, h.DecidedTime = leaderboard.MicrosOf(held), leaderboard.MicrosOf(created), 0
	if decided.Valid {
		h.DecidedTime = leaderboard.MicrosOf(decided.Time)
	}
	h.DecidedBy, h.Note, h.Outcome = decidedBy.String, note.String, leaderboard.Status(outcome.String)
	h.Score, h.Periods = written.Score, written.Periods
	h.Sub = leaderboard.Submission{Member: h.Member, Score: h.Score, Tiebreak: written.Tiebreak, Fields: written.Fields, Edit: written.Edit, Metadata: written.Metadata}
	return &h, nil
}

// heldText returns held.submission.
func heldText(h *leaderboard.Held) []byte {
	text, err := json.Marshal(heldSubmission{h.Score, h.Sub.Tiebreak, h.Sub.Fields, h.Sub.Edit, h.Sub.Metadata, h.Periods})
	if err != nil {
		return []byte("{}") // it has numbers and texts only
	}
	return text
}

package api

import (
	"time"

	"leaderboard/leaderboard"
)

// Run is a rebuild, a refresh, or another piece of work on a period.
type Run struct {
	ID        int64                 `json:"id"`
	Board     string                `json:"board"` // "" when the board is gone
	Window    leaderboard.Window    `json:"window"`
	Period    string                `json:"period"`
	Kind      leaderboard.RunKind   `json:"kind"`
	Reason    leaderboard.RunReason `json:"reason"`
	Actor     string                `json:"actor"`
	State     leaderboard.RunState  `json:"state"`
	FromSeq   int64                 `json:"from_seq"`
	ToSeq     int64                 `json:"to_seq"`
	Rows      int64                 `json:"rows"`
	StartedAt time.Time             `json:"started_at"`
	Took      string                `json:"took"` // Go duration
	Error     string                `json:"error,omitzero"`
}

// RunOf returns the document of a run.
func RunOf(r *leaderboard.Run) Run {
	return Run{
		ID: r.ID, Board: r.Board, Window: r.Window, Period: r.Period, Kind: r.Kind, Reason: r.Reason, Actor: r.Actor,
		State: r.State, FromSeq: r.FromSeq, ToSeq: r.ToSeq, Rows: r.Rows, StartedAt: r.StartedAt.Time(), Took: r.Took.String(),
		Error: r.Error,
	}
}

// Verification is the result of a comparison.
type Verification struct {
	Board      string             `json:"board"`
	Window     leaderboard.Window `json:"window"`
	Period     string             `json:"period"` // its name
	Equal      bool               `json:"equal"`
	Seq        int64              `json:"seq"`     // at which both were compared
	Checked    int64              `json:"checked"` // entries; 0 when there is no copy
	Total      int64              `json:"total"`   // entries of the period; a copy may hold only the best of them
	Difference *Difference        `json:"difference,omitzero"`
	Detail     string             `json:"detail,omitzero"`
}

// VerificationOf returns the document of a comparison of a period.
func VerificationOf(ref *leaderboard.PeriodRef, v *leaderboard.Verification) Verification {
	out := Verification{
		Board: ref.Board, Window: ref.Window, Period: ref.Name, Equal: v.Equal, Seq: v.Seq, Checked: v.Checked, Total: v.Total, Detail: v.Detail,
	}
	if d := v.Difference; d != nil {
		out.Difference = &Difference{Rank: d.Rank, Copy: comparedEntry(d.Copy), Database: comparedEntry(d.Database)}
	}
	return out
}

// Difference is the first difference; a nil entry means that this side has ended.
type Difference struct {
	Rank     int64          `json:"rank,omitzero"`
	Copy     *ComparedEntry `json:"copy"`
	Database *ComparedEntry `json:"truth"`
}

// ComparedEntry is an entry without its rank.
type ComparedEntry struct {
	Member      string    `json:"member"`
	Score       int64     `json:"score"`
	Tiebreak    int64     `json:"tiebreak"`
	CreatedTime time.Time `json:"created_time"`
}

func comparedEntry(e *leaderboard.Entry) *ComparedEntry {
	if e == nil {
		return nil
	}
	return &ComparedEntry{Member: e.Member, Score: e.Score, Tiebreak: e.Tiebreak, CreatedTime: e.CreatedTime.Time()}
}

// Health is the answer of /readyz and /livez.
type Health struct {
	Status string            `json:"status"` // ok, degraded, unavailable, draining
	Checks map[string]string `json:"checks,omitempty"`
}

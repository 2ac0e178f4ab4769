package api

import (
	"time"

	"leaderboard/leaderboard"
)

// SubmissionRecord is the record of one submission, on boards whose rules have record.
type SubmissionRecord struct {
	Time          time.Time          `json:"time"`
	Status        leaderboard.Status `json:"status"`
	Score         *int64             `json:"score"` // the submitted one, nil for a submission without a score: see Set and Add
	Tiebreak      *int64             `json:"tiebreak"`
	PreviousScore *int64             `json:"previous_score"`
	NewScore      *int64             `json:"new_score"`
	Seq           int64              `json:"seq"`
	Set           map[string]int64   `json:"set,omitempty"` // as submitted, like the next three
	Add           map[string]int64   `json:"add,omitempty"`
	Op            leaderboard.Policy `json:"op,omitzero"`
	KeepTime      bool               `json:"keep_time,omitzero"`
	Code          string             `json:"code,omitzero"` // why it was rejected, unmet or aborted
	Detail        string             `json:"detail,omitzero"`
	Actor         string             `json:"actor"` // id of the key
	RequestID     string             `json:"request_id"`
}

// Submissions is a page of the records of a member's submissions to a board, newest first.
type Submissions struct {
	Board       string             `json:"board"`
	Member      string             `json:"member"`
	Record      string             `json:"record"` // the rule of the board now; none: nothing is recorded
	Submissions []SubmissionRecord `json:"submissions"`
	NextCursor  string             `json:"next_cursor,omitzero"` // "": no more
}

// ActivityHour counts the recorded submissions of an hour of UTC.
type ActivityHour struct {
	StartsAt    time.Time `json:"starts_at"`
	Submissions int       `json:"submissions"` // that were recorded
	Applied     int       `json:"applied"`     // applied entries that changed an entry
	NewMembers  int       `json:"new_members"` // applied entries that gave a member its first entry
	Entries     *int64    `json:"entries"`     // of the period that is current now, at the end of the hour; nil: not known
}

// Activity counts the submissions to a board, hour by hour.
type Activity struct {
	Board   string             `json:"board"`
	Window  leaderboard.Window `json:"window"`  // the board's first; the records are about it
	Record  string             `json:"record"`  // the rule of the board now; none: no hours
	Hours   []ActivityHour     `json:"hours"`   // the newest first, which is not over
	Partial bool               `json:"partial"` // there are more records than were read: hours are left out
}

// Runner is a member of a race, with its place at each moment, nil while it had no entry or has no record, and its scores at the
// other moments.
type Runner struct {
	Member string        `json:"member"`
	Places []*int        `json:"places"`
	Points []RunnerPoint `json:"points"`
}

// RunnerPoint is the score of a member at a moment of a race.
type RunnerPoint struct {
	Time  time.Time `json:"time"`
	Score int64     `json:"score"`
}

// Race is the places and scores of the first ten of a period over time, as their submissions are recorded, or at the ends of
// shorter periods.
type Race struct {
	Board   string             `json:"board"`
	Window  leaderboard.Window `json:"window"`
	Period  string             `json:"period"`
	Record  string             `json:"record"`        // the rule of the board now
	Laps    leaderboard.Window `json:"laps,omitzero"` // of the periods that end at the moments, but for the last; "": they are moments of records
	Moments []time.Time        `json:"moments"`       // the oldest first; the last is now, see Laps
	Runners []Runner           `json:"runners"`       // in the order of now
}

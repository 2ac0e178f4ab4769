package api

import (
	"time"

	"leaderboard/leaderboard"
)

// The parameters of operations. A member that has its zero value is not given.

// ListQuery asks for a page of a list.
type ListQuery struct {
	Limit  int    `query:"limit" range:"1,1000" default:"100"`
	Cursor string `query:"cursor"` // of the page before
}

// BoardsListQuery lists boards.
type BoardsListQuery struct {
	Labels leaderboard.Labels `query:"labels"` // that they have, all of them
	ListQuery
}

// PeriodsQuery lists the periods of a board.
type PeriodsQuery struct {
	Window leaderboard.Window `query:"window"` // "": all
	ListQuery
}

// RunsQuery lists runs.
type RunsQuery struct {
	Board string `query:"board"` // "": all
	ListQuery
}

// HiddenQuery lists hidden members.
type HiddenQuery struct {
	Board  string `query:"board"`
	Member string `query:"member"`
	ListQuery
}

// HeldQuery lists submissions that wait for an admin, or did.
type HeldQuery struct {
	Board  string                `query:"board"`
	Member string                `query:"member"`
	State  leaderboard.HeldState `query:"state" words:"waiting,approved,rejected"` // "": waiting
	ListQuery
}

// AuditQuery selects records of changes; an empty field does not filter.
type AuditQuery struct {
	Board  string                  `query:"board"`
	Member string                  `query:"member"`
	Actor  string                  `query:"actor"`
	Action leaderboard.AuditAction `query:"action"` // such as board.update
	Since  string                  `query:"since"`  // RFC 3339: at this time or later
	Until  string                  `query:"until"`  // before this time
	ListQuery
}

// DeliveriesQuery lists the deliveries of an endpoint, which come with their payloads.
type DeliveriesQuery struct {
	State  DeliveryState `query:"state" words:"waiting,delivered,failed"` // "": all
	Limit  int           `query:"limit" range:"1,100" default:"20"`
	Cursor string        `query:"cursor"`
}

// StatusQuery asks for the health of a server, with a page of its boards.
type StatusQuery struct {
	Limit  int    `query:"limit" range:"1,100" default:"100"`
	Cursor string `query:"cursor"`
}

// SearchQuery finds members, whether they have entries or not.
type SearchQuery struct {
	Prefix string `query:"q"` // of the id or the display name; "": all
	By     string `query:"by" words:"id,name" default:"id"`
	Limit  int    `query:"limit" range:"1,100" default:"20"`
	Cursor string `query:"cursor"`
}

// ReadQuery has the parameters of every read; the zero value reads the current period of the board's first window.
type ReadQuery struct {
	Window   leaderboard.Window `query:"window"`                             // "": the board's first
	Period   string             `query:"period" default:"current"`           // a name, current or previous; "": current
	Mode     leaderboard.Mode   `query:"mode" words:"strict,tied,dense,all"` // "": the board's; leaderboard.ModeAll: ranks in all modes
	MinSeq   int64              `query:"min_seq" range:"0,"`                 // answer from a state at least this new, such as Receipt.Seq; leaderboard.ErrSeqAhead
	Profiles bool               `query:"profiles,optional"`                  // add profiles to the entries
	Metadata bool               `query:"metadata,optional"`                  // show the metadata of entries, on boards with the rule
}

// TopQuery asks for a page.
type TopQuery struct {
	ReadQuery
	Limit  int    `query:"limit" range:"1,1000" default:"10"` // 1 to 1,000; 0: 10
	Offset int64  `query:"offset" range:"0,"`                 // entries to skip from the best on
	Cursor string `query:"cursor"`                            // Page.NextCursor of the page before, instead of Offset
}

// AroundQuery asks for the entries around a member.
type AroundQuery struct {
	ReadQuery
	Before *int `query:"before" range:"0,500" default:"5"`
	After  *int `query:"after" range:"0,500" default:"5"`
}

// FindQuery searches for ranked members by their shown names.
type FindQuery struct {
	ReadQuery `without:"metadata"`
	Name      string `query:"q"`                                // the beginning of the display name in whatever case, or of the id of a member without one; one character that is not East Asian is a whole name
	Limit     int    `query:"limit" range:"1,100" default:"20"` // 1 to 100; 0: 20
	Cursor    string `query:"cursor"`                           // Page.NextCursor of the page before
}

// FriendsQuery asks for a member among its friends.
type FriendsQuery struct {
	ReadQuery
	Limit  int   `query:"limit" range:"1,1000" default:"10"`
	Offset int64 `query:"offset" range:"0,"`
}

// ScoreQuery asks for the rank that a new entry with a score would have.
type ScoreQuery struct {
	Window   leaderboard.Window `query:"window"`
	Period   string             `query:"period" default:"current"`
	Mode     leaderboard.Mode   `query:"mode" words:"strict,tied,dense,all"`
	MinSeq   int64              `query:"min_seq" range:"0,"`
	Score    int64              // in the path
	Tiebreak *int64             `query:"tiebreak"` // nil: 0
	Fields   Fields             `query:"fields"`   // instead of Tiebreak, all of the board's fields
}

// DistributionQuery asks for the histogram of the scores.
type DistributionQuery struct {
	ReadQuery `without:"profiles,metadata"`
	Buckets   int `query:"buckets" range:"1,1000" default:"40"`
}

// HistoryQuery asks for a member's history; the zero value for the current period of the board's first window and the
// 29 before it.
type HistoryQuery struct {
	Window   leaderboard.Window `query:"window"`                           // "": the board's first
	MinSeq   int64              `query:"min_seq" range:"0,"`               // of the current period, as in ReadQuery
	Limit    int                `query:"limit" range:"1,100" default:"30"` // periods to look at, 1 to 100; 0: 30
	Cursor   string             `query:"cursor"`                           // History.NextCursor of the answer before
	Metadata bool               `query:"metadata,optional"`                // as in ReadQuery
}

// StreamQuery selects the top of a board, or the entries around a member, to be sent after each change.
type StreamQuery struct {
	Window leaderboard.Window `query:"window"`
	Mode   leaderboard.Mode   `query:"mode" words:"strict,tied,dense,all"`
	Limit  int                `query:"limit" range:"1,100" default:"10"`
	Member string             `query:"member"` // instead of the top
	Before *int               `query:"before" range:"0,500" default:"5"`
	After  *int               `query:"after" range:"0,500" default:"5"`
	Passed bool               `query:"passed"`
}

// BoardsQuery selects several boards, to rank them as one or to ask about a member on each: by name or by labels.
type BoardsQuery struct {
	Boards []string           `query:"boards"`                             // 1 to 50 names; of Standings 1 to 200
	Labels leaderboard.Labels `query:"labels"`                             // all boards that have all of these
	Window leaderboard.Window `query:"window"`                             // "": the first of each
	Period string             `query:"period" default:"current"`           // "": current
	Mode   leaderboard.Mode   `query:"mode" words:"strict,tied,dense,all"` // strict, tied or all; "": the boards' own mode if they agree, strict otherwise
	MinSeq map[string]int64   `query:"min_seq"`                            // by board: answer from states at least this new
	// Profiles adds profiles to the entries.
	Profiles bool `query:"profiles,optional"`
	// Metadata shows the metadata of the entries of Standings, on 100 boards at most. Combined rankings have no metadata.
	Metadata bool `query:"metadata,optional"`
}

// CombinedQuery asks for a page of several boards ranked as one.
type CombinedQuery struct {
	BoardsQuery `without:"metadata"`
	Limit       int    `query:"limit" range:"1,1000" default:"10"`
	Offset      int64  `query:"offset" range:"0,"`
	Cursor      string `query:"cursor"`
}

// CombinedMemberQuery asks for the entries of a member on several boards ranked as one.
type CombinedMemberQuery struct {
	BoardsQuery `without:"metadata"`
}

// CombinedAroundQuery asks for the entries around the best one of a member on several boards.
type CombinedAroundQuery struct {
	BoardsQuery `without:"metadata"`
	Before      *int `query:"before" range:"0,500" default:"5"`
	After       *int `query:"after" range:"0,500" default:"5"`
}

// RaceQuery asks for a race.
type RaceQuery struct {
	Window leaderboard.Window `query:"window"`                   // "": the board's first
	Period string             `query:"period" default:"current"` // "": current
}

// StandingsQuery asks for a member on many boards.
type StandingsQuery struct {
	BoardsQuery `without:"profiles"`
}

// SubmitQuery selects the parts of the answer to a submission.
type SubmitQuery struct {
	Standings bool             `query:"standings"`
	Mode      leaderboard.Mode `query:"mode" words:"strict,tied,dense"`
	Friends   bool             `query:"friends,optional"`
}

// RemoveQuery selects the period from which an entry is removed.
type RemoveQuery struct {
	Window leaderboard.Window `query:"window"`
	Period string             `query:"period" default:"current"`
	Reopen bool               `query:"reopen"` // correct a closed period
}

// ReopenQuery has the parameter of changes that may be in closed periods.
type ReopenQuery struct {
	Reopen bool `query:"reopen"`
}

// RestoreQuery says why a hidden member is shown again.
type RestoreQuery struct {
	ReopenQuery
	Reason string `query:"reason"`
	Actor  string `query:"actor"` // "": the id of the key
}

// RebuildQuery says how long to wait for the end of a run.
type RebuildQuery struct {
	Wait time.Duration `query:"wait" most:"5m"`
}

// VerifyQuery selects the two sides of a comparison.
type VerifyQuery struct {
	Window  leaderboard.Window `query:"window"`
	Period  string             `query:"period" default:"current"`
	Against string             `query:"against" words:"copy,sources" default:"copy"`
}

// ExportQuery selects the entries of an export. The zero value is the current period of the board's first window.
type ExportQuery struct {
	Window leaderboard.Window `query:"window"`
	Period string             `query:"period" default:"current"`
	Format string             `query:"format" words:"csv,jsonl" default:"csv"`
	Raw    bool               `query:"raw"` // in CSV, ids that a spreadsheet would take for a formula come without a quote (') before them
	// Metadata adds the metadata of entries, on boards with the rule.
	Metadata bool `query:"metadata,optional"`
}

// ChangesQuery says where the changes of a board begin.
type ChangesQuery struct {
	Window leaderboard.Window `query:"window"` // "": the window of After, or the board's first
	// After is a cursor: Change.Cursor, Changes.Cursor or Export.Cursor. "": the first change of the current period.
	After string        `query:"after"`
	Limit int           `query:"limit" range:"1,5000" default:"1000"` // 1 to 5,000; 0: 1,000
	Wait  time.Duration `query:"wait" most:"1m" default:"0s"`         // how long Changes waits for a change, up to a minute
	Once  bool          // Follow ends when there are no more changes for now
}

// ActivityQuery counts the recorded submissions of the latest hours.
type ActivityQuery struct {
	Hours int `query:"hours" range:"1,168" default:"48"`
}

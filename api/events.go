package api

import (
	"encoding/json"
	"fmt"
	"time"

	"leaderboard/leaderboard"
)

// Event is the body of a request to an endpoint. Delivery.Payload is an Event too.
type Event struct {
	ID        string                `json:"id"` // the webhook-id, the same in every attempt
	Type      leaderboard.EventKind `json:"type"`
	Timestamp time.Time             `json:"timestamp"`
	Data      json.RawMessage       `json:"data"`
}

// Content reads Data: a *PeriodClosed, *BoardChanged, *MemberPassed, *EndpointTested, of kinds member.hidden, member.restored and
// member.erased a *MemberChanged, or of submission.held, submission.approved and submission.rejected a *SubmissionHeld. It is nil for kinds of later versions, which are to be taken like others.
func (e *Event) Content() (any, error) {
	var content any
	switch e.Type {
	case leaderboard.EventKindPeriodClosed:
		content = &PeriodClosed{}
	case leaderboard.EventKindBoardChanged:
		content = &BoardChanged{}
	case leaderboard.EventKindMemberHidden, leaderboard.EventKindMemberRestored, leaderboard.EventKindMemberErased:
		content = &MemberChanged{}
	case leaderboard.EventKindMemberPassed:
		content = &MemberPassed{}
	case leaderboard.EventKindHeld, leaderboard.EventKindApproved, leaderboard.EventKindRejected:
		content = &SubmissionHeld{}
	case leaderboard.EventKindTest:
		content = &EndpointTested{}
	default:
		return nil, nil
	}
	if err := json.Unmarshal(e.Data, content); err != nil {
		return nil, fmt.Errorf("read event %s: %w", e.ID, err)
	}
	return content, nil
}

// PeriodClosed is that a period of a calendar window or a season is over.
type PeriodClosed struct {
	Board    string             `json:"board"`
	Window   leaderboard.Window `json:"window"`
	Period   string             `json:"period"`
	StartsAt time.Time          `json:"starts_at"`
	EndsAt   time.Time          `json:"ends_at"`
	Seq      int64              `json:"seq"`   // changes until the end
	Total    int64              `json:"total"` // entries
	Mode     leaderboard.Mode   `json:"mode"`  // of the ranks
	Top      []ClosedEntry      `json:"top"`   // the best, up to leaderboard.MaxClosedTop
}

// ClosedEntry is one of the best entries of a period that is over.
type ClosedEntry struct {
	Member      string    `json:"member"`
	Rank        int64     `json:"rank"`
	Score       int64     `json:"score"`
	Tiebreak    int64     `json:"tiebreak"`
	Fields      Fields    `json:"fields,omitzero"` // of boards with tiebreak fields
	CreatedTime time.Time `json:"created_time"`
}

// BoardChanged is that a board was created, given other rules, or deleted.
type BoardChanged struct {
	Board   string `json:"board"`
	Change  string `json:"change"` // created, updated or deleted
	Version int64  `json:"version"`
}

// MemberChanged is that a member was hidden, shown again or erased.
type MemberChanged struct {
	Member string `json:"member"`
	Board  string `json:"board,omitzero"`  // "": everywhere
	Reason string `json:"reason,omitzero"` // of hiding
	Actor  string `json:"actor,omitzero"`
}

// MemberPassed says that the entry of another member went ahead of the entry of a member, on a board with the rule notify.
type MemberPassed struct {
	Member string             `json:"member"` // the passed member
	Score  int64              `json:"score"`  // its score, at that change
	By     PassedBy           `json:"by"`
	Board  string             `json:"board"`
	Window leaderboard.Window `json:"window"` // the first of the board
	Period string             `json:"period"`
	Seq    int64              `json:"seq"` // of the change: of two notices of one period the later one has the greater
}

// PassedBy is the member that passed another one.
type PassedBy struct {
	Member        string `json:"member"`
	Score         int64  `json:"score"`          // after the change
	PreviousScore int64  `json:"previous_score"` // before it
}

// SubmissionHeld is that a submission waits for an admin, or was decided.
type SubmissionHeld struct {
	Member    string `json:"member"`
	HeldID    string `json:"held_id"` // for Client.HeldOne
	Board     string `json:"board"`
	Score     int64  `json:"score"`               // as submitted
	DecidedBy string `json:"decided_by,omitzero"` // id of the key
}

// EndpointTested is the event of a test of an endpoint.
type EndpointTested struct {
	Endpoint string `json:"endpoint"`
}

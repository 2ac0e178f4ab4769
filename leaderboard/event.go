package leaderboard

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// EventKind names what has happened.
type EventKind string

// The kinds of events.
const (
	EventKindPeriodClosed   EventKind = "period.closed"       // a period of a calendar window or a season is over
	EventKindBoardChanged   EventKind = "board.changed"       // a board was created, given other rules, or deleted
	EventKindMemberHidden   EventKind = "member.hidden"       // on one board or everywhere
	EventKindMemberRestored EventKind = "member.restored"     // shown again
	EventKindMemberErased   EventKind = "member.erased"       // removed from everywhere
	EventKindMemberPassed   EventKind = "member.passed"       // an entry went ahead of the entry of a member who asked for notice: see Notify
	EventKindHeld           EventKind = "submission.held"     // a submission waits for an admin: see Review
	EventKindApproved       EventKind = "submission.approved" // and is entered now
	EventKindRejected       EventKind = "submission.rejected" // or never will be
	// EventKindTest is sent by a test of an endpoint only, and is kept nowhere.
	EventKindTest EventKind = "endpoint.test"
)

// EventKinds lists the kinds that an endpoint can ask for.
func EventKinds() []EventKind {
	return []EventKind{
		EventKindPeriodClosed, EventKindBoardChanged, EventKindMemberHidden, EventKindMemberRestored, EventKindMemberErased, EventKindMemberPassed,
		EventKindHeld, EventKindApproved, EventKindRejected,
	}
}

// EventFilter selects events.
type EventFilter struct {
	Kinds []EventKind // of the events; if empty, all
	// Boards are names, and prefixes such as "game1-*". If empty, the filter selects the events of all boards, and events that are
	// about no single board.
	Boards []string
}

// Wants reports whether the filter selects the events of a kind that are about a board, "" for none or all.
func (f *EventFilter) Wants(kind EventKind, board string) bool {
	if len(f.Kinds) > 0 && !slices.Contains(f.Kinds, kind) {
		return false
	}
	return len(f.Boards) == 0 || board != "" && covers(f.Boards, board)
}

const (
	// EventTTL is how long an event is tried and kept.
	EventTTL = 72 * time.Hour
	// MaxClosedTop is how many of the best entries of a period the event of its end has.
	MaxClosedTop = 100
)

// Event is something that has happened. It is stored in the transaction of the change that it describes.
type Event struct {
	Seq  int64  // its place among the events: in the order in which they were entered, with gaps
	ID   string // evt_ and 26 letters and digits: the webhook-id
	Kind EventKind
	Time Micros // database clock
	// Board is the name of the board that it is about, "" for none or all.
	Board string
	// Data is a JSON object, without the ids of members.
	Data string
	// Members are the members that the event is about, in order.
	Members []EventMember
}

// EventMember is a member that an event is about.
type EventMember struct {
	Member string
	Detail string // a JSON object: the members of Data in addition to the id; "" for none
}

const eventIDBytes = 16

// NewEventID returns an id that no other event has.
func NewEventID() string {
	var b [eventIDBytes]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "evt_" + keyText(b[:])
}

// EventIDOf returns the id of an event that may happen only once, by a text that no other event has: entered again, after a
// restore for instance, it has the same id.
func EventIDOf(once string) string {
	sum := sha256.Sum256([]byte(once))
	return "evt_" + keyText(sum[:eventIDBytes])
}

// IsEventID reports whether a text has the form of the id of an event.
func IsEventID(s string) bool { return len(s) == 30 && s[:4] == "evt_" && isKeyText(s[4:]) }

// Body returns the event as JSON, the same bytes each time. The members of an event that has a list of them are the
// member top of data; of any other event the first member is in member, and a second one in by.
func (e *Event) Body() ([]byte, error) {
	data, err := e.Payload()
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", e.ID, err)
	}
	return json.Marshal(struct {
		ID        string          `json:"id"`
		Type      EventKind       `json:"type"`
		Timestamp Micros          `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}{e.ID, e.Kind, e.Time, data})
}

// Payload returns the data of Body.
func (e *Event) Payload() (json.RawMessage, error) {
	if e.Kind != EventKindPeriodClosed {
		if len(e.Members) == 0 {
			return json.RawMessage(e.Data), nil
		}
		if len(e.Members) > 1 {
			return e.by()
		}
		return withMember(nil, e.Members[0].Member, e.Data)
	}
	top := []byte("[")
	for i, m := range e.Members {
		if i > 0 {
			top = append(top, ',')
		}
		var err error
		if top, err = withMember(top, m.Member, m.Detail); err != nil {
			return nil, err
		}
	}
	return joinObject([]byte(`{"top":`+string(top)+`]`), e.Data)
}

// by returns the data of an event in which one member acted on another.
func (e *Event) by() (json.RawMessage, error) {
	id, err := json.Marshal(e.Members[0].Member)
	if err != nil {
		return nil, err
	}
	data, err := withMember([]byte(`{"member":`+string(id)+`,"by":`), e.Members[1].Member, e.Members[1].Detail)
	if err != nil {
		return nil, err
	}
	return joinObject(data, e.Data)
}

// withMember appends a JSON object with the id of a member before its other members.
func withMember(b []byte, member, object string) ([]byte, error) {
	id, err := json.Marshal(member)
	if err != nil {
		return nil, err
	}
	return joinObject(append(append(b, `{"member":`...), id...), object)
}

// joinObject appends the members of a JSON object to a JSON object that is not closed.
func joinObject(b []byte, object string) ([]byte, error) {
	switch {
	case object == "" || object == "{}":
		return append(b, '}'), nil
	case object[0] != '{':
		return nil, fmt.Errorf("want a JSON object, not %.20q", object)
	}
	return append(append(b, ','), object[1:]...), nil
}

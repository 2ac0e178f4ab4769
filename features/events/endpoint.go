package events

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// Bounds of endpoints.
const (
	maxURL       = 1000 // bytes
	maxOverlap   = 30 * 24 * time.Hour
	maxWaiting   = 100_000 // to this number the deliveries are counted that wait for an endpoint
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// Endpoint is where events are sent.
type Endpoint struct {
	leaderboard.EventFilter // the events that the endpoint gets

	ID   int64  // another one when it is deleted and created again
	Name string // follows the rules for a board's name
	URL  string // https, or http when private addresses are allowed
	// AllowPrivate allows addresses that are not public.
	AllowPrivate bool
	State        api.EndpointState

	CreatedTime leaderboard.Micros
	UpdatedTime leaderboard.Micros
	// PreviousUntil is the end of the overlap: until then deliveries are signed with the old secret too; 0: no overlap.
	PreviousUntil leaderboard.Micros

	Waiting       int64              // deliveries, up to maxWaiting
	OldestWaiting leaderboard.Micros // the time of the oldest event that waits, 0 for none
	LastError     string             // of the last attempt to deliver that event, "" for none
}

// EndpointRequest is an admin's request to create or change an endpoint.
type EndpointRequest struct {
	URL          string
	Kinds        []leaderboard.EventKind
	Boards       []string
	Enabled      bool
	AllowPrivate bool
}

// endpointNames says which names endpoints have.
const endpointNames = "the name of an endpoint is [a-z0-9][a-z0-9._-]{0,63}"

// Check returns a RuleError when an endpoint of this name would be invalid.
func (r *EndpointRequest) Check(name string) error {
	var bad []leaderboard.FieldError
	fail := func(pointer, detail string) {
		bad = append(bad, leaderboard.FieldError{Pointer: pointer, Detail: detail})
	}
	if leaderboard.CheckBoardName(name) != nil {
		fail("", endpointNames)
	}
	if detail := wrongURL(r.URL, r.AllowPrivate); detail != "" {
		fail("/url", detail)
	}
	for i, k := range r.Kinds {
		pointer := "/kinds/" + strconv.Itoa(i)
		if !slices.Contains(leaderboard.EventKinds(), k) {
			fail(pointer, "want one of "+kindNames())
		}
		if slices.Contains(r.Kinds[:i], k) {
			fail(pointer, "is listed twice")
		}
	}
	if bad = append(bad, leaderboard.CheckPatterns(r.Boards)...); bad == nil {
		return nil
	}
	return &leaderboard.RuleError{Code: leaderboard.CodeInvalidEndpoint, Fields: bad}
}

// wrongURL returns the fault in the URL of an endpoint, "" for none.
func wrongURL(text string, private bool) string {
	u, err := url.Parse(text)
	switch {
	case text == "" || len(text) > maxURL || err != nil || u.Host == "" || u.Hostname() == "":
		return fmt.Sprintf("want a URL of at most %d bytes such as https://game.example/hooks", maxURL)
	case u.User != nil || u.Fragment != "":
		return "want a URL without user, password and fragment"
	case u.Scheme != "https" && (u.Scheme != "http" || !private):
		return "want https; http needs allow_private"
	}
	return ""
}

// kindNames lists the kinds that an endpoint can ask for.
func kindNames() string {
	var names []string
	for _, k := range leaderboard.EventKinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// Secret signs the deliveries to an endpoint: whsec_ and the base64 of its bytes.
type Secret string

// newSecret returns a secret of 256 random bits.
func newSecret() Secret {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // it never fails
	return Secret(secretPrefix + base64.StdEncoding.EncodeToString(b[:]))
}

// String hides the secret.
func (Secret) String() string { return secretPrefix + "…" }

// Bytes returns the key for signatures; nil if the text is not a secret.
func (s Secret) Bytes() []byte {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(s), secretPrefix))
	if err != nil {
		return nil
	}
	return b
}

// Recipient is an endpoint with the secrets that sign its deliveries.
type Recipient struct {
	Endpoint
	Secrets []Secret // the present secret, then the previous one during the overlap
}

// Delivery is an event on its way to an endpoint.
type Delivery struct {
	leaderboard.Event
	State    api.DeliveryState
	Attempts int
	Tried    leaderboard.Micros // the end of the last attempt; 0: no attempt was made
	Next     leaderboard.Micros // the time of the next attempt; 0: no attempt is due
	Status   int                // of the last answer; 0: no answer came
	Error    string             // of the last attempt, "" for none
}

// DeliveriesQuery asks for the deliveries of an endpoint, newest event first.
type DeliveriesQuery struct {
	Endpoint string
	State    api.DeliveryState // "": all
	Before   int64             // continue before the event with this Seq; 0: from the newest on
	Limit    int
}

// Attempt is the result of one attempt to deliver an event.
type Attempt struct {
	EndpointID int64
	Event      int64 // its Seq
	Status     int   // of the answer; 0: no answer came
	Error      string
	Gone       bool          // the answer was 410: the endpoint is turned off
	Retry      time.Duration // after which it is tried again; not when it was delivered
}

// Delivered reports whether the endpoint has taken the event.
func (a *Attempt) Delivered() bool { return a.Error == "" }

// Replay asks for events to be delivered again.
type Replay struct {
	Endpoint string
	Since    leaderboard.Micros // events from this moment on, unless Event names one
	Event    string             // the ID of the only one
}

// Backlog is the number of deliveries that wait, for endpoints that are enabled, and the age of the oldest.
type Backlog struct {
	Waiting int64              // up to maxWaiting for each endpoint
	Oldest  leaderboard.Micros // the time of the oldest event that waits, 0 for none
}

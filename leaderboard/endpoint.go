package leaderboard

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EndpointState is the state of an endpoint: only an enabled one is sent events.
type EndpointState string

// The states of an endpoint.
const (
	EndpointStateOn  EndpointState = "on"
	EndpointStateOff EndpointState = "off" // an admin turned it off
	// EndpointStateGone: it answered 410 and was turned off.
	EndpointStateGone EndpointState = "gone"
)

// Bounds of endpoints.
const (
	MaxEndpoints       = 50
	MaxEndpointURL     = 1000 // bytes
	MaxEndpointOverlap = 30 * 24 * time.Hour
	secretPrefix       = "whsec_"
	secretBytes        = 32
)

// Endpoint is where events are sent.
type Endpoint struct {
	ID   int64  // another one when it is deleted and created again
	Name string // follows the rules for a board's name
	URL  string // https, or http when private addresses are allowed
	// Kinds are the kinds of the events that the endpoint gets. If empty, it gets all kinds.
	Kinds []EventKind
	// Boards are names, and prefixes such as "game1-*". If empty, the endpoint gets the events of all boards, and
	// events that are about no single board.
	Boards []string
	// AllowPrivate allows addresses that are not public.
	AllowPrivate bool
	State        EndpointState

	CreatedTime Micros
	UpdatedTime Micros
	// PreviousUntil is the end of the overlap: until then deliveries are signed with the old secret too; 0: no overlap.
	PreviousUntil Micros

	Waiting       int64  // deliveries, up to MaxWaiting
	OldestWaiting Micros // the time of the oldest event that waits, 0 for none
	LastError     string // of the last attempt to deliver that event, "" for none
}

// MaxWaiting is how far the deliveries are counted that wait for an endpoint.
const MaxWaiting = 100_000

// EndpointRequest is an admin's request to create or change an endpoint.
type EndpointRequest struct {
	URL          string
	Kinds        []EventKind
	Boards       []string
	Enabled      bool
	AllowPrivate bool
}

// IsEndpointName reports whether an endpoint can have this name.
func IsEndpointName(name string) bool { return isName(name) }

// Check returns a RuleError when an endpoint of this name would be invalid.
func (r *EndpointRequest) Check(name string) error {
	var bad []FieldError
	fail := func(pointer, format string, args ...any) {
		bad = append(bad, FieldError{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	}
	if !isName(name) {
		fail("", "the name of an endpoint is [a-z0-9][a-z0-9._-]{0,63}")
	}
	checkEndpointURL(fail, r.URL, r.AllowPrivate)
	for i, k := range r.Kinds {
		pointer := "/kinds/" + strconv.Itoa(i)
		if checkOneOf(fail, pointer, k, EventKinds()...); slices.Contains(r.Kinds[:i], k) {
			fail(pointer, "is listed twice")
		}
	}
	checkPatterns(fail, r.Boards)
	if bad == nil {
		return nil
	}
	return &RuleError{Code: CodeInvalidEndpoint, Detail: "the endpoint is not valid", Fields: bad}
}

func checkEndpointURL(fail failFunc, text string, private bool) {
	u, err := url.Parse(text)
	switch {
	case text == "" || len(text) > MaxEndpointURL || err != nil || u.Host == "" || u.Hostname() == "":
		fail("/url", "want a URL of at most %d bytes such as https://game.example/hooks", MaxEndpointURL)
	case u.User != nil || u.Fragment != "":
		fail("/url", "want a URL without user, password and fragment")
	case u.Scheme != "https" && (u.Scheme != "http" || !private):
		fail("/url", "want https; http needs allow_private")
	}
}

// Wants reports whether an endpoint gets the events of a kind that are about a board, "" for none or all.
func (e *Endpoint) Wants(kind EventKind, board string) bool {
	if len(e.Kinds) > 0 && !slices.Contains(e.Kinds, kind) {
		return false
	}
	return len(e.Boards) == 0 || board != "" && covers(e.Boards, board)
}

// CoversAll reports whether a list of patterns is empty, which stands for all boards.
func (k *Key) CoversAll(patterns []string) bool {
	if !k.Limited() {
		return true
	}
	for _, p := range patterns {
		prefix, open := strings.CutSuffix(p, "*")
		if !open && !k.Covers(p) || open && !slices.ContainsFunc(k.Boards, func(own string) bool {
			wider, ok := strings.CutSuffix(own, "*")
			return ok && strings.HasPrefix(prefix, wider)
		}) {
			return false
		}
	}
	return len(patterns) > 0
}

// EndpointSecret signs the deliveries to an endpoint: whsec_ and the base64 of its bytes.
type EndpointSecret string

// NewEndpointSecret returns a secret of 256 random bits.
func NewEndpointSecret() EndpointSecret {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // it never fails
	return EndpointSecret(secretPrefix + base64.StdEncoding.EncodeToString(b[:]))
}

// String hides the secret.
func (EndpointSecret) String() string { return secretPrefix + "…" }

// Bytes returns the key for signatures; nil if the text is not a secret.
func (s EndpointSecret) Bytes() []byte {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(s), secretPrefix))
	if err != nil {
		return nil
	}
	return b
}

// Recipient is an endpoint with the secrets that sign its deliveries.
type Recipient struct {
	Endpoint
	Secrets []EndpointSecret // the present secret, then the previous one during the overlap
}

// DeliveryState is the progress of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryStateWaiting   DeliveryState = "waiting" // for its first attempt, or for the next one
	DeliveryStateDelivered DeliveryState = "delivered"
	DeliveryStateFailed    DeliveryState = "failed" // no more attempts will be made
)

// Delivery is an event on its way to an endpoint.
type Delivery struct {
	Event
	State    DeliveryState
	Attempts int
	Tried    Micros // the end of the last attempt; 0: no attempt was made
	Next     Micros // the time of the next attempt; 0: no attempt is due
	Status   int    // of the last answer; 0: no answer came
	Error    string // of the last attempt, "" for none
}

// DeliveriesQuery asks for the deliveries of an endpoint, newest event first.
type DeliveriesQuery struct {
	Endpoint string
	State    DeliveryState // "": all
	Before   int64         // continue before the event with this Seq; 0: from the newest on
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
	Since    Micros // events from this moment on, unless Event names one
	Event    string // the ID of the only one
}

// Backlog is the number of deliveries that wait, for endpoints that are enabled, and the age of the oldest.
type Backlog struct {
	Waiting int64  // up to MaxWaiting for each endpoint
	Oldest  Micros // the time of the oldest event that waits, 0 for none
}

package apptest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Receiver is an endpoint of a test. It fails the test for an event that is not signed by the endpoint's secret, or that comes
// with another body than before.
type Receiver struct {
	*httptest.Server
	t      *testing.T
	answer func(r *http.Request, attempt int) int
	mu     sync.Mutex
	secret string
	ids    map[string]int // places in events, by webhook-id
	events []Event
}

// Event is an event that has come to a Receiver.
type Event struct {
	Body     string
	Attempts int
	Taken    bool // an attempt was answered with 2xx
}

// ID returns the id of the event: its webhook-id, as the body has it.
func (e *Event) ID() string {
	var body struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal([]byte(e.Body), &body)
	return body.ID
}

// NewReceiver starts a receiver. answer returns the status for an attempt to send an event; attempts count from 1, and status 0
// stands for no answer at all. A nil answer stands for 204 each time.
func NewReceiver(t *testing.T, answer func(r *http.Request, attempt int) int) *Receiver {
	t.Helper()
	if answer == nil {
		answer = func(*http.Request, int) int { return http.StatusNoContent }
	}
	rc := &Receiver{t: t, answer: answer, ids: map[string]int{}}
	rc.Server = httptest.NewServer(rc)
	t.Cleanup(rc.Close)
	return rc
}

// Subscribe calls put, which makes an endpoint with the receiver's address and returns its secret. Events that come before wait
// until put returns.
func (rc *Receiver) Subscribe(put func(url string) (secret string)) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.secret = put(rc.URL)
}

// Events returns the events that have come, in the order of their first attempts.
func (rc *Receiver) Events() []Event {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return append([]Event(nil), rc.events...)
}

// ServeHTTP takes an event.
func (rc *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender was killed
	}
	at, attempt := rc.note(r.Header, string(body))
	status := rc.answer(r, attempt)
	if status/100 == 2 {
		rc.mu.Lock()
		rc.events[at].Taken = true
		rc.mu.Unlock()
	}
	if status > 0 {
		w.WriteHeader(status)
	}
}

// note notes an attempt to send an event, and returns its place in events and the number of the attempt.
func (rc *Receiver) note(h http.Header, body string) (at, attempt int) {
	id := h.Get("webhook-id")
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if !signedBy(rc.secret, id, h.Get("webhook-timestamp"), h.Get("webhook-signature"), body) {
		rc.t.Errorf("event %s is not signed by the secret: %q", id, h.Get("webhook-signature"))
	}
	at, known := rc.ids[id]
	if !known {
		at = len(rc.events)
		rc.ids[id] = at
		rc.events = append(rc.events, Event{Body: body})
	}
	e := &rc.events[at]
	if e.Body != body {
		rc.t.Errorf("event %s came with another body: %s, then %s", id, e.Body, body)
	}
	e.Attempts++
	return at, e.Attempts
}

// signedBy reports whether one of the signatures is by a secret. It was written from the specification, not from the sender.
func signedBy(secret, id, timestamp, signatures, body string) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	for s := range strings.FieldsSeq(signatures) {
		version, text, _ := strings.Cut(s, ",")
		sum, err := base64.StdEncoding.DecodeString(text)
		if version == "v1" && err == nil && hmac.Equal(sum, mac.Sum(nil)) {
			return true
		}
	}
	return false
}

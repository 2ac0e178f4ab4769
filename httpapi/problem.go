package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard"
)

// inputError names one place of the input, a JSON pointer into the body or a parameter, and what is wrong there.
type inputError struct {
	Pointer   string `json:"pointer,omitempty"`
	Parameter string `json:"parameter,omitempty"`
	Detail    string `json:"detail"`
}

// rejection is a problem that this package found by itself.
type rejection struct {
	code   string
	detail string // "" for that of the kind
	errors []inputError
	run    any           // of codeRunFailed: that run
	wait   time.Duration // how long to stay away; 0: what the kind says
	quotas []string      // of codeQuota: those that are used up
}

func (r *rejection) Error() string { return r.code + ": " + r.detail }

// reject makes an error of a code of the table and its own detail, "" for that of the table.
func reject(code, detail string, errs ...inputError) error {
	return &rejection{code: code, detail: detail, errors: errs}
}

// Reason is an error of a dependency whose text is fit to be shown: by /readyz, and as the detail of a problem.
type Reason string

func (r Reason) Error() string { return string(r) }

// isRejection says whether this package found the error by itself.
func isRejection(err error) bool {
	_, own := errors.AsType[*rejection](err)
	return own
}

// isTooMany says whether an error is that somebody has asked for too much.
func isTooMany(err error) bool {
	own, ok := errors.AsType[*rejection](err)
	return ok && kindOf(own.code).status == http.StatusTooManyRequests
}

// malformed makes the error of a request that is not of the documented form.
func malformed(errs ...inputError) error { return reject(codeMalformed, "", errs...) }

// maxErrors is how many places of the input a problem names at most.
const maxErrors = 20

// badFields collects what is wrong with a body, up to a bound.
type badFields []inputError

func (bad *badFields) add(pointer, detail string) {
	if !bad.full() {
		*bad = append(*bad, inputError{Pointer: pointer, Detail: detail})
	}
}

func (bad *badFields) full() bool { return len(*bad) >= maxErrors }

func (bad badFields) err() error {
	if len(bad) == 0 {
		return nil
	}
	return malformed(bad...)
}

// clip bounds what is repeated of the input.
func clip(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// classify finds the row of an error, with its own detail and places where it has some that may be shown. The text of
// an error that is not made for clients never leaves the process.
func classify(err error) (*kind, string, []inputError) {
	if own, ok := errors.AsType[*rejection](err); ok {
		return kindOf(own.code), own.detail, own.errors
	}
	var (
		rule   *leaderboard.RuleError
		toobig *http.MaxBytesError

		conflict *leaderboard.ConflictError
		period   *leaderboard.PeriodError
	)
	switch {
	case errors.As(err, &rule):
		return kindOf(rule.Code), rule.Detail, fieldErrors(rule.Fields)
	case errors.As(err, &conflict):
		return kindOf(codeConflict), conflict.Detail(), fieldErrors(conflict.Fields)
	case errors.As(err, &period) && period.Malformed:
		return kindOf(codeMalformed), "", []inputError{{Parameter: "period", Detail: period.Detail}}
	case errors.As(err, &period):
		return kindOf(codeNoPeriod), period.Detail, nil
	case errors.As(err, &toobig):
		return kindOf(codeTooLarge), "The body is larger than " + strconv.FormatInt(toobig.Limit, 10) + " bytes.", nil
	}
	var shown Reason
	errors.As(err, &shown)
	sentinel, ok := errors.AsType[*leaderboard.Error](err)
	for _, first := range []*leaderboard.Error{leaderboard.ErrOverloaded, leaderboard.ErrOutcomeUnknown} {
		if errors.Is(err, first) { // whatever the reasons for it
			sentinel = first
		}
	}
	switch {
	case ok && sentinel.Code != "":
		return kindOf(sentinel.Code), string(shown), nil
	case errors.Is(err, context.DeadlineExceeded):
		return kindOf(codeTimeout), string(shown), nil
	case errors.Is(err, context.Canceled):
		return kindOf(codeClientGone), "", nil
	}
	return kindOf(codeInternal), "", nil
}

// fieldErrors returns the places that rules name, so many and so long as a problem may have them: both may be the client's.
func fieldErrors(fields []leaderboard.FieldError) []inputError {
	out := make([]inputError, min(len(fields), maxErrors))
	for i := range out {
		out[i] = inputError{Pointer: clip(fields[i].Pointer), Detail: clip(fields[i].Detail)}
	}
	return out
}

// problem is the body of application/problem+json (RFC 9457).
type problem struct {
	Type      string       `json:"type"`
	Title     string       `json:"title"`
	Status    int          `json:"status"`
	Detail    string       `json:"detail"`
	Errors    []inputError `json:"errors,omitempty"`
	Run       any          `json:"run,omitempty"`
	Quotas    []string     `json:"violated-policies,omitempty"` // as draft-ietf-httpapi-ratelimit-headers calls it
	RequestID string       `json:"request_id"`
}

// writeProblem answers with an error, as nothing else does. It returns the row that it answered with.
func writeProblem(w http.ResponseWriter, err error, requestID string) *kind {
	k, body := encodeProblem(err, requestID)
	h, values := w.Header(), [...]string{"application/problem+json", strconv.Itoa(len(body)), "no-store", ""}
	h["Content-Type"], h["Content-Length"], h["Cache-Control"] = values[0:1:1], values[1:2:2], values[2:3:3]
	if k.wait > 0 {
		values[3] = strconv.Itoa(retryAfter(waitOf(err, k)))
		h["Retry-After"] = values[3:4:4]
	}
	if k.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="leaderboard"`)
	}
	w.WriteHeader(k.status)
	_, _ = w.Write(body) // a client that is gone misses nothing
	return k
}

// nothingDone ends the details of problems that are the same for reads, of which it goes without saying.
const nothingDone = " Nothing was done."

// readError is why a read failed.
type readError struct{ error }

// Unwrap returns why.
func (r *readError) Unwrap() error { return r.error }

// encodeProblem returns the row of an error, and the problem that it is to clients.
func encodeProblem(err error, requestID string) (*kind, []byte) {
	k, detail, errs := classify(err)
	if detail == "" {
		detail = k.detail
		if _, read := errors.AsType[*readError](err); read {
			detail = strings.TrimSuffix(detail, nothingDone)
		}
	}
	out := problem{Type: k.typ(), Title: k.title, Status: k.status, Detail: detail, Errors: errs, RequestID: requestID}
	if own, ok := errors.AsType[*rejection](err); ok {
		out.Run, out.Quotas = own.run, own.quotas
	}
	if len(out.Errors) == 0 && out.Run == nil {
		return k, out.appendPlain(make([]byte, 0, 512))
	}
	body, merr := json.Marshal(out, jsontext.AllowInvalidUTF8(true))
	if merr != nil { // every string in it is legible by construction
		body = []byte(`{"type":"` + k.typ() + `","title":"` + k.title + `","status":` + strconv.Itoa(k.status) + `,"detail":"","request_id":"` + newRequestID() + `"}`)
	}
	return k, body
}

// appendPlain appends a problem that has neither errors nor a run, as nearly all of those who are sent away by the thousand
// have: it costs a fifth of what json.Marshal does.
func (p *problem) appendPlain(b []byte) []byte {
	b = appendString(append(b, `{"type":`...), p.Type)
	b = appendString(append(b, `,"title":`...), p.Title)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(p.Status), 10)
	b = appendString(append(b, `,"detail":`...), p.Detail)
	for i, name := range p.Quotas {
		if i == 0 {
			b = append(b, `,"violated-policies":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendString(b, name)
	}
	if len(p.Quotas) > 0 {
		b = append(b, ']')
	}
	return append(appendString(append(b, `,"request_id":`...), p.RequestID), '}')
}

// waitOf returns how long to stay away: as long as what was refused would have waited, if that is known.
func waitOf(err error, k *kind) time.Duration {
	if busy, ok := errors.AsType[*leaderboard.OverloadError](err); ok && busy.Wait > 0 {
		return busy.Wait
	}
	if own, ok := errors.AsType[*rejection](err); ok && own.wait > 0 {
		return own.wait
	}
	return k.wait
}

// leastSpread is over how long those who stay away for a moment come back.
const leastSpread = 2 * time.Second

// retryAfter returns the seconds of Retry-After for a wait: not less, and up to half as much more, so that those who are
// refused together do not come back together.
func retryAfter(wait time.Duration) int {
	wait += rand.N(max(wait/2, leastSpread))
	return int((wait + time.Second - 1) / time.Second)
}

// writeError turns the end of the caller's wait into what it means for a write: the batch goes on without the caller.
func writeError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, leaderboard.ErrUnavailable) {
		return fmt.Errorf("%w: %w", leaderboard.ErrOutcomeUnknown, err)
	}
	return err
}

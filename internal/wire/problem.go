package wire

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// InputError names a place of the input and the error there.
type InputError = api.InputError

// Rejection is a problem that the front finds without a dependency.
type Rejection struct {
	Code   string
	Detail string // "" for the detail of the kind
	errors []InputError
	Run    *api.Run      // of CodeRunFailed: the run that failed
	Wait   time.Duration // until the next attempt; 0: the wait of the kind
	Quotas []string      // of CodeQuota: the names of the quotas that are used up
}

func (r *Rejection) Error() string { return r.Code + ": " + r.Detail }

// Reject makes an error of a code of the table with a detail, "" for the detail of the table.
func Reject(code, detail string, errs ...InputError) error {
	return &Rejection{Code: code, Detail: detail, errors: errs}
}

// Reason is an error of a dependency whose text is fit to be shown: by /readyz, and as the detail of a problem.
type Reason string

func (r Reason) Error() string { return string(r) }

// IsRejection reports whether an error is a Rejection.
func IsRejection(err error) bool {
	_, own := errors.AsType[*Rejection](err)
	return own
}

// IsTooMany reports whether an error is answered with 429.
func IsTooMany(err error) bool {
	own, ok := errors.AsType[*Rejection](err)
	return ok && KindOf(own.Code).Status == http.StatusTooManyRequests
}

// Malformed makes the error of a request that is not of the documented form.
func Malformed(errs ...InputError) error { return Reject(CodeMalformed, "", errs...) }

// maxErrors is how many places of the input a problem names at most.
const maxErrors = 20

// BadFields collects the errors of a body, up to a bound.
type BadFields []InputError

// Add adds an error at a pointer, unless there are enough errors already.
func (bad *BadFields) Add(pointer, detail string) {
	if !bad.full() {
		*bad = append(*bad, InputError{Pointer: pointer, Detail: detail})
	}
}

func (bad *BadFields) full() bool { return len(*bad) >= maxErrors }

// Err returns all errors as one, nil without errors.
func (bad BadFields) Err() error {
	if len(bad) == 0 {
		return nil
	}
	return Malformed(bad...)
}

// Clip bounds a text of the input that an answer repeats.
func Clip(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// wayRound returns how to get rules that a board with entries cannot have; "" for other rules.
func wayRound(conflict *leaderboard.ConflictError) string {
	for _, f := range conflict.Fields {
		if f.Pointer == "/order" || strings.HasPrefix(f.Pointer, "/tiebreak/") {
			return "; a new board can have it, and import an export of this one"
		}
	}
	return ""
}

// Classify finds the row of an error, with its own detail and places where it has some that may be shown. The text of
// an error that is not made for clients never leaves the process.
func Classify(err error) (*Kind, string, []InputError) {
	if own, ok := errors.AsType[*Rejection](err); ok {
		return KindOf(own.Code), own.Detail, own.errors
	}
	var (
		rule   *leaderboard.RuleError
		toobig *http.MaxBytesError

		conflict *leaderboard.ConflictError
		period   *leaderboard.PeriodError
		signIn   *leaderboard.SignInError
	)
	switch {
	case errors.As(err, &rule):
		return KindOf(rule.Code), rule.Detail, FieldErrors(rule.Fields)
	case errors.As(err, &conflict):
		return KindOf(codeConflict), conflict.Detail() + wayRound(conflict), FieldErrors(conflict.Fields)
	case errors.As(err, &period) && period.Malformed:
		return KindOf(CodeMalformed), "", []InputError{{Parameter: "period", Detail: period.Detail}}
	case errors.As(err, &period):
		return KindOf(CodeNoPeriod), period.Detail, nil
	case errors.As(err, &signIn):
		return KindOf(signIn.Cause.Code), signIn.Detail, nil
	case errors.As(err, &toobig):
		return KindOf(CodeTooLarge), "The body is larger than " + strconv.FormatInt(toobig.Limit, 10) + " bytes.", nil
	}
	var shown Reason
	errors.As(err, &shown)
	sentinel, ok := errors.AsType[*leaderboard.Error](err)
	for _, first := range []*leaderboard.Error{leaderboard.ErrOverloaded, leaderboard.ErrOutcomeUnknown} {
		if errors.Is(err, first) { // also if it wraps another sentinel as its reason
			sentinel = first
		}
	}
	switch {
	case ok && sentinel.Code != "":
		return KindOf(sentinel.Code), string(shown), nil
	case errors.Is(err, context.DeadlineExceeded):
		return KindOf(codeTimeout), string(shown), nil
	case errors.Is(err, context.Canceled):
		return KindOf(CodeClientGone), "", nil
	}
	return KindOf(CodeInternal), "", nil
}

// FieldErrors returns the errors of rules, bounded in number and in length, since the client chooses both.
func FieldErrors(fields []leaderboard.FieldError) []InputError {
	out := make([]InputError, min(len(fields), maxErrors))
	for i := range out {
		out[i] = InputError{Pointer: Clip(fields[i].Pointer), Detail: Clip(fields[i].Detail)}
	}
	return out
}

// WriteProblem answers with an error, of a service below base. Every problem is written here. It returns the row of the table.
func WriteProblem(w http.ResponseWriter, base string, err error, requestID string) *Kind {
	k, body := EncodeProblem(base, err, requestID)
	h, values := w.Header(), [...]string{"application/problem+json", strconv.Itoa(len(body)), "no-store"}
	h["Content-Type"], h["Content-Length"], h["Cache-Control"] = values[0:1:1], values[1:2:2], values[2:3:3]
	SetRetryAfter(h, err, k)
	if k.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="leaderboard"`)
	}
	w.WriteHeader(k.Status)
	_, _ = w.Write(body) // it fails when the client is gone
	return k
}

// nothingDone ends the details of problems that reads share with writes; for a read it is left out, since a read changes nothing.
const nothingDone = " Nothing was done."

// readError is the failure of a read.
type readError struct{ error }

// OfRead marks an error as the failure of a read.
func OfRead(err error) error { return &readError{err} }

// Unwrap returns the failure.
func (r *readError) Unwrap() error { return r.error }

// EncodeProblem returns the row of an error, and the problem for clients of a service below base.
func EncodeProblem(base string, err error, requestID string) (*Kind, []byte) {
	k, detail, errs := Classify(err)
	if detail == "" {
		detail = k.Detail
		if _, read := errors.AsType[*readError](err); read {
			detail = strings.TrimSuffix(detail, nothingDone)
		}
	}
	out := api.Problem{Type: k.Type(base), Title: k.Title, Status: k.Status, Detail: detail, Errors: errs, RequestID: requestID}
	if own, ok := errors.AsType[*Rejection](err); ok {
		out.Run, out.Quotas = own.Run, own.Quotas
	}
	if len(out.Errors) == 0 && out.Run == nil {
		return k, appendPlain(make([]byte, 0, 512), &out)
	}
	body, merr := Marshal(out, jsontext.AllowInvalidUTF8(true))
	if merr != nil { // all strings in it are valid UTF-8 by construction
		body = []byte(`{"type":"` + k.Type(base) + `","title":"` + k.Title + `","status":` + strconv.Itoa(k.Status) + `,"detail":"","request_id":"` + NewRequestID() + `"}`)
	}
	return k, body
}

// appendPlain appends a problem that has neither errors nor a run, like nearly all refusals under a flood: it costs a fifth of
// json.Marshal.
func appendPlain(b []byte, p *api.Problem) []byte {
	b = AppendString(append(b, `{"type":`...), p.Type)
	b = AppendString(append(b, `,"title":`...), p.Title)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(p.Status), 10)
	b = AppendString(append(b, `,"detail":`...), p.Detail)
	for i, name := range p.Quotas {
		if i == 0 {
			b = append(b, `,"violated-policies":[`...)
		} else {
			b = append(b, ',')
		}
		b = AppendString(b, name)
	}
	if len(p.Quotas) > 0 {
		b = append(b, ']')
	}
	return append(AppendString(append(b, `,"request_id":`...), p.RequestID), '}')
}

// waitOf returns how long a client must wait: as long as the refused request would have waited, if that is known.
func waitOf(err error, k *Kind) time.Duration {
	if busy, ok := errors.AsType[*leaderboard.OverloadError](err); ok && busy.Wait > 0 {
		return busy.Wait
	}
	if own, ok := errors.AsType[*Rejection](err); ok && own.Wait > 0 {
		return own.Wait
	}
	return k.Wait
}

// SetRetryAfter sets Retry-After when the same request may be good after a while.
func SetRetryAfter(h http.Header, err error, k *Kind) {
	if k.Wait > 0 {
		h["Retry-After"] = []string{strconv.Itoa(RetryAfter(waitOf(err, k)))}
	}
}

// leastSpread is the least time over which refused clients are spread when they come back.
const leastSpread = 2 * time.Second

// RetryAfter returns the seconds of Retry-After for a wait: not less, and up to half as much more, so that clients that are
// refused together do not come back together.
func RetryAfter(wait time.Duration) int {
	wait += rand.N(max(wait/2, leastSpread))
	return int((wait + time.Second - 1) / time.Second)
}

// WriteError turns a timeout of the caller of a write into ErrOutcomeUnknown: the batch continues without the caller.
func WriteError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, leaderboard.ErrUnavailable) {
		return fmt.Errorf("%w: %w", leaderboard.ErrOutcomeUnknown, err)
	}
	return err
}

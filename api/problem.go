package api

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"leaderboard/leaderboard"
)

// Problem is an error answer (RFC 9457), or the reason why an entry of a submission was rejected.
type Problem struct {
	Type   string       `json:"type"` // stable, such as /problems/not-ranked; the address of a page about it
	Title  string       `json:"title"`
	Status int          `json:"status"`
	Detail string       `json:"detail"`
	Errors []InputError `json:"errors,omitempty"`
	Run    *Run         `json:"run,omitzero"`                // that failed, see Rebuild
	Quotas []string     `json:"violated-policies,omitempty"` // that are used up, as draft-ietf-httpapi-ratelimit-headers calls them
	// RequestID is the id of the request in the server's log and audit; "" for an entry of a submission.
	RequestID string `json:"request_id,omitzero"`

	// RetryAfter is how long the server asks to wait, 0 when it does not.
	RetryAfter time.Duration `json:"-"`
	// Answer is the body when it is no problem, since a proxy or another server answered; nil otherwise.
	Answer []byte `json:"-"`
}

// InputError names a place of a request and its fault.
type InputError struct {
	Pointer   string `json:"pointer,omitzero"`   // JSON pointer into the body
	Parameter string `json:"parameter,omitzero"` // of the path, the query or the header
	Detail    string `json:"detail"`
}

// Code returns the last part of the type, such as not-ranked; "" without a type.
func (p *Problem) Code() string { return p.Type[strings.LastIndexByte(p.Type, '/')+1:] }

// Error returns all of the problem, each place on a separate line.
func (p *Problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the server answered %d", p.Status)
	for _, said := range []string{p.Title, p.Detail} {
		if said != "" {
			b.WriteString(": " + said)
		}
	}
	for _, e := range p.Errors {
		fmt.Fprintf(&b, "\n  %s: %s", cmp.Or(e.Pointer, e.Parameter), e.Detail)
	}
	return b.String()
}

// Is reports whether the problem means a sentinel error of package leaderboard.
func (p *Problem) Is(target error) bool {
	code := CodeOf(target)
	return code != "" && code == p.Code()
}

// CodeOf returns the problem code of a sentinel error of package leaderboard, or "".
func CodeOf(sentinel error) string {
	if e, ok := sentinel.(*leaderboard.Error); ok { //nolint:errorlint // it is a sentinel itself, nothing that wraps one
		return e.Code
	}
	return ""
}

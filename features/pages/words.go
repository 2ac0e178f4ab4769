package pages

import (
	"net/http"
	"strconv"
)

// rejection is a problem that the API returned.
type rejection struct {
	Status     int
	RetryAfter string
	Title      string
	Detail     string
	noPage     bool // there is no page at the address
}

// Heading describes the problem in a few words.
func (r *rejection) Heading(l *language) string {
	switch r.Status {
	case http.StatusTooManyRequests:
		return l.say("problem.tooMuch")
	case http.StatusServiceUnavailable:
		return l.say("problem.away")
	case http.StatusNotFound:
		return l.say("problem.missing")
	default:
		return l.say("problem.other")
	}
}

// Words returns the problem in words, with advice for the reader. Other problems have the English text of the API.
func (r *rejection) Words(l *language) string {
	switch r.Status {
	case http.StatusTooManyRequests:
		return l.say("problem.requests") + " " + r.again(l)
	case http.StatusServiceUnavailable:
		return l.say("problem.busy") + " " + l.say("problem.safe") + " " + r.again(l)
	}
	if r.noPage {
		return l.say("problem.noPage")
	}
	if r.Title == "" || r.Title == "Board not found" {
		return l.say("problem.noBoard")
	}
	return r.Detail
}

// Again returns after how many seconds loading the page again may help; "": it would not.
func (r *rejection) Again() string {
	if r.Status != http.StatusTooManyRequests && r.Status != http.StatusServiceUnavailable {
		return ""
	}
	if r.RetryAfter == "" {
		return "5"
	}
	return r.RetryAfter
}

func (r *rejection) again(l *language) string {
	if n, err := strconv.ParseInt(r.RetryAfter, 10, 64); err == nil {
		return l.say("problem.again", "n", n)
	}
	return l.say("problem.soon")
}

package pages

import "net/http"

// rejection is an answer of the API that is not 200: a problem.
type rejection struct {
	Status     int
	RetryAfter string
	Title      string
	Detail     string
}

// Heading says in a few words what is wrong.
func (r *rejection) Heading() string {
	switch r.Status {
	case http.StatusTooManyRequests:
		return "That was too much at once"
	case http.StatusServiceUnavailable:
		return "Not available right now"
	case http.StatusNotFound:
		return "Nothing here"
	default:
		return "This cannot be shown"
	}
}

// Words say what is wrong, and what to do about it.
func (r *rejection) Words() string {
	switch r.Status {
	case http.StatusTooManyRequests:
		return "Too many requests came from your address. " + r.again()
	case http.StatusServiceUnavailable:
		return "The server is busy, or its database does not answer. Nothing is lost. " + r.again()
	}
	if r.Title == "" || r.Title == "Board not found" {
		return "There is no public board of this name."
	}
	return r.Detail
}

// Again is in how many seconds a page may be loaded again that may be there then; empty: that would not help.
func (r *rejection) Again() string {
	if r.Status != http.StatusTooManyRequests && r.Status != http.StatusServiceUnavailable {
		return ""
	}
	if r.RetryAfter == "" {
		return "5"
	}
	return r.RetryAfter
}

func (r *rejection) again() string {
	switch r.RetryAfter {
	case "":
		return "Load the page again in a moment."
	case "1":
		return "Load the page again in a second."
	default:
		return "Load the page again in " + r.RetryAfter + " seconds."
	}
}

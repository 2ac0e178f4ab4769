package pages

import "net/http"

// rejection is a problem that the API returned.
type rejection struct {
	Status     int
	RetryAfter string
	Title      string
	Detail     string
}

// Heading describes the problem in a few words.
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

// Words describe the problem, and what the reader can do.
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

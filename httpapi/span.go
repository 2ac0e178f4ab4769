package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"leaderboard/internal/trace"
)

// beginSpan begins the span of a request. Its path is left out, which has the ids of members in it: the route says what
// was asked for, the board about whom.
func beginSpan(t trace.Tracer, name, route, board, requestID string, r *http.Request) trace.Span {
	span := trace.Of(t.Request(name, r.Header))
	if !span.On() {
		return span
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	span.Set(
		slog.String("http.request.method", methodLabel(r.Method)), slog.String("http.route", route), slog.String("url.scheme", scheme),
		slog.String("leaderboard.request_id", requestID),
	)
	if board != "" {
		span.Set(slog.String("leaderboard.board", board))
	}
	return span
}

// endSpan ends the span of a request. Only what is the server's fault is an error of it.
func endSpan(span trace.Span, status int) {
	span.Set(slog.Int("http.response.status_code", status))
	if status < http.StatusInternalServerError {
		span.End()
		return
	}
	span.Set(slog.String("error.type", strconv.Itoa(status)))
	span.Done(errFault)
}

// errFault is that a request was answered with 500 or more.
var errFault = errors.New("the request failed")

// methodLabel keeps the methods that a metric counts few.
func methodLabel(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return m
	}
	return "OTHER"
}

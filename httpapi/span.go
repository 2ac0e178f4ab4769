package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"leaderboard/internal/trace"
)

// beginSpan begins the span of a request. It leaves out the path, which has ids of members: the span has the route, and the board.
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

// endSpan ends the span of a request. Only a status of 500 or more is an error of the span.
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

// methodLabel returns the method of a request as a label, "OTHER" for an unusual one, so that a metric has few labels.
func methodLabel(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return m
	}
	return "OTHER"
}

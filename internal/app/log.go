package app

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"github.com/go-sql-driver/mysql"

	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// NewLogger makes the process's logger from LogFormat and LogLevel.
func NewLogger(w io.Writer, cfg *Config) *slog.Logger {
	opts := &slog.HandlerOptions{}
	switch cfg.LogLevel {
	case "debug":
		opts.Level = slog.LevelDebug
	case "warn":
		opts.Level = slog.LevelWarn
	case "error":
		opts.Level = slog.LevelError
	}
	if cfg.LogFormat == "json" {
		return slog.New(&identifying{slog.NewJSONHandler(w, opts)})
	}
	return slog.New(&identifying{slog.NewTextHandler(w, opts)})
}

// identifying adds the ids of the request and the span in the context to each line.
type identifying struct{ slog.Handler }

// Handle implements slog.Handler.
func (h *identifying) Handle(ctx context.Context, r slog.Record) error {
	if id := leaderboard.CallerOf(ctx).RequestID; id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	if traceID, spanID := trace.From(ctx).IDs(); traceID != "" {
		r.AddAttrs(slog.String("trace_id", traceID), slog.String("span_id", spanID))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *identifying) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &identifying{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h *identifying) WithGroup(name string) slog.Handler {
	return &identifying{h.Handler.WithGroup(name)}
}

// quieter logs at debug the failures that follow from an outage of MySQL or Redis: the store's DB and redisState log the outage
// itself. A recovery is logged with the error before it, and is at debug too.
type quieter struct {
	slog.Handler
	outage func(error) bool // whether an error is that a store does not answer
}

// Handle implements slog.Handler.
func (h *quieter) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && h.outage(err) {
			r.Level = slog.LevelDebug
		}
		return r.Level > slog.LevelDebug
	})
	if !h.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *quieter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &quieter{h.Handler.WithAttrs(attrs), h.outage}
}

// WithGroup implements slog.Handler.
func (h *quieter) WithGroup(name string) slog.Handler {
	return &quieter{h.Handler.WithGroup(name), h.outage}
}

// PlaceOfDSN returns the part of a DSN that may be shown: addresses and database.
func PlaceOfDSN(dsn string) string {
	var addresses []string
	name := ""
	for _, one := range store.DSNs(dsn) {
		cfg, err := mysql.ParseDSN(one)
		if err != nil {
			return "unreadable"
		}
		addresses, name = append(addresses, cfg.Addr), cfg.DBName
	}
	return strings.Join(addresses, ",") + "/" + name
}

// PlaceOfURL returns the part of a Redis URL that may be shown: hosts and database. Of "" it is "none".
func PlaceOfURL(address string) string {
	if address == "" {
		return "none"
	}
	_, place, _ := strings.Cut(address, "://")
	place, _, _ = strings.Cut(place, "?")
	return place[strings.LastIndexByte(place, '@')+1:]
}

package app

import (
	"io"
	"log/slog"
	"strings"

	"github.com/go-sql-driver/mysql"
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
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// PlaceOfDSN returns what of a DSN may be shown: where the database is.
func PlaceOfDSN(dsn string) string {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return "unreadable"
	}
	return cfg.Addr + "/" + cfg.DBName
}

// PlaceOfURL returns what of a Redis URL may be shown, which may name several hosts. No URL is "none".
func PlaceOfURL(address string) string {
	if address == "" {
		return "none"
	}
	_, place, _ := strings.Cut(address, "://")
	place, _, _ = strings.Cut(place, "?")
	return place[strings.LastIndexByte(place, '@')+1:]
}

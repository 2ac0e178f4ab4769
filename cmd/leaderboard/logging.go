package main

import (
	"io"
	"log/slog"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// newLogger makes the process's logger from the settings log and log-level.
func newLogger(w io.Writer, cfg *config) *slog.Logger {
	opts := &slog.HandlerOptions{}
	switch cfg.logLevel {
	case "debug":
		opts.Level = slog.LevelDebug
	case "warn":
		opts.Level = slog.LevelWarn
	case "error":
		opts.Level = slog.LevelError
	}
	if cfg.log == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// placeOfDSN is what of a DSN may be shown: where the database is.
func placeOfDSN(dsn string) string {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return "unreadable"
	}
	return cfg.Addr + "/" + cfg.DBName
}

// placeOfURL is what of a Redis URL may be shown, which may name several hosts. No URL is "none".
func placeOfURL(address string) string {
	if address == "" {
		return "none"
	}
	_, place, _ := strings.Cut(address, "://")
	place, _, _ = strings.Cut(place, "?")
	return place[strings.LastIndexByte(place, '@')+1:]
}

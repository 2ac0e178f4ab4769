package cli

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/internal/app"
	"leaderboard/internal/settings"
)

// serverFlags returns the flags of all settings of a serving process, or only of the named settings, for commands that open MySQL
// and Redis themselves.
func (p *program) serverFlags(cfg *app.Config, names ...string) (flags []cli.Flag) {
	fields := cfg.Fields()
	for i := range fields {
		if f := &fields[i]; len(names) == 0 && f.Command == "" || slices.Contains(names, f.Name) {
			flags = append(flags, p.serverFlag(f))
		}
	}
	return flags
}

// serverFlag returns the flag of a setting.
func (p *program) serverFlag(f *settings.Field) cli.Flag {
	section := f.Section
	if f.Main {
		section = mainSection
	}
	s := setting{name: f.Name, section: section, usage: f.Doc, program: p, variable: true, hidden: f.Hidden, goes: f.Old, instead: f.Instead}
	switch at := f.Value.(type) {
	case *bool:
		return toggle(s, at)
	case *int:
		return newChecked(s, at, setThrough(f, at))
	case *time.Duration:
		return newChecked(s, at, setThrough(f, at))
	default:
		shown := newChecked(s, new(f.Default), func(v string) (string, error) { return v, f.Set(v) })
		shown.Config.words = f.Words
		return shown
	}
}

// setThrough returns a parser by which a setting gets its value.
func setThrough[T any](f *settings.Field, at *T) func(string) (T, error) {
	return func(v string) (T, error) {
		err := f.Set(v)
		return *at, err
	}
}

// needBothFiles fails when only one of the two files of a certificate is given.
func needBothFiles(cfg *app.Config) error {
	if (cfg.TLSCert == "") == (cfg.TLSKey == "") {
		return nil
	}
	return usagef("--tls-cert and --tls-key go together: give both files, or none")
}

// parseCAFile reads a file of certificates, and returns them with the system's.
func parseCAFile(v string) (*x509.CertPool, error) {
	content, err := os.ReadFile(v)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("want a file of certificates in PEM, %s has no certificate", v)
	}
	return pool, nil
}

// needProxies fails when connections are bounded by address and the proxies are not given.
func needProxies(cfg *app.Config) error {
	if cfg.MaxConnectionsPerAddress == 0 || cfg.TrustedProxies.Given {
		return nil
	}
	return usagef("--max-connections-per-address needs --trusted-proxies: all clients behind a proxy have its address; give theirs, or none")
}

// needSettings fails when settings of features do not go together.
func needSettings(cfg *app.Config) error {
	if err := cfg.CheckFeatures(); err != nil {
		return usagef("%s", err)
	}
	return nil
}

// needMySQL fails when no database is given, and says how to give one.
func needMySQL(cfg *app.Config) error {
	if cfg.MySQLDSN != "" {
		return nil
	}
	return usagef("no database given: set --mysql-dsn or LEADERBOARD_MYSQL_DSN, " +
		"as in user:password@tcp(127.0.0.1:3306)/leaderboard (or try `leaderboard dev`, which brings its own)")
}

// logger makes the log of a server. It begins with the given settings that end with the next release.
func (p *program) logger(cfg *app.Config) *slog.Logger {
	log := app.NewLogger(p.err, cfg)
	for _, old := range p.oldGiven() {
		log.Warn("this setting goes with the next release", "setting", old.place, "instead", cmp.Or(old.instead, "nothing"))
	}
	return log
}

// oldFindings returns a warning for each given setting that ends with the next release.
func (p *program) oldFindings() (findings []app.Finding) {
	for _, old := range p.oldGiven() {
		f := app.Finding{Check: "settings", State: app.FindingStateWarning, Found: old.place + " goes with the next release", Remedy: "leave it out"}
		if old.instead != "" {
			f.Remedy = "give --" + old.instead + " in its place"
		}
		findings = append(findings, f)
	}
	return findings
}

package main

import (
	"context"
	"fmt"
	gobuild "go/build"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"leaderboard/workshop/program"
)

// circumstance is a day or a machine on which the tests must pass.
type circumstance struct {
	name  string
	clock string   // of the databases when they start, RFC 3339; "" for the right time
	env   []string // NAME=value sets, NAME alone removes
	umask string
}

// circumstances returns all of them. Some of their days may be in the past, which is a further circumstance.
func circumstances() []circumstance {
	const beforeMidnight = "2026-12-31T23:59:40Z" // midnight comes while tests run
	return []circumstance{
		{name: "today"},
		{name: "leap day", clock: "2028-02-29T12:00:00Z"},
		{name: "summer time begins in Berlin", clock: "2027-03-28T00:59:40Z", env: []string{"TZ=Europe/Berlin"}},
		{name: "summer time ends in Berlin", clock: "2027-10-31T00:59:40Z", env: []string{"TZ=Europe/Berlin"}},
		{name: "New Year, ISO week 53", clock: beforeMidnight},
		{name: "ISO week 53", clock: "2032-12-30T12:00:00Z"},
		{name: "ten years ahead", clock: time.Now().AddDate(10, 0, 0).Format(time.RFC3339)},
		{name: "St. John's, Turkish", env: []string{"TZ=America/St_Johns", "LC_ALL=tr_TR.UTF-8", "LANG=tr_TR.UTF-8"}},
		{name: "Kiritimati, no locale", env: []string{"TZ=Pacific/Kiritimati", "LC_ALL=C"}},
		{name: "one processor", env: []string{"GOMAXPROCS=1"}},
		{name: "no home", env: []string{"HOME"}},
		{name: "private files", umask: "077"},
	}
}

// days runs each program once under each circumstance that o.only names, and returns the number of failed tests.
func days(ctx context.Context, o options, programs []pkg, notes *program.Notes, stdout io.Writer) (failures int, err error) {
	// The program that starts servers for a command.
	if _, err := program.GoTool(ctx, ".", "build", "-o", filepath.Join(o.dir, "bin", "testenv"), "./internal/testenv/run"); err != nil {
		return 0, err
	}
	t := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "circumstance\tpackages\tfailing tests")
	for _, c := range circumstances() {
		if !o.only.MatchString(c.name) {
			continue
		}
		var failed []string
		for _, p := range programs {
			p.ID += "-" + regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(c.name, "_")
			if len(notes.Of(p.ID)) == 0 {
				p.Env = c.environment(p.Env, time.Now())
				n, err := p.run(ctx, o, 1, c.wrap(o)...)
				if ctx.Err() != nil {
					return failures, t.Flush()
				}
				if err != nil {
					return failures, err
				}
				if err := notes.Add(n); err != nil {
					return failures, err
				}
				fmt.Fprintf(stdout, "%s  %s: %s  %s\n", time.Now().Format(time.TimeOnly), c.name, p.name, show(n))
			}
			for _, test := range strings.Fields(notes.Of(p.ID)[0].Said) {
				failed = append(failed, p.name+" "+test)
				failures++
			}
		}
		fmt.Fprintf(t, "%s\t%d\t%s\n", c.name, len(programs), strings.Join(failed, ", "))
	}
	return failures, t.Flush()
}

// wrap returns the command that runs a test program, with separate servers, whose clocks begin with it.
func (c circumstance) wrap(o options) []string {
	command := []string{filepath.Join(o.dir, "bin", "testenv")}
	if c.umask != "" {
		command = append([]string{"sh", "-c", "umask " + c.umask + ` && exec "$@"`, "sh"}, command...)
	}
	return command
}

// environment changes env for this circumstance, which begins at the given moment. The folders of fetched servers and of the go
// tool stay.
func (c circumstance) environment(env []string, now time.Time) []string {
	if dir, err := os.UserCacheDir(); err == nil {
		env = set(env, "XDG_CACHE_HOME", dir)
	}
	env = set(env, "GOPATH", gobuild.Default.GOPATH)
	for _, name := range []string{"LEADERBOARD_TEST_MYSQL_DSN", "LEADERBOARD_TEST_MARIADB_DSN", "LEADERBOARD_TEST_REDIS_URL"} {
		env = unset(env, name)
	}
	if c.clock != "" {
		at, err := time.Parse(time.RFC3339, c.clock)
		if err != nil {
			panic(err) // of the table above
		}
		env = set(env, "LEADERBOARD_TEST_CLOCK", fmt.Sprint(int64(at.Sub(now)/time.Second)))
	}
	for _, v := range c.env {
		if name, value, ok := strings.Cut(v, "="); ok {
			env = set(env, name, value)
		} else {
			env = unset(env, name)
		}
	}
	return env
}

func set(env []string, name, value string) []string { return append(unset(env, name), name+"="+value) }

func unset(env []string, name string) []string {
	var out []string
	for _, v := range env {
		if !strings.HasPrefix(v, name+"=") {
			out = append(out, v)
		}
	}
	return out
}

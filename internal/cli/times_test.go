package cli

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/terminal"
	"leaderboard/internal/testenv"
)

// TestTimes: on a terminal times are in the terminal's time zone, to the second; with --utc, in JSON and on other outputs they are
// as the API writes them.
func TestTimes(t *testing.T) {
	t.Parallel()
	url, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/top"):
			_, _ = w.Write([]byte(`{"board":"b","mode":"strict","as_of":"2026-11-20T23:00:00.123456Z","entries":[{"member":"ada","created_time":"2026-11-20T22:30:00.654321Z"}]}`))
		default:
			_, _ = w.Write([]byte(`{"keys":[{"id":"k","expires_at":"2999-01-01T00:00:00.000001Z","created_time":"2026-11-20T22:30:00.654321Z"}]}`))
		}
	})
	kathmandu := time.FixedZone("", 5*3600+45*60)
	const asOf, created, until, local = "2026-11-20T23:00:00.123456Z", "2026-11-20T22:30:00.654321Z", "2999-01-01T00:00:00.000001Z", "+05:45"
	for _, c := range []struct {
		args     string
		terminal bool
		want     []string
		utc      bool
	}{
		{"top b", false, []string{asOf, created}, true},
		{"top b", true, []string{"as of 2026-11-21T04:45:00+05:45", "2026-11-21T04:15:00+05:45"}, false},
		{"top b --utc", true, []string{asOf, created}, true},
		{"top b --json", true, []string{asOf, created}, true},
		{"key list", false, []string{"until " + until, created}, true},
		{"key list", true, []string{"until 2999-01-01T05:45:00+05:45", "2026-11-21T04:15:00+05:45", "  -  "}, false},
		{"key list --utc", true, []string{"until " + until, created}, true},
	} {
		var out, errOut bytes.Buffer
		std := stdio{strings.NewReader(""), &out, &errOut}
		if c.terminal {
			std.out = &terminal.Screen{Writer: &out, Size: func() (int, int) { return 200, 50 }, Zone: kathmandu}
		}
		args := append(append([]string{"leaderboard"}, strings.Fields(c.args)...), "--url", url)
		status := run(t.Context(), args, std, func(string) string { return "" })
		for _, want := range c.want {
			if status != exitOK || !strings.Contains(out.String(), want) || strings.Contains(out.String(), local) == c.utc {
				t.Errorf("%s, on a terminal %t: status %d, want %q\n%s%s", c.args, c.terminal, status, want, &out, &errOut)
			}
		}
	}
}

// TestTimesOfTheDatabase: a command that asks MySQL itself shows times in the same way as a command that asks a server.
func TestTimesOfTheDatabase(t *testing.T) {
	dsn := testenv.MySQL(t)
	for _, c := range []struct{ args, want string }{
		{"migrate up", "applied"},
		{"migrate status", "+05:45"},
		{"migrate status --utc", "Z"},
		{"migrate status --json", `Z"`},
	} {
		var out, errOut bytes.Buffer
		screen := &terminal.Screen{Writer: &out, Size: func() (int, int) { return 200, 50 }, Zone: time.FixedZone("", 5*3600+45*60)}
		args := append(append([]string{"leaderboard"}, strings.Fields(c.args)...), "--mysql-dsn", dsn)
		status := run(t.Context(), args, stdio{strings.NewReader(""), screen, &errOut}, func(string) string { return "" })
		local := strings.Contains(out.String(), "+05:45")
		if status != exitOK || !strings.Contains(out.String(), c.want) || local != (c.want == "+05:45") {
			t.Errorf("%s: status %d, want %q\n%s%s", c.args, status, c.want, &out, &errOut)
		}
	}
}

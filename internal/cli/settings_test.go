package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/features"
	"leaderboard/features/events"
	"leaderboard/features/pages"
	"leaderboard/features/people"
	"leaderboard/features/players"
	"leaderboard/features/quotas"
	"leaderboard/features/signin"
	"leaderboard/httpapi"
	"leaderboard/internal/app"
	"leaderboard/leaderboard"
)

var update = flag.Bool("update", false, "write docs/settings.md")

const settingsFile = "../../docs/settings.md"

// TestSettingsDocument compares docs/settings.md with the flags. This writes it: go test ./internal/cli -run TestSettingsDocument
// -update.
func TestSettingsDocument(t *testing.T) {
	got, err := os.ReadFile(settingsFile)
	if err != nil {
		t.Fatal(err)
	}
	tracing := bytes.Index(got, []byte("\n## Tracing")) // from there on it is about variables that are no flags: see package telemetry
	want := slices.Concat(settingsDocument(t), got[max(0, tracing):])
	if *update {
		if err := os.WriteFile(settingsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		got = want
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the flags say; go test ./internal/cli -run TestSettingsDocument -update writes it", settingsFile)
	}
}

// section is a part of docs/settings.md.
type section struct {
	title string
	names []string // of flags
}

// sectionsOfServers returns the sections of settings by their tags.
func sectionsOfServers() (out []section) {
	cfg := app.Defaults()
	for _, f := range cfg.Fields() {
		if n := len(out); !f.Hidden && (n == 0 || out[n-1].title != f.Section) {
			out = append(out, section{title: f.Section})
		}
		if last := len(out) - 1; !f.Hidden {
			out[last].names = append(out[last].names, f.Name)
		}
	}
	out[1].names = append(out[1].names, "config") // which is of serve alone
	return out
}

func sections() []section {
	return append(sectionsOfServers(), []section{
		{"Checking a start (serve)", []string{"check"}},
		{"The dev command", []string{"dir", "members", "quiet-demo"}},
		{"Clients", []string{"url", "key", "context", "ca-file"}},
	}...)
}

// settingsDocument returns the flags that have variables as Markdown, a section at a time: docs/settings.md without its end, about tracing.
func settingsDocument(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString("# Settings\n\n<!-- TestSettingsDocument of internal/cli writes this page. -->\n")
	for i, s := range sections() {
		separator := " ·\n"
		if i == 0 {
			separator = "\n"
		}
		anchor := strings.NewReplacer(" ", "-", "(", "", ")", "", ",", "").Replace(strings.ToLower(s.title))
		fmt.Fprintf(&b, "%s[%s](#%s)", separator, s.title, anchor)
	}
	b.WriteString(" ·\n[How they are given](#how-they-are-given) ·\n[Tracing](#tracing) ·\n[A file of settings](#a-file-of-settings) ·\n[Contexts](#contexts)\n")
	flags := allFlags(t, &program{})
	for _, s := range sections() {
		fmt.Fprintf(&b, "\n## %s\n\n| flag | variable | default | |\n|---|---|---|---|\n", s.title)
		for _, name := range s.names {
			f, ok := flags[name]
			if !ok {
				t.Errorf("no command takes --%s", name)
				continue
			}
			delete(flags, name)
			fmt.Fprintf(&b, "| `--%s` | %s | %s | %s |\n", name, code(variableOf(f)), code(fallbackOf(f)), strings.ReplaceAll(plainUsage(f), "|", "\\|"))
		}
	}
	for name, f := range flags {
		if variableOf(f) != "" && name != "fault" { // a testing aid
			t.Errorf("--%s has a variable and is not documented", name)
		}
	}
	b.WriteString("\n## How they are given\n\nSettings are flags and environment variables. A flag wins over its variable; an empty variable counts as not set. `serve` also reads [a file](#a-file-of-settings), clients read " +
		"[contexts](#contexts).\nFlags stand after the command; `--url`, `--key` and `--context` may also stand before it. Durations are written as in `100ms`, `10s`, `1h30m`. `leaderboard help COMMAND` and the manual page describe the other flags.\n")
	return b.Bytes()
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// variableOf returns the environment variable of a flag, "" for none.
func variableOf(f cli.DocGenerationFlag) string { return strings.Join(f.GetEnvVars(), " ") }

// fallbackOf returns the default of a flag in the form of the command line, "" for none.
func fallbackOf(f cli.DocGenerationFlag) string {
	if !f.IsDefaultVisible() || !f.TakesValue() {
		return ""
	}
	return f.GetValue()
}

// allFlags returns the flags of all commands by name. Flags of one name must be described alike in all commands.
func allFlags(t *testing.T, p *program) map[string]cli.DocGenerationFlag {
	t.Helper()
	all := map[string]cli.DocGenerationFlag{}
	for path, c := range allCommands(p) {
		for _, f := range c.Flags {
			name, described := f.Names()[0], f.(cli.DocGenerationFlag)
			if seen, ok := f.(cli.VisibleFlag); ok && !seen.IsVisible() && name != "fault" {
				continue // an old name: all hidden flags are, but the testing aid
			}
			if was, ok := all[name]; ok && was.(fmt.Stringer).String() != f.String() {
				t.Errorf("--%s of %s is described as %s, elsewhere as %s", name, path, f, was)
			}
			all[name] = described
		}
	}
	return all
}

// TestFlags: every flag is described once, accepts its own default, and has none if it is a secret. Only settings of servers and
// the address, key and CA of the client are environment variables.
func TestFlags(t *testing.T) {
	documented := map[string]string{}
	for _, s := range sections() {
		for _, name := range s.names {
			if _, twice := documented[name]; twice {
				t.Errorf("%s is there twice", name)
			}
			documented[name] = s.title
		}
	}
	variables := 0
	ofServers := []string{"The dev command"}
	for _, s := range sectionsOfServers() {
		ofServers = append(ofServers, s.title)
	}
	p := &program{}
	for name, f := range allFlags(t, p) {
		if f.GetUsage() == "" {
			t.Errorf("--%s has no usage line", name)
		}
		if fallback := fallbackOf(f); fallback != "" {
			if err := f.(cli.Flag).Set(name, fallback); err != nil || p.faults != nil {
				t.Errorf("the default of --%s: %v %q", name, err, p.faults)
			}
		}
		if slices.Contains([]string{"mysql-dsn", "redis-url", "keys", "key", "oidc-client-secret"}, name) && fallbackOf(f) != "" {
			t.Errorf("--%s is secret and has a default", name)
		}
		want := ""
		if slices.Contains([]string{"url", "key", "context", "ca-file", "fault"}, name) || slices.Contains(ofServers, documented[name]) {
			want = "LEADERBOARD_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		}
		if want != "" && name != "fault" {
			variables++
		}
		if variableOf(f) != want {
			t.Errorf("the variable of --%s is %q, want %q", name, variableOf(f), want)
		}
	}
	if variables > mostSettings {
		t.Errorf("%d settings have variables, want %d at most: what nobody has to set is a constant", variables, mostSettings)
	}
}

// mostSettings is how many settings of servers and clients an operator may have to know.
const mostSettings = 50

// commandOf returns a command that takes a flag, without arguments.
func commandOf(t *testing.T, flag string) []string {
	t.Helper()
	for path, c := range allCommands(&program{}) {
		if len(c.Commands) > 0 {
			continue // its options stand before the command, and nothing is done with them without one
		}
		for _, f := range c.Flags {
			if f.Names()[0] == flag {
				return strings.Fields(path)[1:]
			}
		}
	}
	t.Fatalf("no command takes --%s", flag)
	return nil
}

// runWith runs the command line and returns its exit status and its output.
func runWith(t *testing.T, env map[string]string, args ...string) (status int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	status = run(ctx, append([]string{"leaderboard"}, args...), stdio{strings.NewReader(""), &o, &e}, func(name string) string { return env[name] })
	return status, o.String(), e.String()
}

// readWith parses the arguments of a command that serves.
func readWith(t *testing.T, env map[string]string, args ...string) (app.Config, error) {
	t.Helper()
	p := &program{stdio: stdio{strings.NewReader(""), io.Discard, io.Discard}, env: func(name string) string { return env[name] }}
	cfg, root := app.Defaults(), p.root()
	root.Commands = append(root.Commands, p.leaf("probe", "", "", func(context.Context, []string) error { return nil },
		append(p.serverFlags(&cfg), p.serverFlags(&cfg, "migrate")...)...))
	err := root.Run(t.Context(), append([]string{"leaderboard", "probe"}, args...))
	return cfg, err
}

// same reports whether two configurations are equal, including the settings of features.
func same(a, b app.Config) bool {
	settingsOf := func(c *app.Config) (all []any) {
		for _, f := range c.Features {
			if f.Settings != nil {
				all = append(all, f.Settings)
			}
		}
		c.Features = nil
		return all
	}
	return reflect.DeepEqual(settingsOf(&a), settingsOf(&b)) && reflect.DeepEqual(a, b)
}

func TestPrecedence(t *testing.T) {
	changed := func(change func(*app.Config)) app.Config {
		c := app.Defaults()
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want app.Config
	}{
		"defaults": {nil, nil, app.Config{
			MySQLMaxConns: 32, Listen: "127.0.0.1:8080", MaxConnections: 8192, MaxStreams: 4096, ShutdownTimeout: 12 * time.Second, ChangeTTL: time.Hour,
			AuditTTL: 9600 * time.Hour, MaxAge: 200 * time.Millisecond, ResidentMemory: app.MemoryAuto, StaleLimit: 10 * time.Minute,
			Servers: 1, LogFormat: "text", LogLevel: "info", Features: []features.Feature{
				{Settings: &players.Settings{}},
				{Settings: &people.Settings{}},
				{Settings: &events.Settings{}},
				{Settings: &signin.Settings{Scopes: []string{"email", "profile"}, Claim: "groups", Session: 12 * time.Hour}},
				{Settings: &quotas.Settings{
					Keys: quotas.Rates{Requests: 20_000, Rows: 500_000, Heavy: 500}, Players: quotas.Rates{Requests: 100, Rows: 20, Heavy: 20}, Addresses: quotas.Rates{Requests: 1000, Heavy: 100},
				}},
				{Settings: &pages.Settings{}},
			},
		}},
		"variables": {map[string]string{"LEADERBOARD_LISTEN": ":1", "LEADERBOARD_MAX_AGE": "1s", "LEADERBOARD_MIGRATE": "true"}, nil, changed(func(c *app.Config) {
			c.Listen, c.MaxAge, c.Migrate = ":1", time.Second, true
		})},
		"private addresses": {nil, []string{"--allow-private-addresses"}, changed(func(c *app.Config) {
			c.AllowPrivate = true
		})},
		"quotas": {map[string]string{"LEADERBOARD_ADDRESS_QUOTA": "5/0.5"}, []string{"--key-quota", "1/0/2"}, changed(func(c *app.Config) {
			q := of[quotas.Settings](c)
			q.Keys, q.Addresses = quotas.Rates{Requests: 1, Heavy: 2}, quotas.Rates{Requests: 5, Heavy: 0.5}
		})},
		"flags win": {map[string]string{"LEADERBOARD_LISTEN": ":1", "LEADERBOARD_MIGRATE": "true"}, []string{"--listen", ":2", "--migrate=false"}, changed(func(c *app.Config) {
			c.Listen = ":2"
		})},
		"empty variables are not set": {
			map[string]string{"LEADERBOARD_LISTEN": "", "LEADERBOARD_MIGRATE": "", "LEADERBOARD_REDIS_URL": ""},
			nil,
			app.Defaults(),
		},
		"an empty flag takes a variable back": {
			map[string]string{"LEADERBOARD_REDIS_URL": "redis://h:1"},
			[]string{"--redis-url", ""},
			app.Defaults(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readWith(t, c.env, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if !same(got, c.want) {
				t.Errorf("got  %#v\nwant %#v", got, c.want)
			}
		})
	}
}

func TestBadValues(t *testing.T) {
	flags := allFlags(t, &program{})
	for name, values := range map[string][]string{
		"listen":          {"8080", "localhost", "127.0.0.1:99999", "a:b:c"},
		"base-path":       {"games", "/", "/games/", "//games", "/a b", "/a?b", "/../b", "/.b", "/a%2Fb", "/a\"b", "/" + strings.Repeat("a", 100)},
		"max-age":         {"0", "-1s", "soon", "5", "19ms"},
		"resident-memory": {"-1", "much", "1.5GiB", "1TiB", "9999999999GiB", "12 MiB"},
		"mysql-max-conns": {"0", "15", "many", "1.5", "99999999999999999999"},
		"key-quota":       {"1/2", "1/2/3/4", "-1/2/3", "1/many/3", "1/2/0.0001", "2e9/1/1", "NaN/1/1"},
		"address-quota":   {"1", "1/2/3", "1/"},
		"servers":         {"0", "1.5"},
		"log":             {"xml", "TEXT"},
		"site":            {"settings_test.go", "no-such-folder", "testdata"},
		"log-level":       {"loud"},
		"migrate":         {"maybe"},
		"keys":            {"secret", "root:x", "admin:", "admin:a b", "admin:a,admin:a", "read:x,", "read:é"},
		"cors-origins":    {"game.example", "https://game.example/", "https://a,*", "https://*.a", "null", "https://a, https://b", "https://u@a"},
		"mysql-dsn":       {"localhost", "root@tcp(127.0.0.1:3306)/", "mysql://root@h/db"},
		"redis-url":       {"localhost:6379", "http://h:1", "redis://h:x"},
		"url":             {"127.0.0.1:8080", "ftp://h", "http://user:pw@h"},
		"fault":           {"kill", "pause:x", "stop:"},
		"mode":            {"loose"},
		"around":          {"-1", "501", "x"},
		"score":           {"1.5", "9223372036854775808"},
		"top-n":           {"x", "1e-3"},
	} {
		command := commandOf(t, name)
		for _, v := range values {
			wantUsage(t, nil, "--"+name+": ", append(command, "--"+name+"="+v)...)
			if variable := variableOf(flags[name]); variable != "" {
				wantUsage(t, map[string]string{variable: v}, variable+": ", command...)
			}
		}
	}
}

// wantUsage runs a command that must fail with a usage error and a hint.
func wantUsage(t *testing.T, env map[string]string, want string, args ...string) {
	t.Helper()
	if status, out, errOut := runWith(t, env, args...); status != exitUsage || out != "" || !strings.Contains(errOut, want) {
		t.Errorf("%v with %v: status %d, %s%s; want %s", args, env, status, out, errOut, want)
	}
}

// TestVariablesOfCommands: a flag of a single command is no environment variable.
func TestVariablesOfCommands(t *testing.T) {
	url, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "limit=10" {
			t.Errorf("asked for %s", r.URL)
		}
		_, _ = w.Write([]byte(`{"board":"b"}`))
	})
	env := map[string]string{
		"LEADERBOARD_URL": url, "LEADERBOARD_LIMIT": "20", "LEADERBOARD_MODE": "loose", "LEADERBOARD_JSON": "true", "LEADERBOARD_TIMEOUT": "soon",
		"LEADERBOARD_BOARDS": "a,b",
	}
	if status, out, errOut := runWith(t, env, "top", "b"); status != exitOK || !strings.Contains(out, "RANK") {
		t.Errorf("status %d, %s%s", status, out, errOut)
	}
	wantUsage(t, map[string]string{"LEADERBOARD_ALL": "true"}, "say which board", "refresh")
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := readWith(t, map[string]string{"LEADERBOARD_LOG": "xml"}, "--listen", "x")
	if err == nil || !strings.Contains(err.Error(), "--listen") || !strings.Contains(err.Error(), "LEADERBOARD_LOG") {
		t.Errorf("want both faults named: %v", err)
	}
}

// TestSecretsStaySecret gives secrets in every way, and checks that they are in no output.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel() // a submit without an answer is repeated for half a minute
	const secret = "hunter2secret"
	good := map[string]string{
		"LEADERBOARD_MYSQL_DSN": "root:" + secret + "@tcp(127.0.0.1:1)/leaderboard",
		"LEADERBOARD_REDIS_URL": "redis://:" + secret + "@127.0.0.1:1/0",
		"LEADERBOARD_KEYS":      "admin:" + secret,
		"LEADERBOARD_KEY":       secret,
		"LEADERBOARD_URL":       "http://127.0.0.1:1",
	}
	bad := map[string]string{
		"LEADERBOARD_MYSQL_DSN": "root:" + secret + "@tcp(127.0.0.1:1/leaderboard",
		"LEADERBOARD_REDIS_URL": "redis://:" + secret + "@127.0.0.1:x y/0",
		"LEADERBOARD_KEYS":      "admin:" + secret + ",admin:" + secret,
		"LEADERBOARD_KEY":       secret + " ",
	}
	for _, env := range []map[string]string{good, bad} {
		for _, args := range [][]string{
			{"serve", "--help"},
			{"board", "put", "--help"},
			{"serve", "--listen", "nowhere"},
			{"migrate", "up"},
			{"migrate", "status"},
			{"refresh", "b"},
			{"verify", "--all"},
			{"board", "show", "b"},
			{"submit", "b", "m=1"},
			{"version"},
		} {
			_, out, errOut := runWith(t, env, args...)
			if strings.Contains(out+errOut, secret) {
				t.Errorf("%v shows a secret:\n%s%s", args, out, errOut)
			}
		}
	}
	keys := []httpapi.SettingsKey{{Scope: leaderboard.ScopeAdmin, Secret: secret}}
	cfg := devOptions{Config: app.Config{Keys: keys}}
	top := readOptions{remote: remote{key: secret}}
	if s := fmt.Sprintf("%v %+v %+v %v %+v", cfg, &cfg, cfg.Keys, top, &top); strings.Contains(s, secret) {
		t.Errorf("printing a configuration shows a key: %s", s)
	}
	for place, want := range map[string]string{
		app.PlaceOfDSN(good["LEADERBOARD_MYSQL_DSN"]):                           "127.0.0.1:1/leaderboard",
		app.PlaceOfURL(good["LEADERBOARD_REDIS_URL"]):                           "127.0.0.1:1/0",
		app.PlaceOfURL("redis://u:" + secret + "@h1:1,h2:2/0?cluster=true"):     "h1:1,h2:2/0",
		app.PlaceOfURL("rediss://h1:1"):                                         "h1:1",
		app.PlaceOfURL(""):                                                      "none",
		app.PlaceOfDSN("root:" + secret + "@tcp(h1:1,h2)/db?tls=true"):          "h1:1,h2:3306/db",
		app.PlaceOfDSN("root:" + secret + "@unix(/tmp/mysql.sock)/db?tls=true"): "/tmp/mysql.sock/db",
	} {
		if place != want {
			t.Errorf("shown as %q, want %q", place, want)
		}
	}
}

func TestRuleFields(t *testing.T) {
	var body []byte
	url, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		_, _ = w.Write([]byte("{}"))
	})
	status, _, errOut := runWith(t, nil, "board", "put", "b", "--url", url,
		"--order", "asc", "--tiebreak-order", "asc", "--min-score", "-5", "--max-score", "9223372036854775807")
	want := `{"limits":{"max_score":9223372036854775807,"min_score":-5},"order":"asc","tiebreak":{"order":"asc"}}`
	if status != exitOK || string(body) != want {
		t.Errorf("status %d, %s, got %s want %s", status, errOut, body, want)
	}
}

// TestServerDefaults: the flags of a server have the defaults of the app.
func TestServerDefaults(t *testing.T) {
	got, err := readWith(t, nil)
	if want := app.Defaults(); err != nil || !same(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

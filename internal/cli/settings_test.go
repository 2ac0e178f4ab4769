package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/app"
	"leaderboard/internal/terminal"
)

var update = flag.Bool("update", false, "write docs/settings.md anew")

const settingsFile = "../../docs/settings.md"

// TestSettingsDocument keeps docs/settings.md what the table says: go test ./internal/cli -run Document -update.
func TestSettingsDocument(t *testing.T) {
	want := settingsDocument()
	if *update {
		if err := os.WriteFile(settingsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(settingsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the settings table says; go test ./internal/cli -run Document -update writes it anew", settingsFile)
	}
}

// settingsDocument is the table as Markdown, a section at a time.
func settingsDocument() []byte {
	var b bytes.Buffer
	b.WriteString("# Settings\n\nEach is a flag and an environment variable; a flag wins, an empty variable counts as not set. Durations are\n" +
		"written like `100ms`, `10s`, `1h30m`. Made from the table in `internal/cli/settings.go`.\n")
	section := ""
	for _, s := range settings() {
		if s.hidden {
			continue
		}
		if s.section != section {
			section = s.section
			fmt.Fprintf(&b, "\n## %s\n\n| flag | variable | default | |\n|---|---|---|---|\n", section)
		}
		fallback := ""
		if s.fallback != "" {
			fallback = "`" + s.fallback + "`"
		}
		fmt.Fprintf(&b, "| `--%s` | `%s` | %s | %s |\n", s.name, s.variable(), fallback, strings.ReplaceAll(s.usage, "|", "\\|"))
	}
	return b.Bytes()
}

func TestSettingsTable(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range settings() {
		if seen[s.name] {
			t.Errorf("%s is there twice", s.name)
		}
		seen[s.name] = true
		if s.usage == "" || s.section == "" || s.set == nil {
			t.Errorf("%s is incomplete", s.name)
		}
		if s.fallback != "" {
			if err := s.set(&config{}, s.fallback); err != nil {
				t.Errorf("the default of %s: %s", s.name, err)
			}
		}
		if s.secret && s.fallback != "" {
			t.Errorf("%s is secret and has a default", s.name)
		}
	}
	for _, names := range [][]string{serverSettings(), storeSettings(), clientSettings(), rulesSettings()} {
		for _, name := range names {
			if !seen[name] {
				t.Errorf("no setting is called %s", name)
			}
		}
	}
}

// runWith runs the command line and returns its exit status and what it wrote.
func runWith(t *testing.T, env map[string]string, args ...string) (status int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	status = run(ctx, append([]string{"leaderboard"}, args...), stdio{strings.NewReader(""), &o, &e}, func(name string) string { return env[name] })
	return status, o.String(), e.String()
}

// readWith parses the arguments of a command that takes the settings named.
func readWith(t *testing.T, env map[string]string, names []string, args ...string) (config, error) {
	t.Helper()
	var got config
	p := &program{stdio{strings.NewReader(""), io.Discard, io.Discard}, func(name string) string { return env[name] }}
	root := p.command()
	root.Commands = append(root.Commands, p.leaf("probe", "", "", func(_ context.Context, cfg config, _ []string) error {
		got = cfg
		return nil
	}, names...))
	err := root.Run(t.Context(), append([]string{"leaderboard", "probe"}, args...))
	return got, err
}

func TestPrecedence(t *testing.T) {
	names := []string{"listen", "local-ttl", "migrate", "redis-url"}
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want config
	}{
		"defaults":  {nil, nil, config{Config: app.Config{Listen: "127.0.0.1:8080", LocalTTL: 100 * time.Millisecond}}},
		"variables": {map[string]string{"LEADERBOARD_LISTEN": ":1", "LEADERBOARD_LOCAL_TTL": "1s", "LEADERBOARD_MIGRATE": "true"}, nil, config{Config: app.Config{Listen: ":1", LocalTTL: time.Second, Migrate: true}}},
		"flags win": {map[string]string{"LEADERBOARD_LISTEN": ":1", "LEADERBOARD_MIGRATE": "true"}, []string{"--listen", ":2", "--migrate=false"}, config{Config: app.Config{Listen: ":2", LocalTTL: 100 * time.Millisecond}}},
		"empty variables are not set": {
			map[string]string{"LEADERBOARD_LISTEN": "", "LEADERBOARD_MIGRATE": "", "LEADERBOARD_REDIS_URL": ""},
			nil,
			config{Config: app.Config{Listen: "127.0.0.1:8080", LocalTTL: 100 * time.Millisecond}},
		},
		"an empty flag takes a variable back": {
			map[string]string{"LEADERBOARD_REDIS_URL": "redis://h:1"},
			[]string{"--redis-url", ""},
			config{Config: app.Config{Listen: "127.0.0.1:8080", LocalTTL: 100 * time.Millisecond}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readWith(t, c.env, names, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %#v\nwant %#v", got, c.want)
			}
		})
	}
}

func TestBadValues(t *testing.T) {
	for name, values := range map[string][]string{
		"listen":          {"8080", "localhost", "127.0.0.1:99999", "a:b:c"},
		"local-ttl":       {"0", "-1s", "soon", "5"},
		"mysql-max-conns": {"0", "1", "many", "1.5", "99999999999999999999"},
		"log":             {"xml", "TEXT"},
		"log-level":       {"loud"},
		"migrate":         {"maybe"},
		"keys":            {"secret", "root:x", "admin:", "admin:a b", "admin:a,admin:a", "read:x,", "read:é"},
		"mysql-dsn":       {"localhost", "root@tcp(127.0.0.1:3306)/", "mysql://root@h/db"},
		"redis-url":       {"localhost:6379", "http://h:1", "redis://h:x"},
		"url":             {"127.0.0.1:8080", "ftp://h", "http://user:pw@h"},
		"fault":           {"kill", "pause:x", "stop:"},
		"mode":            {"loose"},
		"around":          {"-1", "501", "x"},
		"score":           {"1.5", "9223372036854775808"},
		"top-n":           {"x", "1e3"},
	} {
		for _, v := range values {
			for form, run := range map[string]func() (config, error){
				"flag":     func() (config, error) { return readWith(t, nil, []string{name}, "--"+name+"="+v) },
				"variable": func() (config, error) { return readWith(t, map[string]string{variableOf(name): v}, []string{name}) },
			} {
				if form == "flag" && name == "migrate" {
					continue // the command line parser says it
				}
				cfg, err := run()
				if err == nil {
					t.Errorf("%s %s = %q was taken: %#v", form, name, v, cfg)
				} else if !strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), variableOf(name)) {
					t.Errorf("%s %s = %q: the error does not name it: %s", form, name, v, err)
				}
			}
		}
	}
}

func variableOf(name string) string {
	all := settings()
	i := slices.IndexFunc(all, func(s setting) bool { return s.name == name })
	return all[i].variable()
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := readWith(t, map[string]string{"LEADERBOARD_LOG": "xml"}, []string{"listen", "log"}, "--listen", "x")
	if err == nil || !strings.Contains(err.Error(), "--listen") || !strings.Contains(err.Error(), "LEADERBOARD_LOG") {
		t.Errorf("want both faults named: %v", err)
	}
}

// TestSecretsStaySecret gives secrets in every way and looks for them in everything that is printed.
func TestSecretsStaySecret(t *testing.T) {
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
			{"refresh", "--board", "b"},
			{"verify", "--all"},
			{"board", "get", "b"},
			{"submit", "b", "m=1"},
			{"version"},
		} {
			_, out, errOut := runWith(t, env, args...)
			if strings.Contains(out+errOut, secret) {
				t.Errorf("%v shows a secret:\n%s%s", args, out, errOut)
			}
		}
	}
	var cfg config
	if err := setKeys(&cfg, "admin:"+secret); err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprintf("%v %+v %+v", cfg, &cfg, cfg.Keys); strings.Contains(s, secret) {
		t.Errorf("printing a configuration shows a key: %s", s)
	}
	for place, want := range map[string]string{
		app.PlaceOfDSN(good["LEADERBOARD_MYSQL_DSN"]):                           "127.0.0.1:1/leaderboard",
		app.PlaceOfURL(good["LEADERBOARD_REDIS_URL"]):                           "127.0.0.1:1/0",
		app.PlaceOfURL("redis://u:" + secret + "@h1:1,h2:2/0?cluster=true"):     "h1:1,h2:2/0",
		app.PlaceOfURL("rediss://h1:1"):                                         "h1:1",
		app.PlaceOfURL(""):                                                      "none",
		app.PlaceOfDSN("root:" + secret + "@unix(/tmp/mysql.sock)/db?tls=true"): "/tmp/mysql.sock/db",
	} {
		if place != want {
			t.Errorf("shown as %q, want %q", place, want)
		}
	}
}

func TestRuleFields(t *testing.T) {
	cfg, err := readWith(t, nil, rulesSettings(), "--order", "asc", "--tiebreak-order", "asc", "--min-score", "-5", "--max-score", "9223372036854775807")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := terminal.PrintJSON(&b, cfg.rules); err != nil {
		t.Fatal(err)
	}
	want := `{"limits":{"max_score":9223372036854775807,"min_score":-5},"order":"asc","tiebreak":{"order":"asc"}}` + "\n"
	if b.String() != want {
		t.Errorf("got %s want %s", b.String(), want)
	}
}

// TestServerDefaults: the table's defaults of a server are those of the app.
func TestServerDefaults(t *testing.T) {
	got, err := readWith(t, nil, append(serverSettings(), "migrate"))
	if want := app.Defaults(); err != nil || !reflect.DeepEqual(got.Config, want) {
		t.Errorf("%+v, %v, want %+v", got.Config, err, want)
	}
}

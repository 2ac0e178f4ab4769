package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// keyed is a server that says which key it was asked with since the last time, by all requests.
func keyed(t *testing.T) (url string, asked func() string) {
	t.Helper()
	key := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key <- strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		_, _ = w.Write([]byte(`{"boards":[]}`))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() string {
		got := "not asked"
		for len(key) > 0 {
			if k := <-key; got != "not asked" && k != got {
				t.Errorf("asked with %q and %q", got, k)
			} else {
				got = k
			}
		}
		return got
	}
}

// TestContexts: a command asks the server of --url, of --context, of the environment or of the context in use, in this order, and
// the key of a context goes to no other server.
func TestContexts(t *testing.T) {
	t.Parallel()
	one, oneAsked := keyed(t)
	two, twoAsked := keyed(t)
	home := t.TempDir()
	env := func(more ...string) map[string]string {
		m := map[string]string{"HOME": home}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	file := filepath.Join(home, ".config", "leaderboard", "config.yaml")
	keyFile := filepath.Join(home, "two.key")
	if err := os.WriteFile(keyFile, []byte("secret2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	must := func(want string, env map[string]string, args ...string) {
		t.Helper()
		status, out, errOut := runWith(t, env, args...)
		if status != exitOK || !strings.Contains(out, want) || errOut != "" || strings.Contains(out, "secret") {
			t.Errorf("%v: status %d, %s%s, want %q", args, status, out, errOut, want)
		}
	}
	must("one is "+one+", key: in this file", env(), "context", "set", "one", "--url", one, "--key", "secret1")
	must("two is "+two, env("LEADERBOARD_URL", one, "LEADERBOARD_KEY", "other"), "context", "set", "two", "--url", two, "--key-file", keyFile)
	must("*       one ", env(), "context", "list")
	must(`{"name":"two","current":false,"url":"`+two+`","key":"`+keyFile+`"}`, env(), "context", "list", "--json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, c := range []struct {
		env      map[string]string
		args     string
		one, two string // the key that each is asked with
	}{
		{env(), "board list", "secret1", "not asked"},
		{env(), "board list --context two", "not asked", "secret2"},
		{env(), "--context two board list", "not asked", "secret2"},
		{env("LEADERBOARD_CONTEXT", "two"), "board list", "not asked", "secret2"},
		{env("LEADERBOARD_CONTEXT", "two"), "board list --context one", "secret1", "not asked"},
		{env("LEADERBOARD_URL", two), "board list", "not asked", ""},
		{env("LEADERBOARD_URL", two, "LEADERBOARD_KEY", "mine"), "board list", "not asked", "mine"},
		{env("LEADERBOARD_KEY", "mine"), "board list", "mine", "not asked"},
		{env("LEADERBOARD_URL", one, "LEADERBOARD_KEY", "mine"), "board list --context two", "not asked", "secret2"},
		{env(), "board list --url " + two, "not asked", ""},
		{env(), "board list --context one --url " + two, "not asked", ""},
		{env(), "board list --key typed", "typed", "not asked"},
		{env("LEADERBOARD_KEY", "mine"), "board list --context two --key typed", "not asked", "typed"},
		{env("LEADERBOARD_MYSQL_DSN", "root@tcp(127.0.0.1:1)/none"), "refresh --all --context two", "not asked", "secret2"},
	} {
		if status, out, errOut := runWith(t, c.env, strings.Fields(c.args)...); status != exitOK && !strings.HasPrefix(c.args, "refresh") {
			t.Errorf("%s: status %d, %s%s", c.args, status, out, errOut)
		}
		if gotOne, gotTwo := oneAsked(), twoAsked(); gotOne != c.one || gotTwo != c.two {
			t.Errorf("%v %s: asked with %q and %q, want %q and %q", c.env, c.args, gotOne, gotTwo, c.one, c.two)
		}
	}
	must("two is in use: "+two, env(), "context", "use", "two")
	must("", env(), "board", "list")
	if got := twoAsked(); got != "secret2" {
		t.Errorf("the one in use is asked with %q", got)
	}
	must("one", env(), "completion", "words", "bash", "board", "list", "--context", "")
	must("two is removed", env(), "context", "remove", "two")
	must(`[{"name":"one","current":false,`, env(), "context", "list", "--json")
	must("one is "+two+", key: none", env(), "context", "set", "one", "--url", two) // the key was for the other
	wantUsage(t, env(), `unknown context "onee": did you mean "one"?`, "board", "list", "--context", "onee")
	wantUsage(t, env(), "not both", "context", "set", "one", "--key", "secret1", "--key-file", keyFile)
	wantUsage(t, env(), "want the server", "context", "set", "three", "--key", "secret1")
	wantUsage(t, env(), "want a name of letters", "context", "set", "a b", "--url", one)
}

// TestContextFile: errors in the file of contexts are reported by line, without its content. A user who takes a key from a file
// that others may read gets a warning.
func TestContextFile(t *testing.T) {
	t.Parallel()
	url, asked := keyed(t)
	folder := t.TempDir()
	env := map[string]string{"XDG_CONFIG_HOME": folder}
	file := filepath.Join(folder, "leaderboard", "config.yaml")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	list := func(content string, mode os.FileMode) (status int, errOut string) {
		t.Helper()
		_ = os.Remove(file)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		status, out, errOut := runWith(t, env, "board", "list")
		if strings.Contains(out+errOut, "secret") {
			t.Errorf("it shows a secret: %s%s", out, errOut)
		}
		return status, errOut
	}
	good := "current: a\ncontexts:\n  a:\n    url: " + url + "\n    key: secret\n"
	if status, errOut := list(good, 0o600); status != exitOK || errOut != "" || asked() != "secret" {
		t.Errorf("status %d, %s", status, errOut)
	}
	if status, errOut := list(good, 0o640); status != exitOK || !strings.Contains(errOut, "others may read "+file) || asked() != "secret" {
		t.Errorf("status %d, %s", status, errOut)
	}
	if status, errOut := list(strings.Replace(good, "    key: secret\n", "", 1), 0o644); status != exitOK || errOut != "" || asked() != "" {
		t.Errorf("without a key: status %d, %s", status, errOut)
	}
	for content, says := range map[string]string{
		"curent: a\n":               `line 1: unknown key "curent": did you mean "current"?`,
		good + "    kee: secret\n":  `line 6: unknown key "kee": did you mean "key"?`,
		good + "    key: secret\n":  "line 6: key is there twice",
		"current: b\n" + good[11:]:  `unknown context "b"`,
		"current: b\n":              "`leaderboard context set b --url URL` makes it",
		"- secret\n":                "line 1: want lines of the form",
		"current: {a: secret}\n":    "line 1: want a value",
		"current: \"secret\nx: [\n": "is no YAML",
		strings.Replace(good, "key: secret", "key-file: /none", 1):    "context a: key-file: open /none",
		strings.Replace(good, "key: secret", "key: \"se cret\"", 1):   "context a: a key is visible ASCII",
		strings.Replace(good, "url: http://", "url: root:secret@", 1): "context a: want the form http://127.0.0.1:8080",
	} {
		if status, errOut := list(content, 0o600); status != exitUsage || !strings.Contains(errOut, says) || asked() != "not asked" {
			t.Errorf("%q: status %d, %s, want %s", content, status, errOut, says)
		}
	}
}

// TestConfigFile: a file of settings is used for settings without a flag and a variable, and its errors are reported.
func TestConfigFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "serve.yaml")
	check := func(content string, env map[string]string, flags ...string) (int, string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		status, out, errOut := runWith(t, env, append([]string{"serve", "--check", "--config", file}, flags...)...)
		if strings.Contains(out+errOut, "secret") {
			t.Errorf("it shows a secret: %s%s", out, errOut)
		}
		return status, out + errOut
	}
	const good = "listen: 127.0.0.1:0\nmysql-dsn: root:secret@tcp(127.0.0.1:1)/of_the_file\ntrusted-proxies: [10.0.0.0/8, 192.0.2.7]\nmax-connections: 100\nmax-connections-per-address: 5\nmigrate: true\nredis-url:\n"
	const variable = "root:secret@tcp(127.0.0.1:2)/lb"
	for _, c := range []struct {
		content string
		env     map[string]string
		flags   []string
		status  int
		says    string
	}{
		{good, nil, nil, exitFailed, "127.0.0.1:1: connect"},
		{good, nil, nil, exitFailed, "enough for 100 connections"},
		{good, map[string]string{"LEADERBOARD_MYSQL_DSN": variable}, nil, exitFailed, "127.0.0.1:2: connect"},
		{good, map[string]string{"LEADERBOARD_MYSQL_DSN": variable}, []string{"--mysql-dsn", "root:secret@tcp(127.0.0.1:3)/lb"}, exitFailed, "127.0.0.1:3: connect"},
		{good + "lisen: x\n", nil, nil, exitUsage, `line 8: unknown setting "lisen": did you mean "listen"?`},
		{good + "config: x\n", nil, nil, exitUsage, `unknown setting "config"`},
		{good + "max-age: soon\n", nil, nil, exitUsage, "max-age in the file of --config: want a duration"},
		{good + "keys: secret\n", nil, nil, exitUsage, "keys in the file of --config: key 1 of the list: want scope:key"},
		{good + "keys: [admin:secret, {}]\n", nil, nil, exitUsage, "line 8: want a value"},
		{"max-age: 1s\n", nil, nil, exitUsage, "no database given"},
		{"", nil, nil, exitUsage, "no database given"},
	} {
		if status, said := check(c.content, c.env, c.flags...); status != c.status || !strings.Contains(said, c.says) {
			t.Errorf("%q %v %v: status %d, want %d and %q\n%s", c.content, c.env, c.flags, status, c.status, c.says, said)
		}
	}
	wantUsage(t, nil, "no such file", "serve", "--check", "--config", file+"x")
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, _ := runWith(t, map[string]string{"LEADERBOARD_CONFIG": file}, "serve", "--check"); status != exitFailed || !strings.Contains(out, "127.0.0.1:1: connect") {
		t.Errorf("by a variable: status %d, %s", status, out)
	}
}

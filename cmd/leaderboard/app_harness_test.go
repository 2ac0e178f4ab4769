package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Keys that the apps of the tests know.
const (
	adminTestKey = "test-admin-key"
	writeTestKey = "test-write-key"
)

// patience is longer than anything takes on a machine that works, however busy it is.
const patience = time.Minute

// lockedBuffer is a log that is written and read at the same time.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// testApp is an app that runs in this process.
type testApp struct {
	*App
	t       *testing.T
	log     *lockedBuffer
	stopped bool
}

// startApp starts an app on a free port with the settings given as environment variables without LEADERBOARD_.
func startApp(t *testing.T, settings map[string]string, change ...func(*config)) *testApp {
	t.Helper()
	env := map[string]string{
		"LEADERBOARD_LISTEN": "127.0.0.1:0", "LEADERBOARD_MIGRATE": "true", "LEADERBOARD_LOG_LEVEL": "debug",
		"LEADERBOARD_KEYS": "admin:" + adminTestKey + ",write:" + writeTestKey,
	}
	for name, value := range settings {
		env["LEADERBOARD_"+name] = value
	}
	if address := settings["REDIS_URL"]; address != "" {
		env["LEADERBOARD_REDIS_URL"] = address + "?read_timeout=1m&write_timeout=1m&pool_timeout=1m" // no test here is about a slow one
	}
	cfg, err := readWith(t, env, append(serverSettings(), "migrate"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.readerWait = patience
	for _, c := range change {
		c(&cfg)
	}
	a := &testApp{t: t, log: &lockedBuffer{}}
	if a.App, err = newApp(t.Context(), cfg, newLogger(a.log, &cfg)); err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.stop()
		if t.Failed() {
			t.Log("the app's log: " + brief(a.log.String()))
		}
	})
	return a
}

// brief is what of a log helps to understand a failure: its warnings and errors, and how it ends.
func brief(log string) string {
	const end = 20
	lines := strings.Split(strings.TrimSpace(log), "\n")
	var out []string
	left := 0
	for i, line := range lines {
		if i < len(lines)-end && (strings.Contains(line, "level=DEBUG") || strings.Contains(line, "level=INFO")) {
			left++
			continue
		}
		out = append(out, line)
	}
	return fmt.Sprintf("%d lines left out\n%s", left, strings.Join(out, "\n"))
}

// startReady is startApp, and waits until the app is ready.
func startReady(t *testing.T, settings map[string]string, change ...func(*config)) *testApp {
	t.Helper()
	a := startApp(t, settings, change...)
	a.await("/readyz", http.StatusOK)
	return a
}

func (a *testApp) stop() {
	a.t.Helper()
	if a.stopped {
		return
	}
	a.stopped = true
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := a.Stop(ctx); err != nil {
		a.t.Errorf("stop: %s", err)
	}
}

// eventually polls until check says "" and fails with what it said last when that takes too long.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		said := check()
		if said == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still: %s", said)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// await polls a path until it has the status.
func (a *testApp) await(path string, status int) {
	a.t.Helper()
	eventually(a.t, func() string {
		got, body := a.get("http://" + a.Addr() + path)
		if got == status {
			return ""
		}
		return path + " says " + string(body)
	})
}

// get asks an address, 0 when nobody answers.
func (a *testApp) get(target string) (int, []byte) {
	resp, err := http.Get(target)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, []byte(err.Error())
	}
	return resp.StatusCode, body
}

// object is a JSON object; numbers are kept as they were written.
type object map[string]any

func (o object) text(name string) string {
	switch v := o[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return ""
}

// list is the values of one field of the objects in a list, separated by spaces.
func (o object) list(name, field string) string {
	var out []string
	items, _ := o[name].([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			out = append(out, object(m).text(field))
		}
	}
	return strings.Join(out, " ")
}

// ask calls the API with the admin key and fails unless the status is the one wanted.
func (a *testApp) ask(status int, method, path, body string, header ...http.Header) object {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, "http://"+a.Addr()+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminTestKey)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range header {
		maps.Copy(req.Header, h)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	if resp.StatusCode != status {
		a.t.Fatalf("%s %s: status %d, want %d: %s", method, path, resp.StatusCode, status, answer)
	}
	out := object{}
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil && len(answer) > 0 {
		a.t.Fatalf("%s %s: %s in %s", method, path, err, answer)
	}
	return out
}

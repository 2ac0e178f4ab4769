package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// output reads a stream of a process, line by line.
type output struct {
	read, write *os.File

	mu      sync.Mutex
	lines   []string
	ended   bool
	changed chan struct{} // closed at the next line, and at the end
}

// open makes the stream. follow must be called when the process has its end of it.
func (o *output) open(t *testing.T) *os.File {
	t.Helper()
	var err error
	if o.read, o.write, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	o.changed = make(chan struct{})
	return o.write
}

func (o *output) follow() {
	_ = o.write.Close() // the child has its own
	go func() {
		defer o.read.Close()
		lines := bufio.NewScanner(o.read)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			o.add(lines.Text(), false)
		}
		o.add("", true)
	}()
}

func (o *output) add(line string, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended = ended; !ended {
		o.lines = append(o.lines, line)
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.lines, "\n")
}

// awaitEnd waits until everything is read. The process has ended.
func (o *output) awaitEnd(t *testing.T) string {
	t.Helper()
	o.awaitLine(t, "the end of the output", func(string) bool { return false }, true)
	return o.text()
}

// awaitLine waits for a line that matches. With endIsFine, the end of the output is no failure.
func (o *output) awaitLine(t *testing.T, what string, match func(string) bool, endIsFine bool) {
	t.Helper()
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	for seen := 0; ; {
		o.mu.Lock()
		fresh, ended, changed := o.lines[seen:], o.ended, o.changed
		o.mu.Unlock()
		for _, line := range fresh {
			if match(line) {
				return
			}
		}
		seen += len(fresh)
		if ended {
			if !endIsFine {
				t.Fatalf("the output ended without %s:\n%s", what, tail(o.text(), 40))
			}
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			t.Fatalf("after %s still not: %s:\n%s", maxWait, what, tail(o.text(), 40))
		}
	}
}

// awaitLog waits for the message of a log in JSON and returns one of its attributes.
func (o *output) awaitLog(t *testing.T, message, attribute string) string {
	t.Helper()
	value := ""
	o.awaitLine(t, "the message "+message, func(line string) bool {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) != nil || fields["msg"] != message {
			return false
		}
		value, _ = fields[attribute].(string)
		return true
	}, false)
	return value
}

// brief returns the part of an output that helps to understand a failure: its end, and of the rest all but log lines below
// warning.
func brief(text string) string {
	const end, most = 20, 400
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var out []string
	for i, line := range lines {
		var fields struct{ Level string }
		if i < len(lines)-end && json.Unmarshal([]byte(line), &fields) == nil && (fields.Level == "INFO" || fields.Level == "DEBUG") {
			continue
		}
		out = append(out, line)
	}
	return fmt.Sprintf("%d lines left out\n%s", len(lines)-len(out), tail(strings.Join(out, "\n"), most))
}

// tail returns the last n lines of a text.
func tail(text string, n int) string {
	lines := strings.Split(text, "\n")
	if len(lines) > n {
		lines = append([]string{"…"}, lines[len(lines)-n:]...)
	}
	return strings.Join(lines, "\n")
}

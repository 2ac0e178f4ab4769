package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/testenv"
)

// TestMain lets the test program be the bare handler too, which the benchmark runs itself as.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-bare" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(testenv.Main(m))
}

func TestBadFlags(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"-only reads,nothing", `no topic "nothing"`},
		{"-members 9999", "members must be"},
		{"-members 1000000001", "members must be"},
		{"-pace 0", "pace"},
		{"-members many", "invalid value"},
	} {
		var log bytes.Buffer
		if got := run(strings.Fields(c.args), io.Discard, &log); got != 2 || !strings.Contains(log.String(), c.says) {
			t.Errorf("%s: exit status %d, says %s", c.args, got, log.String())
		}
	}
}

// TestWants: all topics but the last two, which have to be named.
func TestWants(t *testing.T) {
	var all, some options
	some.only = splitNames("beyond,giant")
	for _, name := range topicNames() {
		if got, want := all.wants(name), name != giantTopic && name != beforeTopic; got != want {
			t.Errorf("%s of all is wanted: %t", name, got)
		}
		if got, want := some.wants(name), name == giantTopic || name == "beyond"; got != want {
			t.Errorf("%s of two is wanted: %t", name, got)
		}
	}
}

func TestPaceOption(t *testing.T) {
	o := options{pace: 0.5}
	if got := o.seconds(3); got != 1500*time.Millisecond {
		t.Errorf("3 s at half the pace are %v", got)
	}
}

func TestCommand(t *testing.T) {
	o := options{pace: 1}
	if got := o.command("reads"); got != "-only reads" {
		t.Error(got)
	}
	o = options{members: 20_000, pace: 0.5, serveArgs: []string{"--x", "y"}}
	if got := o.command("beyond"); got != `-only beyond -members 20000 -pace 0.5 -serve "--x y"` {
		t.Error(got)
	}
}

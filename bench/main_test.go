package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"leaderboard"
	"leaderboard/client"
)

func TestBadFlags(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"-only reads,nothing", `no section "nothing"`},
		{"-members 9999", "members must be"},
		{"-members 10000001", "members must be"},
		{"-pace 0", "pace"},
		{"-giant -giant-members 99999", "giant-members"},
		{"-pairs 0", "pairs"},
		{"-members many", "invalid value"},
	} {
		var log bytes.Buffer
		if got := run(strings.Fields(c.args), io.Discard, &log); got != 2 || !strings.Contains(log.String(), c.says) {
			t.Errorf("%s: exit status %d, says %s", c.args, got, log.String())
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
	o := options{members: defaultMembers, boards: manyBoards, pace: 1, pairs: defaultPairs}
	if got := o.command("reads"); got != "make bench ARGS='-only reads'" {
		t.Error(got)
	}
	o = options{members: 20_000, pace: 0.5, pairs: 1, huge: true, serveArgs: []string{"--x", "y"}}
	if got := o.command("index"); got != `make bench ARGS='-only index -members 20000 -huge -pace 0.5 -pairs 1 -serve "--x y"'` {
		t.Error(got)
	}
}

func TestIndexSizes(t *testing.T) {
	for _, c := range []struct {
		members int
		huge    bool
		want    []int
	}{
		{10_000, false, []int{10_000}},
		{20_000, false, []int{10_000, 20_000}},
		{1_000_000, false, []int{10_000, 100_000, 1_000_000}},
		{1_000_000, true, []int{10_000, 100_000, 1_000_000, 10_000_000}},
		{10_000_000, true, []int{10_000, 100_000, 1_000_000, 10_000_000}},
	} {
		got := indexSizes(c.members, c.huge)
		if len(got) != len(c.want) {
			t.Fatalf("%d, huge %t: %v", c.members, c.huge, got)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%d, huge %t: %v", c.members, c.huge, got)
			}
		}
	}
}

func TestPoolSize(t *testing.T) {
	const gb = 1 << 30
	if got := poolSize([]int{10_000}, 8*gb); got < leastPool || got > 2*leastPool {
		t.Errorf("a small board gets a pool of %d bytes", got)
	}
	if got := poolSize([]int{10_000_000}, 24*gb); got < 2*gb || got > 4*gb {
		t.Errorf("ten million members get a pool of %d bytes", got)
	}
	if got := poolSize([]int{10_000_000}, 3*gb); got != gb {
		t.Errorf("with 3 GB of memory the pool is %d bytes", got)
	}
}

func TestGrowthOf(t *testing.T) {
	seen := []latency{
		{rank: []time.Duration{100, 1000, 100}}, // the machine was slow in the second round, for all
		{rank: []time.Duration{120, 1200, 130}},
		{rank: []time.Duration{90, 900, 90}},
	}
	if got := growthOf(seen); got < 1.33 || got > 1.34 {
		t.Errorf("growth %v, want 120/90", got)
	}
}

func TestTookOf(t *testing.T) {
	took, err := tookOf(client.Run{State: leaderboard.RunStateDone, Took: "12.5ms"}, true)
	if err != nil || took != 12500*time.Microsecond {
		t.Errorf("got %v, %v", took, err)
	}
	for _, bad := range []client.Run{{State: leaderboard.RunStateFailed, Took: "1ms"}, {State: leaderboard.RunStateDone, Took: "soon"}, {}} {
		if _, err := tookOf(bad, true); err == nil {
			t.Errorf("%+v was understood", bad)
		}
	}
	if _, err := tookOf(client.Run{State: leaderboard.RunStateDone, Took: "1ms"}, false); err == nil {
		t.Error("a run that goes on was understood")
	}
}

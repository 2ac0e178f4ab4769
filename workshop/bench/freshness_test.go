package main

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/testenv"
)

func TestFreshnessOf(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(1_000_000 + ms)) }
	acks := []ack{{12, at(300)}, {11, at(200)}, {10, at(100)}, {13, at(250)}} // 13 was acknowledged before 12
	polls := []poll{
		{sent: at(90), got: at(95), seq: 9},                 // nothing was acknowledged yet
		{sent: at(150), got: at(160), seq: 10},              // knows all
		{sent: at(230), got: at(270), seq: 10},              // 11 was acknowledged 30 ms before
		{sent: at(231), got: at(235), seq: 12},              // ahead of the acknowledged seqs
		{sent: at(240), got: at(245), seq: 11},              // older than its predecessor
		{sent: at(234), got: at(245), seq: 11},              // 12 was not there when it was asked for
		{sent: at(310), got: at(320), seq: 11},              // 13 was acknowledged 60 ms before, earlier than 12; and behind
		{sent: at(900), got: at(901), seq: 13, stale: true}, // marked stale without need
		{sent: at(950), got: at(951), seq: 12, stale: true}, // 700 ms old, and back
		{sent: at(960), got: at(961), failed: true},
	}
	f := freshnessOf(polls, acks)
	if f.samples != 10 || f.stale != 2 || f.failed != 1 || f.back != 3 || f.backStale != 1 || f.commits != 4 || f.staleMax != 700*time.Millisecond {
		t.Errorf("%+v", f)
	}
	if len(f.ages) != 7 || f.quantile(1) != 60*time.Millisecond || f.quantile(0) != 0 || f.ages[5] != 30*time.Millisecond {
		t.Errorf("ages %v", f.ages)
	}
	if r := f.row("gone"); r.met != "no" || !strings.Contains(r.here, "at most 60 ms") || !strings.Contains(r.here, "10 answers: 2 stale, 3 back, 1 errors") {
		t.Errorf("%+v", r)
	}
	if r := freshnessOf(polls[:3], acks).row("healthy"); r.met != "yes" {
		t.Errorf("%+v", r)
	}
}

// lagging is a service whose answers are as old as lag says.
type lagging struct {
	mu      sync.Mutex
	commits []time.Time
	lag     time.Duration
}

func (l *lagging) handle(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Method == http.MethodPost {
		l.commits = append(l.commits, time.Now())
		sayState(w, "", int64(len(l.commits)), false)
		return
	}
	seq := int64(0)
	for seq < int64(len(l.commits)) && time.Since(l.commits[seq]) >= l.lag {
		seq++
	}
	sayState(w, "local", seq, false)
}

// TestWatchFault polls a service that is 100 ms behind, and finds that age.
func TestWatchFault(t *testing.T) {
	l := &lagging{lag: 100 * time.Millisecond}
	w := fakeService(t, l.handle)
	nothing := redisFaults()[0]
	seen, err := w.watchFault(t.Context(), w.service, w.service, nil, nothing)
	if err != nil {
		t.Fatal(err)
	}
	if seen.samples != int(freshSamples*w.pace) || seen.commits < 5 || seen.back > 0 || seen.stale > 0 || seen.failed > 0 {
		t.Errorf("%+v", seen)
	}
	if worst := seen.quantile(1); worst < 60*time.Millisecond || worst > l.lag+freshGoal {
		t.Errorf("the oldest answer of a service 100 ms behind is %s old", worst)
	}
}

// TestRedisFaults: each fault is a fault, and ends.
func TestRedisFaults(t *testing.T) {
	s := testenv.PrivateRedis(t)
	takesWrites := func() bool { return redisCommand(s.Addr, "SET", "a", "b") == nil }
	for _, f := range redisFaults() {
		if err := f.begin(t.Context(), s); err != nil {
			t.Fatalf("%s: %s", f.name, err)
		}
		healthy := f.name == "healthy" || f.name == "flushed every second"
		if got := takesWrites(); got != healthy {
			t.Errorf("%s: Redis takes writes: %t", f.name, got)
		}
		if err := f.end(t.Context(), s); err != nil {
			t.Fatalf("%s: %s", f.name, err)
		}
		for start := time.Now(); !takesWrites(); {
			if time.Since(start) > 30*time.Second {
				t.Fatalf("after %s Redis takes no writes", f.name)
			}
		}
	}
}

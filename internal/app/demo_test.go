package app

import (
	"fmt"
	"slices"
	"testing"

	"leaderboard"
)

// TestDemoEntries: the demo is plausible, has real ties, and is the same on every machine.
func TestDemoEntries(t *testing.T) {
	const now = leaderboard.Micros(1_800_000_000_000_000)
	entries := demoEntries(0, 5000, now)
	if got := slices.Concat(demoEntries(0, 100, now), demoEntries(100, 5000, now)); fmt.Sprint(got[4999].Score) != fmt.Sprint(entries[4999].Score) {
		t.Error("the entries depend on how they are cut into batches")
	}
	members, scores := map[string]bool{}, map[int64]int{}
	for _, e := range entries {
		members[e.Member] = true
		scores[e.Score]++
		if e.Score < 0 || e.Score > demoBest || *e.CreatedTime > now || *e.CreatedTime < now-leaderboard.Micros(demoSpan.Microseconds()) {
			t.Fatalf("%+v at %s", e, *e.CreatedTime)
		}
		if broken := leaderboard.CheckMember(e.Member); broken != nil {
			t.Fatal(broken)
		}
	}
	if len(members) != 5000 {
		t.Errorf("%d different members", len(members))
	}
	if scores[demoBest] < 2 || len(scores) < 100 || len(scores) > 1000 {
		t.Errorf("%d different scores, %d members share the best", len(scores), scores[demoBest])
	}
	slices.SortFunc(entries, func(a, b leaderboard.Submission) int { return int(a.Score - b.Score) })
	if median := entries[2500].Score; median < 300 || median > 1500 {
		t.Errorf("the median score is %d", median)
	}
	// Golden: the examples in the documentation name these.
	if e := demoEntries(DemoShown, DemoShown+1, now)[0]; e.Member != "lucky-ibex-8" || e.Score != demoEntries(0, 10, now)[DemoShown].Score {
		t.Errorf("%+v", e)
	}
}

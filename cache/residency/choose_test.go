package residency

import (
	"slices"
	"testing"
	"time"
)

// TestChoose: who is loaded and who leaves.
func TestChoose(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000, 0)
	in := func(id int64, heat float64, bytes int64) candidate {
		return candidate{id: id, heat: heat, bytes: bytes, resident: true, loaded: now.Add(-time.Hour), read: now}
	}
	out := func(id int64, heat float64, bytes int64) candidate {
		return candidate{id: id, heat: heat, bytes: bytes, read: now}
	}
	with := func(c candidate, change func(*candidate)) candidate {
		change(&c)
		return c
	}
	pinned := func(c *candidate) { c.pinned = true }
	const hot = 10_000
	for name, c := range map[string]struct {
		budget int64
		all    []candidate
		leave  []int64
		load   int64
	}{
		"nobody":                    {100, nil, nil, 0},
		"not read enough":           {1 << 30, []candidate{out(1, warm-1, 0)}, nil, 0},
		"read enough, size unknown": {1 << 30, []candidate{out(1, warm, 0)}, nil, 1},
		"not enough for its size":   {1 << 30, []candidate{out(1, warm+10, entryBytes*entriesPerHeat*20)}, nil, 0},
		"pinned, hardly read":       {1 << 30, []candidate{with(out(1, 1, 1<<20), pinned)}, nil, 1},
		"the hottest first":         {1 << 30, []candidate{out(1, hot, 1), out(2, 2*hot, 1)}, nil, 2},
		"pinned before hotter":      {1 << 30, []candidate{with(out(1, 1, 1), pinned), out(2, hot, 1)}, nil, 1},
		"too large ever":            {100, []candidate{out(1, hot, 101)}, nil, 0},
		"too large, the next fits":  {100, []candidate{out(1, 2*hot, 101), out(2, hot, 100)}, nil, 2},
		"takes the coldest's place": {100, []candidate{in(1, 10, 50), in(2, 20, 50), out(3, hot, 50)}, []int64{1}, 3},
		"takes two places":          {100, []candidate{in(1, 10, 50), in(2, 20, 50), out(3, hot, 51)}, []int64{1, 2}, 3},
		"read alike: no turns":      {100, []candidate{in(1, hot, 80), out(2, 1.9*hot, 80)}, nil, 0},
		"much hotter":               {100, []candidate{in(1, hot, 80), out(2, hotter*hot, 80)}, []int64{1}, 2},
		"just come":                 {100, []candidate{with(in(1, 1, 80), func(c *candidate) { c.loaded = now.Add(-minStay + 1) }), out(2, hot, 80)}, nil, 0},
		"pinned ones stay":          {100, []candidate{with(in(1, 0, 80), pinned), out(2, hot, 80)}, nil, 0},
		"pinned ones take place":    {100, []candidate{in(1, hot, 80), with(out(2, 1, 80), pinned)}, []int64{1}, 2},
		"grown out of the budget":   {100, []candidate{in(1, 1, 60), in(2, 2, 60)}, []int64{1}, 0},
		"grown, pinned last":        {100, []candidate{with(in(1, 1, 60), pinned), in(2, hot, 60)}, []int64{2}, 0},
		"nobody reads it":           {100, []candidate{with(in(1, 1, 60), func(c *candidate) { c.read = now.Add(-idle - 1) })}, []int64{1}, 0},
		"nobody reads a pinned one": {100, []candidate{with(in(1, 1, 60), func(c *candidate) { c.read, c.pinned = now.Add(-idle-1), true })}, []int64{1}, 0},
		"pinned ones that are not read yield to those that are": {
			100, []candidate{with(in(1, 1, 60), func(c *candidate) { c.read, c.pinned = now.Add(-minStay), true }), with(out(2, 1, 60), pinned)}, []int64{1}, 2,
		},
		"pinned ones that are read do not": {
			100, []candidate{with(in(1, 1, 60), pinned), with(out(2, 1, 60), pinned)}, nil, 0,
		},
		"unfit while resident": {100, []candidate{with(in(1, hot, 60), func(c *candidate) { c.unfit = true })}, []int64{1}, 0},
		"unfit":                {100, []candidate{with(out(1, hot, 60), func(c *candidate) { c.unfit = true })}, nil, 0},
	} {
		leave, load := choose(now, c.budget, c.all)
		if slices.Sort(leave); !slices.Equal(leave, c.leave) || load != c.load {
			t.Errorf("%s: %v leave and %d is loaded, want %v and %d", name, leave, load, c.leave, c.load)
		}
	}
}

// TestTwoThatDoNotFitDoNotTakeTurns: two periods that are read alike and fit only one at a time are loaded once.
func TestTwoThatDoNotFitDoNotTakeTurns(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000, 0)
	all := []candidate{{id: 1, bytes: 200, read: now}, {id: 2, bytes: 200, read: now}}
	loads := 0
	for second := range 600 {
		now = now.Add(time.Second)
		for i := range all {
			all[i].heat, all[i].read = cooled(all[i].heat, time.Second)+1000+float64(500*((second+i)%2)), now
		}
		leave, load := choose(now, 256, all)
		for i := range all {
			all[i].resident = all[i].resident && !slices.Contains(leave, all[i].id)
			if all[i].id == load {
				all[i].resident, all[i].loaded = true, now
				loads++
			}
		}
	}
	if loads != 1 {
		t.Errorf("%d loads in ten minutes, want 1", loads)
	}
}

package resident

import (
	"slices"
	"testing"
	"time"
)

// TestChoose: which period is loaded and which ones leave.
func TestChoose(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000, 0)
	in := func(id int64, reads float64, bytes int64) *candidate {
		return &candidate{id: id, reads: reads, bytes: bytes, resident: true, loaded: now.Add(-time.Hour), lastRead: now}
	}
	out := func(id int64, reads float64, bytes int64) *candidate {
		return &candidate{id: id, reads: reads, bytes: bytes, lastRead: now}
	}
	with := func(c *candidate, change func(*candidate)) *candidate {
		change(c)
		return c
	}
	pinned := func(c *candidate) { c.pinned = true }
	const busy = 10_000
	for name, c := range map[string]struct {
		budget int64
		all    []*candidate
		leave  []int64
		load   int64
	}{
		"nobody":                            {100, nil, nil, 0},
		"not read enough":                   {1 << 30, []*candidate{out(1, enough-1, 0)}, nil, 0},
		"read enough, size unknown":         {1 << 30, []*candidate{out(1, enough, 0)}, nil, 1},
		"not enough for its size":           {1 << 30, []*candidate{out(1, enough+10, entryBytes*entriesPerRead*20)}, nil, 0},
		"pinned, hardly read":               {1 << 30, []*candidate{with(out(1, 1, 1<<20), pinned)}, nil, 1},
		"the most read first":               {1 << 30, []*candidate{out(1, busy, 1), out(2, 2*busy, 1)}, nil, 2},
		"pinned before more read":           {1 << 30, []*candidate{with(out(1, 1, 1), pinned), out(2, busy, 1)}, nil, 1},
		"too large ever":                    {100, []*candidate{out(1, busy, 101)}, nil, 0},
		"too large, the next fits":          {100, []*candidate{out(1, 2*busy, 101), out(2, busy, 100)}, nil, 2},
		"takes the place of the least read": {100, []*candidate{in(1, 10, 50), in(2, 20, 50), out(3, busy, 50)}, []int64{1}, 3},
		"takes two places":                  {100, []*candidate{in(1, 10, 50), in(2, 20, 50), out(3, busy, 51)}, []int64{1, 2}, 3},
		"read alike: no turns":              {100, []*candidate{in(1, busy, 80), out(2, 1.9*busy, 80)}, nil, 0},
		"read much more":                    {100, []*candidate{in(1, busy, 80), out(2, much*busy, 80)}, []int64{1}, 2},
		"just come":                         {100, []*candidate{with(in(1, 1, 80), func(c *candidate) { c.loaded = now.Add(-minStay + 1) }), out(2, busy, 80)}, nil, 0},
		"pinned ones stay":                  {100, []*candidate{with(in(1, 0, 80), pinned), out(2, busy, 80)}, nil, 0},
		"pinned ones take place":            {100, []*candidate{in(1, busy, 80), with(out(2, 1, 80), pinned)}, []int64{1}, 2},
		"grown out of the budget":           {100, []*candidate{in(1, 1, 60), in(2, 2, 60)}, []int64{1}, 0},
		"grown, pinned last":                {100, []*candidate{with(in(1, 1, 60), pinned), in(2, busy, 60)}, []int64{2}, 0},
		"it is not read":                    {100, []*candidate{with(in(1, 1, 60), func(c *candidate) { c.lastRead = now.Add(-idle - 1) })}, []int64{1}, 0},
		"a pinned one is not read":          {100, []*candidate{with(in(1, 1, 60), func(c *candidate) { c.lastRead, c.pinned = now.Add(-idle-1), true })}, []int64{1}, 0},
		"pinned ones that are not read yield to those that are": {
			100, []*candidate{with(in(1, 1, 60), func(c *candidate) { c.lastRead, c.pinned = now.Add(-minStay), true }), with(out(2, 1, 60), pinned)}, []int64{1}, 2,
		},
		"pinned ones that are read do not": {
			100, []*candidate{with(in(1, 1, 60), pinned), with(out(2, 1, 60), pinned)}, nil, 0,
		},
		"unfit while resident": {100, []*candidate{with(in(1, busy, 60), func(c *candidate) { c.unfit = true })}, []int64{1}, 0},
		"unfit":                {100, []*candidate{with(out(1, busy, 60), func(c *candidate) { c.unfit = true })}, nil, 0},
	} {
		leaving, loading := choose(now, c.budget, c.all)
		var leave []int64
		for _, l := range leaving {
			leave = append(leave, l.id)
		}
		var load int64
		if loading != nil {
			load = loading.id
		}
		if slices.Sort(leave); !slices.Equal(leave, c.leave) || load != c.load {
			t.Errorf("%s: %v leave and %d is loaded, want %v and %d", name, leave, load, c.leave, c.load)
		}
	}
}

// TestTwoThatDoNotFitDoNotTakeTurns: two periods that are read alike and do not fit together are loaded once.
func TestTwoThatDoNotFitDoNotTakeTurns(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000, 0)
	all := []*candidate{{id: 1, bytes: 200, lastRead: now}, {id: 2, bytes: 200, lastRead: now}}
	loads := 0
	for second := range 600 {
		now = now.Add(time.Second)
		for i, c := range all {
			c.reads, c.lastRead = halved(c.reads, time.Second)+1000+float64(500*((second+i)%2)), now
		}
		leave, load := choose(now, 256, all)
		for _, c := range leave {
			c.resident = false
		}
		if load != nil {
			load.resident, load.loaded = true, now
			loads++
		}
	}
	if loads != 1 {
		t.Errorf("%d loads in ten minutes, want 1", loads)
	}
}

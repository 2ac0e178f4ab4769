package rank

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"leaderboard/leaderboard"
)

// Several is the entries of several periods, each at one state, and exact. It is asked about all periods at once, so
// that a database answers with few statements.
type Several interface {
	// Ahead returns, for each place, the number of entries ahead of it in each period.
	Ahead(ctx context.Context, places []Place) ([][]int64, error)
	// Read returns the keys of each run, in order.
	Read(ctx context.Context, runs []Run) ([][]Key, error)
	// Near returns first guesses of places to count at: a place with about from entries ahead, and a place with about
	// to entries ahead. Wrong guesses, or no guesses, only cost time.
	Near(from, to int64) []Place
}

// Place is a place in the order of the entries of several periods: in front of the entries whose keys are not less than
// Key, but after the entry with Key in the first After periods. Key is a sort key, or the prefix of one.
type Place struct {
	Key   Key
	After int
}

// In returns the key that the entries ahead of the place in a period are less than.
func (p Place) In(period int) Key {
	if period < p.After {
		return p.Key + "\x00"
	}
	return p.Key
}

// Run is consecutive entries of one period: Limit entries after the first Start.
type Run struct {
	Period       int
	Start, Limit int64
}

// Combined ranks several periods as one, see leaderboard.CombinedRankings. The number of entries ahead of a place is
// the sum over the periods.
type Combined struct {
	Periods []leaderboard.PeriodRef
	States  []leaderboard.State
	Member  []Key // of the member asked about in each period, "" for none
	Several
	Spare int64 // how many entries of each period may be read without use: about as many as take the time of a count
}

// Page answers the query.
func (c *Combined) Page(ctx context.Context, q *leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	start, known, err := c.pageStart(ctx, q)
	if err != nil {
		return nil, err
	}
	total := leaderboard.Total(c.States)
	page := &leaderboard.CombinedPage{States: c.States, Entries: []leaderboard.CombinedRanked{}}
	end := min(start+int64(q.Limit), total)
	if start >= end {
		return page, nil
	}
	// The first of the entries tied with the first entry is usually not far ahead of it, or it is behind the cursor.
	const lead = 16
	from := max(0, start-lead)
	if q.After != "" && q.Around == "" {
		from = start
	}
	entries, err := c.run(ctx, from, end, known)
	if err != nil {
		return nil, err
	}
	at := int(start - from)
	tied := at
	for tied > 0 && Tied(entries[tied-1].Key, entries[at].Key) {
		tied--
	}
	first := leaderboard.Ranks{Strict: start + 1, Tied: from + int64(tied) + 1}
	entries = entries[at:]
	if tied == 0 && from > 0 && (from < start || Tied(Key(q.After), entries[0].Key)) {
		better, err := c.Ahead(ctx, []Place{{Key: entries[0].Key.Prefix()}})
		if err != nil {
			return nil, err
		}
		first.Tied = sum(better[0]) + 1
	}
	keys := make([]Key, len(entries))
	for i := range entries {
		keys[i] = entries[i].Key
	}
	if page.Entries, err = c.ranked(entries, Number(first, keys)); err == nil && end < total {
		last := entries[len(entries)-1]
		page.Next, page.NextBoard = string(last.Key), c.Periods[last.After].Board
	}
	return page, err
}

// Standings returns the entries of the member.
func (c *Combined) Standings(ctx context.Context) (*leaderboard.CombinedStandings, error) {
	entries := c.member()
	places := make([]Place, 0, 2*len(entries))
	for _, e := range entries {
		places = append(places, Place{Key: e.Key.Prefix()}, e)
	}
	ahead, err := c.Ahead(ctx, places)
	if err != nil {
		return nil, err
	}
	ranks := make([]leaderboard.Ranks, len(entries))
	for i := range ranks {
		ranks[i] = leaderboard.Ranks{Tied: sum(ahead[2*i]) + 1, Strict: sum(ahead[2*i+1]) + 1}
	}
	out := &leaderboard.CombinedStandings{States: c.States}
	out.Entries, err = c.ranked(entries, ranks)
	return out, err
}

// ranked returns entries with their ranks. An entry is the place in front of it, so After is its period.
func (c *Combined) ranked(entries []Place, ranks []leaderboard.Ranks) ([]leaderboard.CombinedRanked, error) {
	out := make([]leaderboard.CombinedRanked, len(entries))
	for i, place := range entries {
		p := &c.Periods[place.After]
		e, err := CodecOf(p.Rules).Entry(place.Key)
		if err != nil {
			return nil, err
		}
		out[i] = leaderboard.CombinedRanked{Ranked: leaderboard.Ranked{Ranks: ranks[i], Entry: e}, Board: p.Board}
	}
	return out, nil
}

// member returns the entries of the member, best first.
func (c *Combined) member() []Place {
	var entries []Place
	for i, k := range c.Member {
		if k != "" {
			entries = append(entries, Place{k, i})
		}
	}
	slices.SortStableFunc(entries, func(a, b Place) int { return cmp.Compare(a.Key, b.Key) })
	return entries
}

// pageStart returns the number of entries ahead of a page, and the counts of a place near it, nil without counts.
func (c *Combined) pageStart(ctx context.Context, q *leaderboard.CombinedQuery) (start int64, known []int64, err error) {
	var place Place
	switch {
	case q.Around != "":
		entries := c.member()
		if len(entries) == 0 {
			return 0, nil, leaderboard.ErrNotRanked
		}
		place = entries[0]
	case q.After != "":
		if place.Key = Key(q.After); !place.Key.Valid() {
			return 0, nil, ErrKey
		}
		for place.After < len(c.Periods) && c.Periods[place.After].Board <= q.AfterBoard {
			place.After++
		}
	default:
		return max(q.Offset, 0), nil, nil
	}
	ahead, err := c.Ahead(ctx, []Place{place})
	if err != nil {
		return 0, nil, err
	}
	if start = sum(ahead[0]); q.Around != "" {
		start = StartAround(leaderboard.PageQuery{Before: q.Before, Limit: q.Limit}, start, leaderboard.Total(c.States))
	}
	return start, ahead[0], nil
}

// run returns the entries of all periods together after the first from, as far as number to. It counts at places until
// each period has little more than that to read, then reads and merges.
func (c *Combined) run(ctx context.Context, from, to int64, known []int64) ([]Place, error) {
	spare := max(c.Spare, 1) * int64(len(c.States))
	head, tail := c.split(from), c.split(to)
	if known != nil {
		head.learn(known)
		tail.learn(known)
	}
	for round := 0; sum(tail.high)-sum(head.low) > to-from+2*spare; round++ {
		places := []Place(nil)
		if round == 0 {
			places = c.Near(from, to)
		}
		if len(places) == 0 {
			wider := head
			if sum(tail.high)-to > from-sum(head.low) {
				wider = tail
			}
			var err error
			if places, err = c.probe(ctx, wider, round%3 == 2); err != nil {
				return nil, err
			}
		}
		counted, err := c.Ahead(ctx, places)
		if err != nil {
			return nil, err
		}
		for _, ahead := range counted {
			head.learn(ahead)
			tail.learn(ahead)
		}
	}
	return c.merge(ctx, head, tail)
}

// merge reads the entries between two splits and puts them in order.
func (c *Combined) merge(ctx context.Context, head, tail *split) ([]Place, error) {
	runs := make([]Run, len(head.low))
	for i, low := range head.low {
		runs[i] = Run{Period: i, Start: low, Limit: tail.high[i] - low}
	}
	keys, err := c.Read(ctx, runs)
	if err != nil {
		return nil, err
	}
	skip, want := head.n-sum(head.low), int(tail.n-head.n)
	out, at := make([]Place, 0, want), make([]int, len(keys))
	Merge(keys, cmp.Compare[Key], func(i int) bool {
		if skip--; skip < 0 {
			out = append(out, Place{keys[i][at[i]], i})
		}
		at[i]++
		return len(out) < want
	})
	if len(out) < want {
		return nil, fmt.Errorf("%w: %d entries of several periods where %d were counted", ErrDamaged, len(out), want)
	}
	return out, nil
}

// split is the place with n entries ahead of it: at least low and at most high of each period.
type split struct {
	n         int64
	low, high []int64
}

func (c *Combined) split(n int64) *split {
	s := &split{n: n, low: make([]int64, len(c.States)), high: make([]int64, len(c.States))}
	for i := range c.States {
		s.high[i] = c.States[i].Total
	}
	s.learn(s.low)
	s.learn(s.high)
	return s
}

// learn adds the numbers of entries ahead of another place in each period: between the two places are as many entries as
// the numbers differ by, perhaps all of one period.
func (s *split) learn(ahead []int64) {
	off := sum(ahead) - s.n
	for i, n := range ahead {
		s.low[i] = max(s.low[i], n-max(0, off))
		s.high[i] = min(s.high[i], n-min(0, off))
	}
}

// probe returns places to count at: entries of the period in which the split is least known. They are one standard
// deviation to each side of the split if the entries are spread alike over the periods; with middle it is the middle,
// which halves the uncertainty for any spread.
func (c *Combined) probe(ctx context.Context, s *split, middle bool) ([]Place, error) {
	widest, left, ahead := 0, int64(0), s.n
	for i := range s.low {
		left, ahead = left+s.high[i]-s.low[i], ahead-s.low[i]
		if s.high[i]-s.low[i] > s.high[widest]-s.low[widest] {
			widest = i
		}
	}
	width := s.high[widest] - s.low[widest]
	share := float64(ahead) / float64(left)
	aside := math.Sqrt(float64(width) * share * (1 - share)) // a standard deviation
	if middle {
		share, aside = 0.5, 0
	}
	var runs []Run
	for _, at := range []float64{share*float64(width) - aside, share*float64(width) + aside} {
		runs = append(runs, Run{Period: widest, Start: s.low[widest] + min(max(int64(at), 1), width-1), Limit: 1})
	}
	keys, err := c.Read(ctx, runs)
	if err != nil {
		return nil, err
	}
	var places []Place
	for i := range keys {
		if len(keys[i]) == 0 {
			return nil, fmt.Errorf("%w: there is no entry number %d", ErrDamaged, runs[i].Start)
		}
		places = append(places, Place{Key: keys[i][0]})
	}
	return places, nil
}

func sum(counts []int64) int64 {
	var n int64
	for _, count := range counts {
		n += count
	}
	return n
}

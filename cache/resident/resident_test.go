package resident

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store/storetest"
)

// followed answers from periods that are loaded when they are first asked for, and folded with every commit after. The
// model reports commits while it is locked, so they are only noted then: loading a period asks the model.
type followed struct {
	*storetest.Model
	mu      sync.Mutex
	periods map[int64]*Period
	noted   sync.Mutex // taken last
	commits map[int64][]leaderboard.Commit
}

func follow(model *storetest.Model) *followed {
	f := &followed{Model: model, periods: map[int64]*Period{}, commits: map[int64][]leaderboard.Commit{}}
	model.OnCommit = func(ref leaderboard.PeriodRef, c leaderboard.Commit) {
		f.noted.Lock()
		defer f.noted.Unlock()
		f.commits[ref.ID] = append(f.commits[ref.ID], c)
	}
	return f
}

// drain returns the commits of a period that were not taken yet.
func (f *followed) drain(period int64) []leaderboard.Commit {
	f.noted.Lock()
	defer f.noted.Unlock()
	commits := f.commits[period]
	delete(f.commits, period)
	return commits
}

func (f *followed) period(ctx context.Context, ref leaderboard.PeriodRef) (*Period, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.periods[ref.ID] == nil {
		f.drain(ref.ID) // they are in the snapshot
		p, err := f.load(ctx, ref)
		if err != nil {
			return nil, err
		}
		f.periods[ref.ID] = p
	}
	p := f.periods[ref.ID]
	for _, c := range f.drain(ref.ID) {
		if err := p.Fold(&c); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (f *followed) load(ctx context.Context, ref leaderboard.PeriodRef) (*Period, error) {
	var at leaderboard.State
	var runs [][]rank.Key
	err := f.Snapshot(ctx, ref, 1<<30, func(s leaderboard.State) error { at = s; return nil },
		func(keys []rank.Key) error { runs = append(runs, slices.Clone(keys)); return nil })
	if err != nil {
		return nil, err
	}
	return load(ref.Rules, rank.State{Revision: at.Revision, Total: at.Total}, runs...)
}

// load puts a period together out of its keys.
func load(rules *leaderboard.Rules, at rank.State, runs ...[]rank.Key) (*Period, error) {
	l := NewLoader(rules, at)
	for _, keys := range runs {
		if err := l.Add(keys); err != nil {
			return nil, err
		}
	}
	return l.Period()
}

func (f *followed) Page(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	p, err := f.period(ctx, ref)
	if err != nil {
		return nil, err
	}
	return p.Page(q)
}

func (f *followed) Members(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	p, err := f.period(ctx, ref)
	if err != nil {
		return nil, err
	}
	return p.Members(q)
}

func (f *followed) ScoreRank(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	p, err := f.period(ctx, ref)
	if err != nil {
		return nil, err
	}
	return p.ScoreRank(q)
}

func (f *followed) Moves(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.MovesQuery) (*leaderboard.Moves, error) {
	p, err := f.period(ctx, ref)
	if err != nil {
		return nil, err
	}
	return p.Moves(q)
}

func (f *followed) Distribution(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	p, err := f.period(ctx, ref)
	if err != nil {
		return nil, err
	}
	return p.Distribution(q)
}

// combined returns the periods of refs.
func (f *followed) combined(ctx context.Context, refs []leaderboard.PeriodRef, mode leaderboard.Mode) (Combined, error) {
	if broken := leaderboard.CheckCombined(refs, mode); broken != nil {
		return nil, broken
	}
	all := make(Combined, len(refs))
	for i, ref := range refs {
		if !ref.HasRow() {
			all[i] = Empty(&ref)
			continue
		}
		_, err := f.Model.Period(ctx, ref.ID) // the period is looked up first
		if err != nil {
			return nil, err
		}
		if all[i], err = f.period(ctx, ref); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (f *followed) CombinedPage(ctx context.Context, refs []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	all, err := f.combined(ctx, refs, q.Mode)
	if err != nil {
		return nil, err
	}
	return all.Page(refs, q)
}

func (f *followed) CombinedMember(ctx context.Context, refs []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (*leaderboard.CombinedStandings, error) {
	all, err := f.combined(ctx, refs, q.Mode)
	if err != nil {
		return nil, err
	}
	return all.Member(refs, q)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	f := follow(storetest.NewModel())
	storetest.RunRankings(t, storetest.Subject{Database: f.Model, Rankings: f})
}

func TestCombinedConformance(t *testing.T) {
	t.Parallel()
	f := follow(storetest.NewModel())
	storetest.RunCombined(t, storetest.Subject{Database: f.Model, Rankings: f}, f)
}

// TestCombinedAgainstModel: pages from everywhere and all entries of members, on boards with many ties and equal entries.
func TestCombinedAgainstModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		f := follow(storetest.NewModel())
		var refs []leaderboard.PeriodRef
		for i := range 1 + rng.IntN(5) {
			name := fmt.Sprintf("b%d", i)
			b, _, err := f.PutBoard(t.Context(), name, leaderboard.Rules{Policy: leaderboard.PolicyLatest})
			if err != nil {
				t.Fatal(err)
			}
			f.Model.SetNow(1000)
			for range rng.IntN(60) {
				e := leaderboard.Submission{Member: fmt.Sprint("m", rng.IntN(40)), Score: rng.Int64N(5), CreatedTime: new(leaderboard.Micros(rng.Int64N(3)))}
				if _, err := f.Submit(t.Context(), leaderboard.SubmitRequest{Board: name, Entries: []leaderboard.Submission{e}}); err != nil {
					t.Fatal(err)
				}
			}
			l, err := f.Current(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			refs = append(refs, l.Periods[0].Ref(&b))
		}
		after := leaderboard.CombinedQuery{Mode: leaderboard.ModeAll}
		for range 200 {
			q := leaderboard.CombinedQuery{Mode: leaderboard.ModeAll, Limit: rng.IntN(20)}
			switch rng.IntN(4) {
			case 0:
				q.Around, q.Before = fmt.Sprint("m", rng.IntN(42)), rng.IntN(5)
				q.Limit += q.Before + 1
			case 1:
				q.After, q.AfterBoard = after.After, after.AfterBoard
			default:
				q.Offset = rng.Int64N(200)
			}
			got, err := f.CombinedPage(t.Context(), refs, q)
			want, wantErr := f.Model.CombinedPage(t.Context(), refs, q)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("seed %d, %+v: %v, want %v", seed, q, err, wantErr)
			}
			if err == nil && (fmt.Sprint(got.Entries) != fmt.Sprint(want.Entries) || got.Next != want.Next || got.NextBoard != want.NextBoard) {
				t.Fatalf("seed %d, %+v:\n%+v\nwant\n%+v", seed, q, got, want)
			}
			if err == nil && got.Next != "" {
				after.After, after.AfterBoard = got.Next, got.NextBoard
			}
			m := leaderboard.CombinedMemberQuery{Mode: leaderboard.ModeAll, Member: fmt.Sprint("m", rng.IntN(42))}
			all, err := f.CombinedMember(t.Context(), refs, m)
			if err != nil {
				t.Fatal(err)
			}
			wantAll, err := f.Model.CombinedMember(t.Context(), refs, m)
			if err != nil || fmt.Sprint(all.Entries) != fmt.Sprint(wantAll.Entries) {
				t.Fatalf("seed %d, %s: %+v, want %+v, %v", seed, m.Member, all, wantAll, err)
			}
		}
	}
}

func TestPropertyAgainstModel(t *testing.T) {
	t.Parallel()
	model := storetest.NewModel()
	f := follow(model)
	storetest.Property(t, storetest.Subject{
		WithoutMetadata: true,
		Database:        model, Featured: model, Rankings: f, SetNow: model.SetNow,
		Disturb: map[string]func(context.Context, leaderboard.PeriodRef) error{
			"evicted": func(_ context.Context, ref leaderboard.PeriodRef) error {
				f.mu.Lock()
				defer f.mu.Unlock()
				delete(f.periods, ref.ID)
				return nil
			},
		},
	})
}

// world is a period with thousands of entries, so that blocks fill, split, run empty and are joined, compared with a
// sorted slice.
type world struct {
	rules  leaderboard.Rules
	codec  rank.Codec
	period *Period
	sorted []rank.Key
	of     map[string]leaderboard.Entry
	at     rank.State
}

func newWorld(tb testing.TB, rules leaderboard.Rules, entries int, score func(i int) int64) *world {
	tb.Helper()
	w := &world{rules: rules.WithDefaults(), of: map[string]leaderboard.Entry{}}
	w.codec = rank.CodecOf(&w.rules)
	for i := range entries {
		e := leaderboard.Entry{Member: fmt.Sprintf("member-%06d", i), Score: score(i), CreatedTime: leaderboard.Micros(i % 7)}
		w.of[e.Member] = e
		w.sorted = append(w.sorted, w.codec.Key(e))
	}
	slices.Sort(w.sorted)
	w.at = rank.State{Revision: leaderboard.Revision{Seq: 5, AsOf: 50}, Total: int64(entries)}
	p, err := load(&w.rules, w.at, slices.Collect(slices.Chunk(w.sorted, 999))...)
	if err != nil {
		tb.Fatal(err)
	}
	w.period = p
	return w
}

// commit makes a commit of changes, which are by member: the new entry, or nil to remove it.
func (w *world) commit(changed map[string]*leaderboard.Entry) leaderboard.Commit {
	c := leaderboard.Commit{FirstSeq: w.at.Seq + 1, LastSeq: w.at.Seq, PrevCommittedAt: w.at.AsOf, CommittedAt: w.at.AsOf + 1}
	for member, e := range changed {
		change := leaderboard.Change{Member: member, New: e}
		if old, ok := w.of[member]; ok {
			change.Old = &old
			i, _ := slices.BinarySearch(w.sorted, w.codec.Key(old))
			w.sorted = slices.Delete(w.sorted, i, i+1)
			delete(w.of, member)
		} else if e == nil {
			continue
		}
		if e != nil {
			i, _ := slices.BinarySearch(w.sorted, w.codec.Key(*e))
			w.sorted = slices.Insert(w.sorted, i, w.codec.Key(*e))
			w.of[member] = *e
		}
		c.LastSeq++
		change.Seq = c.LastSeq
		c.Changes = append(c.Changes, change)
	}
	if c.EntryCount = int64(len(w.sorted)); len(c.Changes) == 0 {
		return c
	}
	w.at = rank.StateOf(&c)
	return c
}

// check compares the whole order, and the ranks in every mode, with the sorted slice.
func (w *world) check(t interface{ Fatalf(string, ...any) }) {
	if w.period.At() != w.at {
		t.Fatalf("at %+v, want %+v", w.period.At(), w.at)
	}
	for _, mode := range storetest.Modes() {
		first := rank.Top()
		if !mode.WithDense() {
			first.Dense = 0
		}
		want := rank.Number(first, w.sorted)
		page, err := w.period.Page(leaderboard.PageQuery{Query: leaderboard.Query{Mode: mode}, Limit: len(w.sorted) + 1})
		if err != nil || len(page.Entries) != len(w.sorted) || page.Next != "" {
			t.Fatalf("%d entries, next %q, %v; want %d", len(page.Entries), page.Next, err, len(w.sorted))
		}
		for i, e := range page.Entries {
			if e.Ranks != want[i] || w.codec.Key(e.Entry) != w.sorted[i] {
				t.Fatalf("%s: entry %d is %+v, want %+v of %q", mode, i, e, want[i], w.sorted[i])
			}
		}
		for i := 0; i < len(w.sorted); i += 1 + len(w.sorted)/97 { // found by member, and from there
			s, err := w.period.Members(leaderboard.MembersQuery{Query: leaderboard.Query{Mode: mode}, Members: []string{w.sorted[i].Member()}})
			if err != nil || len(s.Entries) != 1 || s.Entries[0].Ranks != want[i] {
				t.Fatalf("%s: %+v, %v; want %+v", mode, s, err, want[i])
			}
			p, err := w.period.Page(leaderboard.PageQuery{Query: leaderboard.Query{Mode: mode}, Offset: int64(i), Limit: 1})
			if err != nil || p.Entries[0] != page.Entries[i] {
				t.Fatalf("%s: page at %d is %+v, %v; want %+v", mode, i, p, err, page.Entries[i])
			}
			w.checkScore(t, page.Entries[i].Entry, page.Entries)
		}
	}
}

// checkScore compares the ranks of a score that an entry has, and of its neighbours.
func (w *world) checkScore(t interface{ Fatalf(string, ...any) }, e leaderboard.Entry, all []leaderboard.Ranked) {
	for _, tiebreak := range []int64{e.Tiebreak - 1, e.Tiebreak, e.Tiebreak + 1} {
		prefix := w.codec.Prefix(e.Score, tiebreak)
		want := rank.Top()
		for i := range all {
			at := w.sorted[i].Prefix()
			if at < prefix {
				want.Tied++
				if i == 0 || at != w.sorted[i-1].Prefix() {
					want.Dense++
				}
			}
			if at <= prefix {
				want.Strict++
			}
		}
		got, err := w.period.ScoreRank(leaderboard.ScoreQuery{Score: e.Score, Tiebreak: tiebreak})
		if err != nil || got.Ranks != want {
			t.Fatalf("score %d, tiebreak %d: %+v, %v; want %+v", e.Score, tiebreak, got, err, want)
		}
	}
}

// TestLargePeriodsAgainstASortedSlice: few scores make long groups that reach over blocks, many make short ones;
// removals run blocks empty.
func TestLargePeriodsAgainstASortedSlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SampledFrom([]int64{1, 3, 2000, 1 << 40}).Draw(t, "scores")
		entries := rapid.SampledFrom([]int{0, 1, 800, 2500}).Draw(t, "entries")
		rules := leaderboard.Rules{Order: rapid.SampledFrom([]leaderboard.Order{leaderboard.OrderAsc, leaderboard.OrderDesc}).Draw(t, "order")}
		seed := rapid.Uint64().Draw(t, "seed")
		rng := func(n int64) int64 { // fast: thousands of draws
			seed = seed*6364136223846793005 + 1442695040888963407
			return int64(seed>>33) % n
		}
		w := newWorld(&fataler{fatal: t.Fatal}, rules, entries, func(int) int64 { return rng(scores) })
		w.check(t)
		for range rapid.IntRange(1, 4).Draw(t, "commits") {
			changed := map[string]*leaderboard.Entry{}
			removing := rapid.IntRange(0, 10).Draw(t, "of ten removed")
			lower := rng(scores) // a run of scores empties, or fills
			for range rapid.SampledFrom([]int{1, 100, 2000}).Draw(t, "changes") {
				member := fmt.Sprintf("member-%06d", rng(int64(entries)+500))
				if rng(10) < int64(removing) {
					changed[member] = nil
					continue
				}
				score := rng(scores)
				if removing%2 == 1 {
					score = lower + score/1000
				}
				changed[member] = &leaderboard.Entry{Member: member, Score: score, CreatedTime: leaderboard.Micros(rng(5))}
			}
			if c := w.commit(changed); len(c.Changes) > 0 {
				if err := w.period.Fold(&c); err != nil {
					t.Fatal(err)
				}
			}
			w.check(t)
		}
	})
}

// fataler lets newWorld fail a rapid check.
type fataler struct {
	testing.TB
	fatal func(...any)
}

func (f *fataler) Helper()           {}
func (f *fataler) Fatal(args ...any) { f.fatal(args...) }

// TestMemoryIsUsedAgain: memory of removed entries is used for new ones.
func TestMemoryIsUsedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, leaderboard.Rules{}, 20_000, func(i int) int64 { return int64(i) })
	before := w.period.Bytes()
	if per := before / 20_000; per > 100 {
		t.Errorf("%d bytes an entry", per)
	}
	for round := range 10 {
		out, in := map[string]*leaderboard.Entry{}, map[string]*leaderboard.Entry{}
		for i := range 10_000 {
			member := fmt.Sprintf("member-%06d", i)
			out[member], in[member] = nil, &leaderboard.Entry{Member: member, Score: int64(i * round)}
		}
		for _, changed := range []map[string]*leaderboard.Entry{out, in} {
			c := w.commit(changed)
			if err := w.period.Fold(&c); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.check(t)
	if after := w.period.Bytes(); after > before*3/2 {
		t.Errorf("%d bytes, %d before the changes", after, before)
	}
}

func TestFoldRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, leaderboard.Rules{}, 100, func(i int) int64 { return int64(i) })
	one := w.commit(map[string]*leaderboard.Entry{"new": {Member: "new", Score: 7}})
	two := w.commit(map[string]*leaderboard.Entry{"new": {Member: "new", Score: 8}})
	if err := w.period.Fold(&two); !errors.Is(err, rank.ErrGap) {
		t.Errorf("a gap: %v", err)
	}
	other := one
	other.PrevCommittedAt++
	if err := w.period.Fold(&other); !errors.Is(err, rank.ErrDiverged) {
		t.Errorf("another incarnation: %v", err)
	}
	for range 2 { // the second time it is known
		for _, c := range []*leaderboard.Commit{&one, &two} {
			if err := w.period.Fold(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.check(t)

	for name, bad := range map[string]leaderboard.Commit{
		"member missing":     {Changes: []leaderboard.Change{{Member: "x", Old: &leaderboard.Entry{Member: "x"}}}, EntryCount: 100},
		"member there twice": {Changes: []leaderboard.Change{{Member: "new", New: &leaderboard.Entry{Member: "new"}}}, EntryCount: 102},
		"another entry":      {Changes: []leaderboard.Change{{Member: "new", Old: &leaderboard.Entry{Member: "new", Score: 3}}}, EntryCount: 100},
		"another total":      {EntryCount: 3},
	} {
		w := newWorld(t, leaderboard.Rules{}, 100, func(i int) int64 { return int64(i) })
		for _, c := range []*leaderboard.Commit{&one, &two} {
			if err := w.period.Fold(c); err != nil {
				t.Fatal(err)
			}
		}
		at := w.period.At()
		bad.FirstSeq, bad.LastSeq, bad.PrevCommittedAt, bad.CommittedAt = at.Seq+1, at.Seq+1, at.AsOf, at.AsOf+1
		if err := w.period.Fold(&bad); !errors.Is(err, rank.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := w.period.Page(leaderboard.PageQuery{Limit: 1}); !errors.Is(err, rank.ErrDamaged) {
			t.Errorf("%s: answered afterwards: %v", name, err)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	rules := leaderboard.Rules{}.WithDefaults()
	codec := rank.CodecOf(&rules)
	key := func(member string, score int64) rank.Key {
		return codec.Key(leaderboard.Entry{Member: member, Score: score})
	}
	for name, c := range map[string]struct {
		keys  []rank.Key
		total int64
		want  error
	}{
		"out of order":       {[]rank.Key{key("a", 1), key("b", 2)}, 2, rank.ErrDamaged},
		"member there twice": {[]rank.Key{key("a", 2), key("a", 1)}, 2, rank.ErrDamaged},
		"too few":            {[]rank.Key{key("a", 2)}, 2, rank.ErrDamaged},
		"no key":             {[]rank.Key{"short"}, 1, rank.ErrKey},
	} {
		if _, err := load(&rules, rank.State{Total: c.total}, c.keys); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadersSeeWholeCommits: readers see whole commits: all members of the world have the same score before and after
// each.
func TestReadersSeeWholeCommits(t *testing.T) {
	t.Parallel()
	const members = 3000
	w := newWorld(t, leaderboard.Rules{}, members, func(int) int64 { return 0 })
	w.at.Seq, w.period.at.Seq = 0, 0
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				page, err := w.period.Page(leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeDense}, Limit: members})
				if err != nil || len(page.Entries) != members {
					t.Errorf("%d entries, %v", len(page.Entries), err)
					return
				}
				for _, e := range page.Entries {
					if e.Score != page.Seq/members || e.Dense != 1 {
						t.Errorf("at seq %d: %+v", page.Seq, e)
						return
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for round := range 20 {
		changed := map[string]*leaderboard.Entry{}
		for member := range w.of {
			changed[member] = &leaderboard.Entry{Member: member, Score: int64(round + 1)}
		}
		c := w.commit(changed)
		if err := w.period.Fold(&c); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
	if !reflect.DeepEqual(w.period.At(), w.at) {
		t.Errorf("at %+v, want %+v", w.period.At(), w.at)
	}
}

// TestSmallPeriodsTakeLittle: many small boards fit next to a large board.
func TestSmallPeriodsTakeLittle(t *testing.T) {
	t.Parallel()
	for entries, most := range map[int]int64{0: 16 << 10, 10: 40 << 10, 1000: 160 << 10} {
		w := newWorld(t, leaderboard.Rules{}, entries, func(i int) int64 { return int64(i) })
		if bytes := w.period.Bytes(); bytes > most {
			t.Errorf("%d entries take %d bytes, want at most %d", entries, bytes, most)
		}
	}
}

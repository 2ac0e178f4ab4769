package cache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/cache/resident"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// still is a database that always answers the same, at seq 3.
type still struct{ Database }

func (still) state() leaderboard.State {
	return leaderboard.State{Revision: leaderboard.Revision{Seq: 3}, Total: 3}
}

func (s still) Page(context.Context, leaderboard.PeriodRef, leaderboard.PageQuery) (*leaderboard.Page, error) {
	return &leaderboard.Page{State: s.state(), Entries: make([]leaderboard.Ranked, 2), Next: "next"}, nil
}

func (s still) Members(context.Context, leaderboard.PeriodRef, leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	return &leaderboard.Standings{State: s.state(), Entries: make([]leaderboard.Standing, 1), NotRanked: []string{"x"}}, nil
}

func (s still) Query(ctx context.Context, p leaderboard.PeriodRef, questions []leaderboard.Question) ([]leaderboard.Answer, error) {
	return storetest.QueryEach(ctx, s, p, questions), nil
}

func (s still) ScoreRank(context.Context, leaderboard.PeriodRef, leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	return &leaderboard.ScoreRank{State: s.state(), Ranks: leaderboard.Ranks{Strict: 3, Tied: 2}}, nil
}

// revisions is a database that shows period 1 at seq 3, or is away.
type revisions struct{ away atomic.Bool }

func (r *revisions) Revisions(context.Context, []int64) (map[int64]leaderboard.Revision, error) {
	if r.away.Load() {
		return nil, leaderboard.ErrUnavailable
	}
	return map[int64]leaderboard.Revision{1: {Seq: 3}}, nil
}

// TestAwayMarksEveryAnswer: while the database cannot report its revisions, no answer of any layer claims to be
// current, and the answers are otherwise unchanged.
func TestAwayMarksEveryAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &revisions{}
		w := feed.New(source, feed.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go w.Run(ctx)
		var counted int
		r := NewReader(nil, still{}, ReaderOptions{Feed: w, Observer: observed{answer: func(_ leaderboard.Source, stale bool) {
			if stale {
				counted++
			}
		}}})
		ref := leaderboard.PeriodRef{ID: 1, Rules: new(leaderboard.Rules{}.WithDefaults())}
		query := leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: 3}
		for _, isAway := range []bool{true, false, true} { // at first with nothing in memory
			source.away.Store(isAway)
			time.Sleep(time.Second)
			page, err := r.Page(t.Context(), ref, leaderboard.PageQuery{Query: query, Limit: 2})
			if err != nil || len(page.Entries) != 2 || page.Next != "next" {
				t.Fatalf("page %+v, %v", page, err)
			}
			members, err := r.Members(t.Context(), ref, leaderboard.MembersQuery{Query: query, Members: []string{"b", "x"}, Limit: 5})
			if err != nil || len(members.Entries) != 1 || len(members.NotRanked) != 1 {
				t.Fatalf("members %+v, %v", members, err)
			}
			score, err := r.ScoreRank(t.Context(), ref, leaderboard.ScoreQuery{MinSeq: 3, Score: 2})
			if err != nil || score.Strict != 3 || score.Tied != 2 {
				t.Fatalf("rank of a score %+v, %v", score, err)
			}
			for _, state := range []leaderboard.State{page.State, members.State, score.State} {
				if state.Stale != isAway || state.Seq != 3 || state.Total != 3 {
					t.Errorf("away %t: answer of %+v", isAway, state)
				}
			}
		}
		if counted != 6 {
			t.Errorf("%d stale answers were counted, want 6", counted)
		}
	})
}

// stuck is a database that shows newer and newer revisions, and from some moment answers no other question.
type stuck struct {
	still
	seq atomic.Int64
}

func (s *stuck) Revisions(context.Context, []int64) (map[int64]leaderboard.Revision, error) {
	return map[int64]leaderboard.Revision{1: {Seq: s.seq.Load()}}, nil
}

func (s *stuck) Query(ctx context.Context, p leaderboard.PeriodRef, questions []leaderboard.Question) ([]leaderboard.Answer, error) {
	if s.seq.Load() > 3 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.still.Query(ctx, p, questions)
}

// TestStaleAtTheDeadline: a reader whose time runs out gets the last answer, marked stale. A reader that has left gets
// no answer.
func TestStaleAtTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &stuck{}
		source.seq.Store(3)
		w := feed.New(source, feed.Options{})
		run, cancel := context.WithCancel(t.Context())
		defer cancel()
		go w.Run(run)
		r := NewReader(nil, source, ReaderOptions{Feed: w})
		ref := leaderboard.PeriodRef{ID: 1, Rules: new(leaderboard.Rules{}.WithDefaults())}
		query := leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Limit: 2}
		if page, err := r.Page(t.Context(), ref, query); err != nil || page.Stale {
			t.Fatalf("%+v, %v", page, err)
		}
		source.seq.Store(4)
		time.Sleep(time.Second)
		ctx, end := context.WithTimeout(t.Context(), 400*time.Millisecond)
		defer end()
		if page, err := r.Page(ctx, ref, query); err != nil || !page.Stale || page.Seq != 3 {
			t.Errorf("at the deadline: %+v, %v", page, err)
		}
		gone, leave := context.WithCancel(t.Context())
		time.AfterFunc(400*time.Millisecond, leave)
		if page, err := r.Page(gone, ref, query); err == nil {
			t.Errorf("for a reader that has left: %+v", page)
		}
		time.Sleep(time.Minute) // the questions to the database end
	})
}

// TestBoardsGoStaleOneByOne: a board that MySQL fails to describe is answered from its last description, and marked
// stale once that is too old. Other boards are not marked, and an answer about a board does not count as a failure.
func TestBoardsGoStaleOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &blocked{Model: storetest.NewModel()}
		for _, name := range []string{"a", "b"} {
			if _, _, err := s.PutBoard(t.Context(), name, leaderboard.Rules{}); err != nil {
				t.Fatal(err)
			}
		}
		c := NewCatalog(s, CatalogOptions{})
		check := func(board string, want bool) {
			t.Helper()
			ref, _, err := c.Resolve(t.Context(), board, "", "")
			if err != nil || ref.Stale != want {
				t.Errorf("%s: stale %t, %v; want %t", board, ref.Stale, err, want)
			}
		}
		check("a", false)
		check("b", false)
		s.name.Store("b")
		began := time.Now()
		for time.Since(began) < 20*time.Second {
			before := time.Since(began)
			check("a", false)
			if before < catalogApart || before > catalogStale {
				check("b", before > catalogStale)
			}
			if _, _, err := c.Resolve(t.Context(), "nobody", "", ""); !errors.Is(err, leaderboard.ErrBoardNotFound) {
				t.Error(err)
			}
			time.Sleep(300 * time.Millisecond)
		}
		s.name.Store("")
		time.Sleep(2 * catalogStale)
		check("b", true) // after a look-up that failed no caller waits for another
		time.Sleep(time.Millisecond)
		check("b", false)
	})
}

// blocked is a model in which the look-up of one board waits until its deadline.
type blocked struct {
	*storetest.Model
	name atomic.Value
}

func (b *blocked) Current(ctx context.Context, name string) (leaderboard.Listing, error) {
	if name == b.name.Load() {
		<-ctx.Done()
		return leaderboard.Listing{}, fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, ctx.Err())
	}
	return b.Model.Current(ctx, name)
}

// TestCatalogLastKnown: while MySQL does not answer, a process that does not know a board finds the listing that others
// saved, marked stale, as long as it is valid, without periods that have ended meanwhile.
func TestCatalogLastKnown(t *testing.T) {
	t.Parallel()
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &blocked{Model: storetest.NewModel()}
			start := time.Now() // midnight
			s.SetNow(leaderboard.MicrosOf(start.Add(59 * time.Minute)))
			if _, _, err := s.PutBoard(t.Context(), "b", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowHour}}); err != nil {
				t.Fatal(err)
			}
			seen, err := s.Current(t.Context(), "b")
			if err != nil {
				t.Fatal(err)
			}
			if hangs {
				s.name.Store("b")
			} else {
				s.Fail(leaderboard.ErrUnavailable)
			}
			looks := 0
			c := NewCatalog(s, CatalogOptions{LastKnown: func(_ context.Context, name string) (leaderboard.Listing, time.Duration, time.Duration, bool, error) {
				looks++
				age := time.Since(start)
				return seen, age, 10*time.Minute - age, name == "b" && age < 10*time.Minute, nil
			}})
			resolve := func(window string) (leaderboard.PeriodRef, error) {
				ref, _, err := c.Resolve(t.Context(), "b", window, "")
				return ref, err
			}
			time.Sleep(30 * time.Second)
			asked := time.Now()
			ref, err := resolve("hour")
			if took := time.Since(asked); err != nil || !ref.Stale || ref.Name != "2000-01-01T00" || took > catalogWait {
				t.Errorf("hour after %s: %+v, %v", took, ref, err)
			}
			time.Sleep(31 * time.Second)
			if ref, err := resolve("hour"); !errors.Is(err, leaderboard.ErrUnavailable) {
				t.Errorf("the hour is over: %+v, %v", ref, err)
			}
			for time.Since(start) < 10*time.Minute-2*time.Second {
				if ref, err := resolve("all_time"); err != nil || !ref.Stale {
					t.Errorf("after %s: %+v, %v", time.Since(start), ref, err)
				}
				time.Sleep(time.Second)
			}
			if looks > 3 {
				t.Errorf("others were asked %d times", looks)
			}
			time.Sleep(3 * time.Second)
			if ref, err := resolve("all_time"); !errors.Is(err, leaderboard.ErrUnavailable) {
				t.Errorf("after its time: %+v, %v", ref, err)
			}
			s.name.Store("")
			s.Fail(nil)
			s.SetNow(leaderboard.MicrosOf(start.Add(70 * time.Minute)))
			time.Sleep(2 * time.Second)
			if ref, err := resolve("hour"); err != nil || ref.Stale || ref.Name != "2000-01-01T01" {
				t.Errorf("MySQL is back: %+v, %v", ref, err)
			}
		})
	}
}

// behind is a database that answers about several periods at a state that the feed knows to be old.
type behind struct{ still }

func (b behind) CombinedPage(_ context.Context, periods []leaderboard.PeriodRef, _ leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	states := make([]leaderboard.State, len(periods))
	for i := range states {
		states[i] = leaderboard.State{Revision: leaderboard.Revision{Seq: 2}, Total: 5000, Source: leaderboard.SourceMySQL}
	}
	return &leaderboard.CombinedPage{States: states, Entries: make([]leaderboard.CombinedRanked, 2)}, nil
}

func (behind) CombinedMember(context.Context, []leaderboard.PeriodRef, leaderboard.CombinedMemberQuery) (*leaderboard.CombinedStandings, error) {
	return &leaderboard.CombinedStandings{States: []leaderboard.State{{Revision: leaderboard.Revision{Seq: 2}}}}, nil
}

// TestCombinedAnswersAreJudged: MySQL's answers about several boards are not reported as fresh when the feed has newer
// revisions or no revisions.
func TestCombinedAnswersAreJudged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &revisions{}
		w := feed.New(source, feed.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go w.Run(ctx)
		m := NewReader(nil, behind{}, ReaderOptions{Feed: w})
		refs := []leaderboard.PeriodRef{{ID: 1, Board: "a", Rules: new(leaderboard.Rules{}.WithDefaults())}}
		for offset, away := range []bool{false, true} {
			source.away.Store(away)
			time.Sleep(time.Second)
			for _, fresh := range []bool{false, true} {
				q := leaderboard.CombinedQuery{Mode: leaderboard.ModeStrict, Limit: 2, Offset: int64(2000 + offset), Uncached: fresh}
				page, err := m.CombinedPage(t.Context(), refs, q)
				if err != nil || !page.States[0].Stale {
					t.Errorf("away %t, fresh %t: %+v, %v", away, fresh, page, err)
				}
			}
		}
		time.Sleep(10 * time.Second)
	})
}

// askedDatabase counts the questions of a reader to the database.
type askedDatabase struct {
	still
	n *atomic.Int64
}

// Query implements leaderboard.BatchRankings.
func (a askedDatabase) Query(ctx context.Context, p leaderboard.PeriodRef, questions []leaderboard.Question) ([]leaderboard.Answer, error) {
	a.n.Add(1)
	return a.still.Query(ctx, p, questions)
}

// TestSeqAheadAsksNobody: the feed refuses a question for a state that the period has not reached.
func TestSeqAheadAsksNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := feed.New(&revisions{}, feed.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go w.Run(ctx)
		var n atomic.Int64
		r := NewReader(nil, askedDatabase{n: &n}, ReaderOptions{Feed: w})
		ref := leaderboard.PeriodRef{ID: 1, Rules: new(leaderboard.Rules{}.WithDefaults())}
		query := leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: 3}
		if _, err := r.Page(ctx, ref, leaderboard.PageQuery{Query: query, Limit: 2}); err != nil {
			t.Fatal(err)
		}
		before := n.Load()
		for i := range int64(100) {
			query.MinSeq = 4 + i
			_, pageErr := r.Page(ctx, ref, leaderboard.PageQuery{Query: query, Limit: 2})
			_, membersErr := r.Members(ctx, ref, leaderboard.MembersQuery{Query: query, Members: []string{"b"}})
			_, scoreErr := r.ScoreRank(ctx, ref, leaderboard.ScoreQuery{MinSeq: query.MinSeq, Score: 2})
			_, bucketsErr := r.Distribution(ctx, ref, leaderboard.DistributionQuery{MinSeq: query.MinSeq, Buckets: 2})
			for _, err := range []error{pageErr, membersErr, scoreErr, bucketsErr} {
				if !errors.Is(err, leaderboard.ErrSeqAhead) {
					t.Fatalf("min_seq %d: %v", query.MinSeq, err)
				}
			}
		}
		if n.Load() != before {
			t.Errorf("%d questions", n.Load()-before)
		}
	})
}

// TestAwayMarksMemory: memory still answers while the database does not report its revision, and the answers are
// marked.
func TestAwayMarksMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &pastModel{Model: storetest.NewModel()}
		ref := filled(t, source.Model, leaderboard.Rules{Resident: leaderboard.ResidentAlways}, 20)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w := feed.New(source, feed.Options{})
		go w.Run(ctx)
		periods := resident.NewPeriods(source, resident.Options{Memory: 1 << 20})
		go periods.Run(ctx)
		var told []bool // whether each answer was stale
		r := NewReader(nil, source.Model, ReaderOptions{Feed: w, Resident: periods, Observer: observed{answer: func(source leaderboard.Source, stale bool) {
			if source != leaderboard.SourceLocal {
				t.Errorf("an answer from %s", source)
			}
			told = append(told, stale)
		}}})
		for periods.Get(&ref, resident.WeightDeep) == nil {
			time.Sleep(100 * time.Millisecond)
		}
		for _, away := range []bool{false, true, false} {
			if source.Fail(nil); away {
				source.Fail(leaderboard.ErrUnavailable) // every other question fails
			}
			source.away.Store(away)
			time.Sleep(time.Second) // longer than any answer may be fresh
			query := leaderboard.Query{Mode: leaderboard.ModeStrict}
			page, err := r.Page(ctx, ref, leaderboard.PageQuery{Query: query, Limit: 2, Offset: 10})
			if err != nil || page.Entries[0].Member != "m9" || page.Entries[0].Strict != 11 {
				t.Fatalf("away %t: page %+v, %v", away, page, err)
			}
			members, err := r.Members(ctx, ref, leaderboard.MembersQuery{Query: query, Members: []string{"m3"}})
			if err != nil || len(members.Entries) != 1 || members.Entries[0].Strict != 17 {
				t.Fatalf("away %t: members %+v, %v", away, members, err)
			}
			score, err := r.ScoreRank(ctx, ref, leaderboard.ScoreQuery{Score: 15})
			if err != nil || score.Tied != 5 {
				t.Fatalf("away %t: rank of a score %+v, %v", away, score, err)
			}
			bars, err := r.Distribution(ctx, ref, leaderboard.DistributionQuery{Buckets: 4})
			if err != nil {
				t.Fatalf("away %t: distribution %v", away, err)
			}
			for i, state := range []leaderboard.State{page.State, members.State, score.State, bars.State} {
				if state.Stale != away || state.Seq != 20 || state.Total != 20 || told[i] != away {
					t.Errorf("away %t: answer %d of %+v, told as stale: %t", away, i, state, told[i])
				}
			}
			told = nil
		}
	})
}

// TestAwayBeforeMemoryFollowed: memory that lacks the last commits when the database goes away answers all the same, and says that it
// is stale.
func TestAwayBeforeMemoryFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &pastModel{Model: storetest.NewModel()}
		ref := filled(t, source.Model, leaderboard.Rules{Resident: leaderboard.ResidentAlways}, 20)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w := feed.New(source, feed.Options{})
		go w.Run(ctx)
		following, end := context.WithCancel(ctx)
		periods := resident.NewPeriods(source, resident.Options{Memory: 1 << 20})
		go periods.Run(following)
		r := NewReader(nil, source.Model, ReaderOptions{Feed: w, Resident: periods})
		for periods.Get(&ref, resident.WeightDeep) == nil {
			time.Sleep(100 * time.Millisecond)
		}
		end()
		if _, err := source.Submit(ctx, leaderboard.SubmitRequest{Board: ref.Board, Entries: []leaderboard.Submission{{Member: "late", Score: 1000}}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Wait(ctx, ref.ID); err != nil { // the database's state is newer than memory
			t.Fatal(err)
		}
		source.Fail(leaderboard.ErrUnavailable)
		source.away.Store(true)
		for range 3 { // at once, and when it is known
			page, err := r.Page(ctx, ref, leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Limit: 2})
			if err != nil || !page.Stale || page.Seq != 20 {
				t.Fatalf("%+v, %v", page, err)
			}
			time.Sleep(2 * time.Second)
		}
	})
}

// moving is a database with two periods in which something is committed all the time, and which is slow to answer.
type moving struct {
	still
	began time.Time
}

func (m moving) state() leaderboard.State {
	return leaderboard.State{Revision: leaderboard.Revision{Seq: 1 + int64(time.Since(m.began)/(10*time.Millisecond))}, Total: 3, Source: leaderboard.SourceMySQL}
}

// wait takes longer than an answer is fresh, and in the second period longer than in the first.
func (m moving) wait(p leaderboard.PeriodRef) {
	time.Sleep(time.Duration(p.ID) * 500 * time.Millisecond)
}

func (m moving) Page(_ context.Context, p leaderboard.PeriodRef, _ leaderboard.PageQuery) (*leaderboard.Page, error) {
	m.wait(p)
	return &leaderboard.Page{State: m.state(), Entries: make([]leaderboard.Ranked, 2)}, nil
}

func (m moving) Members(_ context.Context, p leaderboard.PeriodRef, _ leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	m.wait(p)
	return &leaderboard.Standings{State: m.state(), Entries: make([]leaderboard.Standing, 1)}, nil
}

func (m moving) Past(_ context.Context, refs []leaderboard.PeriodRef, _ string) ([]leaderboard.PastEntry, error) {
	out := make([]leaderboard.PastEntry, len(refs))
	for i := range refs {
		m.wait(refs[i])
		out[i].State = m.state()
	}
	return out, nil
}

func (m moving) Query(ctx context.Context, p leaderboard.PeriodRef, questions []leaderboard.Question) ([]leaderboard.Answer, error) {
	return storetest.QueryEach(ctx, m, p, questions), nil
}

func (m moving) Revisions(_ context.Context, periods []int64) (map[int64]leaderboard.Revision, error) {
	found := map[int64]leaderboard.Revision{}
	for _, id := range periods {
		found[id] = m.state().Revision
	}
	return found, nil
}

// TestSlowestAnswerOutlastsOthers: when the answer about one period takes so long that those about others are old by then, whatever
// is put together of them says that it is stale.
func TestSlowestAnswerOutlastsOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := moving{began: time.Now()}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w := feed.New(source, feed.Options{})
		go w.Run(ctx)
		r := NewReader(nil, source, ReaderOptions{Feed: w})
		rules := new(leaderboard.Rules{}.WithDefaults())
		refs := []leaderboard.PeriodRef{{ID: 1, Board: "a", Rules: rules}, {ID: 2, Board: "b", Rules: rules}}
		page, err := r.CombinedPage(ctx, refs, leaderboard.CombinedQuery{Mode: leaderboard.ModeStrict, Limit: 2})
		if err != nil || !page.States[0].Stale || !page.States[1].Stale {
			t.Errorf("the top of both: %+v, %v", page, err)
		}
		past, err := r.Past(ctx, refs, "m")
		if err != nil || !past[0].Stale || !past[1].Stale {
			t.Errorf("the past of a member: %+v, %v", past, err)
		}
		time.Sleep(10 * time.Second) // for the background work
	})
}

// outrun is a layer whose answers are outdated a given number of times, and then not.
type outrun struct{ times int }

func (l *outrun) find(context.Context, *pending) (leaderboard.Answered, error) {
	return &leaderboard.Page{State: leaderboard.State{Revision: leaderboard.Revision{Seq: 2}, Source: leaderboard.SourceMySQL}}, nil
}

func (l *outrun) outdated(context.Context, *pending, leaderboard.Answered, feed.Verdict, int) bool {
	l.times++
	return l.times < 3
}

// TestOutdatedBeforeItGoesOut: an answer that is outdated each time when it is about to be sent is requested again, and
// is never sent as current.
func TestOutdatedBeforeItGoesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := feed.New(&revisions{}, feed.Options{}) // which shows seq 3
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go w.Run(ctx)
		l, r := &outrun{}, NewReader(nil, still{}, ReaderOptions{Feed: w})
		q := &pending{question: &pageQuestion{onePeriod: onePeriod{leaderboard.PeriodRef{ID: 1}}}}
		for range 2 { // an answer may be old for as long as the feed needs
			if _, verdict, err := r.query(ctx, l, q); err != nil || verdict != feed.VerdictOld || l.times < 3 {
				t.Errorf("%v, %v after %d times", verdict, err, l.times)
			}
			time.Sleep(time.Second)
		}
		r.forOne = []layer{l}
		if page, err := r.Page(ctx, q.refs()[0], leaderboard.PageQuery{Offset: 5}); err == nil && !page.Stale {
			t.Errorf("an outdated answer went out as %+v", page)
		}
	})
}

// absent is a layer that has no entry, at a state that cannot be judged.
type absent struct{}

func (absent) find(context.Context, *pending) (leaderboard.Answered, error) {
	return states{{Revision: leaderboard.Revision{Seq: 3}}}, leaderboard.ErrNotRanked
}

func (absent) outdated(context.Context, *pending, leaderboard.Answered, feed.Verdict, int) bool {
	return false
}

// TestAwaySaysNothingOfAbsence: while the database is away, that a copy has no entry of a member is no answer: it may have been
// added since.
func TestAwaySaysNothingOfAbsence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &revisions{}
		source.away.Store(true)
		w := feed.New(source, feed.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go w.Run(ctx)
		r := NewReader(nil, still{}, ReaderOptions{Feed: w})
		r.forOne = []layer{absent{}}
		_, err := r.Members(ctx, leaderboard.PeriodRef{ID: 1}, leaderboard.MembersQuery{Members: []string{"m"}})
		if !errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrNotRanked) {
			t.Errorf("%v", err)
		}
	})
}

// TestChangedBoardThatCannotBeReadAgain: when a board has changed and its look-ups fail or are slow, answers by its old rules say
// so before it is catalogApart old; otherwise a board that was private could be said not to exist for longer.
func TestChangedBoardThatCannotBeReadAgain(t *testing.T) {
	t.Parallel()
	for name, lookUp := range map[string]struct {
		err  error
		took time.Duration
	}{"fail": {err: leaderboard.ErrUnavailable}, "are slow": {took: time.Hour}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newWatchedCatalog(t)
				c.change(2)
				c.shelf.put(2, lookUp.err, lookUp.took)
				changed, old := time.Now(), 0
				for age := time.Duration(0); age < catalogStale; age = time.Since(changed) {
					ref, b, err := c.Resolve(t.Context(), "b", "", "")
					if err != nil || b.Version != 1 || age > catalogApart && !ref.Stale {
						t.Errorf("%v after the change: version %d, stale %t, %v", age, b.Version, ref.Stale, err)
					}
					if ref.Stale {
						old++
					}
					time.Sleep(50 * time.Millisecond)
				}
				if old == 0 {
					t.Error("no answer was stale")
				}
			})
		})
	}
}

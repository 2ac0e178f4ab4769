package cache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/cachetest"
	"leaderboard/cache/feed"
	"leaderboard/cache/topn"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// worldDatabase answers from a world and counts the calls at the same time.
type worldDatabase struct {
	*cachetest.World
	leaderboard.CombinedRankings
	leaderboard.Pasts
	asked, inside, most atomic.Int64
	hold                chan struct{} // when set, answers wait for it
}

func (s *worldDatabase) enter(ctx context.Context, minSeq int64) (cachetest.Oracle, error) {
	s.asked.Add(1)
	now := s.inside.Add(1)
	defer s.inside.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return cachetest.Oracle{}, ctx.Err()
		}
	}
	err := s.Failure()
	o, _ := s.At(s.Name())
	if err == nil && o.Name.Seq < minSeq {
		err = leaderboard.ErrSeqAhead
	}
	return o, err
}

// Query counts once, however many questions there are.
func (s *worldDatabase) Query(ctx context.Context, _ leaderboard.PeriodRef, questions []leaderboard.Question) ([]leaderboard.Answer, error) {
	o, err := s.enter(ctx, 0)
	if err != nil {
		return nil, err
	}
	return storetest.QueryEach(ctx, atState{nil, o}, leaderboard.PeriodRef{}, questions), nil
}

// atState has the answers of a world at one state.
type atState struct {
	leaderboard.Rankings
	cachetest.Oracle
}

func (s atState) Page(_ context.Context, _ leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	if s.Name.Seq < q.MinSeq {
		return nil, leaderboard.ErrSeqAhead
	}
	return s.Oracle.Page(q, leaderboard.SourceMySQL)
}

func (s atState) Members(_ context.Context, _ leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	if s.Name.Seq < q.MinSeq {
		return nil, leaderboard.ErrSeqAhead
	}
	return s.Oracle.Members(q, leaderboard.SourceMySQL), nil
}

func (s atState) ScoreRank(_ context.Context, _ leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	if s.Name.Seq < q.MinSeq {
		return nil, leaderboard.ErrSeqAhead
	}
	return s.Oracle.ScoreRank(q, leaderboard.SourceMySQL), nil
}

func (s *worldDatabase) Page(ctx context.Context, _ leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	o, err := s.enter(ctx, q.MinSeq)
	if err != nil {
		return nil, err
	}
	return o.Page(q, leaderboard.SourceMySQL)
}

func (s *worldDatabase) Members(ctx context.Context, _ leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	o, err := s.enter(ctx, q.MinSeq)
	if err != nil {
		return nil, err
	}
	return o.Members(q, leaderboard.SourceMySQL), nil
}

func (s *worldDatabase) ScoreRank(ctx context.Context, _ leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	o, err := s.enter(ctx, q.MinSeq)
	if err != nil {
		return nil, err
	}
	return o.ScoreRank(q, leaderboard.SourceMySQL), nil
}

func (s *worldDatabase) Distribution(ctx context.Context, _ leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	o, err := s.enter(ctx, q.MinSeq)
	if err != nil {
		return nil, err
	}
	return &leaderboard.Distribution{State: o.State(leaderboard.SourceMySQL)}, nil
}

func (s *worldDatabase) Moves(ctx context.Context, _ leaderboard.PeriodRef, q leaderboard.MovesQuery) (*leaderboard.Moves, error) {
	o, err := s.enter(ctx, q.MinSeq)
	if err != nil {
		return nil, err
	}
	return &leaderboard.Moves{State: o.State(leaderboard.SourceMySQL), Moved: make([]*leaderboard.Moved, len(q.Moves))}, nil
}

func page(t testing.TB, r *Reader, p leaderboard.PeriodRef, q leaderboard.PageQuery) *leaderboard.Page {
	t.Helper()
	return cachetest.Must(r.Page(cachetest.Within(t), p, q))(t)
}

func member(t testing.TB, r *Reader, p leaderboard.PeriodRef, members ...string) *leaderboard.Standings {
	t.Helper()
	return cachetest.Must(r.Members(cachetest.Within(t), p, leaderboard.MembersQuery{Members: members}))(t)
}

// TestReaderLayers: each layer in turn, and the ways of an answer through them.
func TestReaderLayers(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 5 }), topn.Options{Slack: 1})
	b.world.Fill(20)
	s := &worldDatabase{World: b.world}
	var mu sync.Mutex
	sources := map[leaderboard.Source]int{}
	r := NewReader(b.copies, s, unhurried(ReaderOptions{FreshFor: time.Hour, Observer: observed{answer: func(source leaderboard.Source, _ bool) {
		mu.Lock()
		defer mu.Unlock()
		sources[source]++
	}}}))
	top := leaderboard.PageQuery{Limit: 3}
	want(t, page(t, r, b.ref, top), 20, leaderboard.SourceMySQL, false) // no copy, and Demand builds none
	b.build(t)
	top.Limit = 4
	want(t, page(t, r, b.ref, top), 20, leaderboard.SourceRedis, false)
	want(t, page(t, r, b.ref, top), 20, leaderboard.SourceLocal, false)
	want(t, page(t, r, b.ref, leaderboard.PageQuery{Limit: 10}), 20, leaderboard.SourceMySQL, false) // below the copy
	for members, source := range map[string]leaderboard.Source{"m1": leaderboard.SourceRedis, "m9": leaderboard.SourceMySQL, "m1 m2": leaderboard.SourceMySQL} {
		list := strings.Fields(members)
		got := member(t, r, b.ref, list...)
		again := member(t, r, b.ref, list...)
		if got.Source != source || again.Source != leaderboard.SourceLocal || len(again.Entries) != len(list) {
			t.Errorf("members %v: from %s, then %s: %+v", members, got.Source, again.Source, again.Entries)
		}
	}
	for range 2 {
		score, err := r.ScoreRank(cachetest.Within(t), b.ref, leaderboard.ScoreQuery{Score: 1000})
		if err != nil || score.Strict != 1 {
			t.Errorf("rank of the best score: %+v, %v", score, err)
		}
	}
	b.world.Commit(cachetest.Put("new", 100))
	top.MinSeq = 21
	want(t, page(t, r, b.ref, top), 21, leaderboard.SourceMySQL, false) // the process and Redis are too old
	top.MinSeq = 22
	if _, err := r.Page(cachetest.Within(t), b.ref, top); !errors.Is(err, leaderboard.ErrSeqAhead) {
		t.Errorf("min_seq ahead of MySQL: %v", err)
	}
	asked := s.asked.Load()
	b.build(t)
	q := leaderboard.PageQuery{Limit: 3, Around: "nobody"}
	if _, err := r.Page(cachetest.Within(t), b.ref, q); !errors.Is(err, leaderboard.ErrNotRanked) || s.asked.Load() != asked+1 {
		t.Errorf("around a member without an entry, which an incomplete copy cannot know: %v", err)
	}
	if sources[leaderboard.SourceLocal] != 5 || sources[leaderboard.SourceRedis] != 2 || sources[leaderboard.SourceMySQL] != 6 {
		t.Errorf("answers by source: %v", sources)
	}
}

// TestReaderKeys: keys of answers that must not be mistaken for each other.
func TestReaderKeys(t *testing.T) {
	t.Parallel()
	p := cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {})).Ref
	other := p
	other.Rules = new(cachetest.Rules(func(r *leaderboard.Rules) { r.Order = leaderboard.OrderAsc }))
	keys := map[string]string{}
	for name, key := range map[string]string{
		"a":     newPending(membersQuestion{onePeriod{p}, leaderboard.MembersQuery{Members: []string{"a"}}}).key(),
		"ab":    newPending(membersQuestion{onePeriod{p}, leaderboard.MembersQuery{Members: []string{"ab"}}}).key(),
		"a b":   newPending(membersQuestion{onePeriod{p}, leaderboard.MembersQuery{Members: []string{"a", "b"}}}).key(),
		"ab ''": newPending(membersQuestion{onePeriod{p}, leaderboard.MembersQuery{Members: []string{"ab", ""}}}).key(),
		"\x01a": newPending(membersQuestion{onePeriod{p}, leaderboard.MembersQuery{Members: []string{"\x01a"}}}).key(),
		"dense": newPending(membersQuestion{onePeriod{p}, leaderboard.MembersQuery{Query: leaderboard.Query{Mode: leaderboard.ModeDense}, Members: []string{"a"}}}).key(),
		"all":   newPending(membersQuestion{onePeriod{p}, leaderboard.MembersQuery{Query: leaderboard.Query{Mode: leaderboard.ModeAll}, Members: []string{"a"}}}).key(),
		"asc":   newPending(membersQuestion{onePeriod{other}, leaderboard.MembersQuery{Members: []string{"a"}}}).key(),
	} {
		if twin, ok := keys[key]; ok {
			t.Errorf("%s and %s have one key", name, twin)
		}
		keys[key] = name
	}
	q := leaderboard.PageQuery{Limit: 3}
	newer := q
	newer.MinSeq = 9
	if newPending(pageQuestion{onePeriod{p}, q}).key() != newPending(pageQuestion{onePeriod{p}, newer}).key() {
		t.Error("min_seq is no part of what is asked for")
	}
	tied := q
	tied.Mode = leaderboard.ModeTied
	if newPending(pageQuestion{onePeriod{p}, q}).key() != newPending(pageQuestion{onePeriod{p}, tied}).key() {
		t.Error("a page in mode strict has tied ranks too")
	}
}

func TestReaderDemandsACopy(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), topn.Options{})
	b.world.Fill(3)
	s := &worldDatabase{World: b.world}
	demands := 0 // one query at a time
	r := NewReader(b.copies, s, unhurried(ReaderOptions{FreshFor: time.Nanosecond, Demand: func(p leaderboard.PeriodRef) func(context.Context) error {
		demands++
		return buildNow(b.copies)(p)
	}}))
	q := leaderboard.PageQuery{Limit: 3}
	want(t, page(t, r, b.ref, q), 3, leaderboard.SourceRedis, false)
	if err := b.client.Del(cachetest.Within(t), "lb:{7}:5eed:key").Err(); err != nil {
		t.Fatal(err)
	}
	cachetest.Eventually(t, "a damaged copy is built from scratch", func() bool { // the kept page may be served one more time
		return page(t, r, b.ref, q).Source == leaderboard.SourceRedis && demands == 2
	})
	if s.asked.Load() != 0 {
		t.Errorf("MySQL was asked %d times", s.asked.Load())
	}
}

// TestReaderAwaitsTheWriteThrough: a reader that wants a write just made gets it from the copy when the write-through is only a
// moment late.
func TestReaderAwaitsTheWriteThrough(t *testing.T) {
	t.Parallel()
	answers := []error{topn.ErrBehind, nil}
	for _, last := range []error{nil, topn.ErrBehind} {
		answers[1] = last
		q := &lagging{answers: answers}
		o := ReaderOptions{}.withDefaults()
		server := &topn.Server[*lookUps]{Breaker: topn.NewBreaker(time.Now, func(bool) {})}
		if _, err := (&copies{opts: &o}).query(t.Context(), q, server); !errors.Is(err, last) || q.asked != 2 {
			t.Errorf("behind, then %v: %v after %d questions", last, err, q.asked)
		}
	}
}

// lagging is a question to copies that fails as instructed.
type lagging struct {
	pageQuestion
	answers []error
	asked   int
}

func (q *lagging) queryCopy(context.Context, copySource) (leaderboard.Answered, bool, error) {
	q.asked++
	return nil, false, q.answers[q.asked-1]
}

// staged returns a rig whose Redis is played by answer, for tests in which time is made up.
func staged(t *testing.T, answer func(context.Context, *redis.Cmd) error) *rig {
	t.Helper()
	client, w := openClient(t, "redis://127.0.0.1:1"), cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
	client.AddHook(cachetest.Stage(func(ctx context.Context, cmd redis.Cmder) error { return answer(ctx, cmd.(*redis.Cmd)) }))
	return &rig{client, w, topn.New(client, w, topn.Options{}), w.Ref}
}

// TestReaderDoesNotWaitForASlowBuild: no reader waits for a slow build beyond the deadline.
func TestReaderDoesNotWaitForASlowBuild(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := staged(t, func(_ context.Context, cmd *redis.Cmd) error {
			cmd.SetVal([]any{"missing"})
			return nil
		})
		b.world.Fill(3)
		r := NewReader(b.copies, &worldDatabase{World: b.world}, ReaderOptions{Demand: func(leaderboard.PeriodRef) func(context.Context) error {
			return func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			}
		}})
		start := time.Now()
		want(t, page(t, r, b.ref, leaderboard.PageQuery{Limit: 3}), 3, leaderboard.SourceMySQL, false)
		if took := time.Since(start); took != 150*time.Millisecond {
			t.Errorf("took %s, want 150 ms of waiting", took)
		}
	})
}

// TestFallbackBound: losing Redis must not become losing MySQL: never more batches than the bound at once, what could not
// be sent in time is refused, and everybody else is answered (promise E5).
func TestFallbackBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
		s := &worldDatabase{World: w, hold: make(chan struct{})}
		var refused atomic.Int64
		r := NewReader(nil, s, unhurried(ReaderOptions{FallbackConcurrent: 4, ReadWait: time.Second, Observer: observed{refused: func() { refused.Add(1) }}}))
		results := make(chan error, 40)
		for i := range 40 { // all different, nothing is shared
			go func() {
				_, err := r.Page(t.Context(), w.Ref, leaderboard.PageQuery{Limit: 1, Offset: int64(i)})
				results <- err
			}()
		}
		time.Sleep(2 * time.Second)
		for range 36 {
			if err := <-results; !errors.Is(err, leaderboard.ErrOverloaded) {
				t.Fatalf("beyond the bound: %v, want ErrOverloaded", err)
			}
		}
		close(s.hold)
		for range 4 {
			if err := <-results; err != nil {
				t.Errorf("within the bound: %v", err)
			}
		}
		if s.most.Load() != 4 || s.asked.Load() != 4 || refused.Load() != 36 {
			t.Errorf("%d at once in MySQL, %d in all, %d refused; want 4, 4, 36", s.most.Load(), s.asked.Load(), refused.Load())
		}
	})
}

// hungReads makes several readers ask about other members each, and returns the longest time that one waited.
func hungReads(t *testing.T, r *Reader, p leaderboard.PeriodRef, readers, reads int) time.Duration {
	t.Helper()
	var slowest atomic.Int64
	var wg sync.WaitGroup
	for g := range readers {
		wg.Go(func() {
			for i := range reads {
				start := time.Now()
				got, err := r.Members(t.Context(), p, leaderboard.MembersQuery{Members: []string{fmt.Sprint("m", 1+g*reads+i)}})
				took := int64(time.Since(start))
				if err != nil || got.Source != leaderboard.SourceMySQL {
					t.Errorf("read while Redis hangs: %+v, %v", got, err)
				}
				for most := slowest.Load(); took > most && !slowest.CompareAndSwap(most, took); most = slowest.Load() {
				}
			}
		})
	}
	wg.Wait()
	return time.Duration(slowest.Load())
}

// mostQueries returns how often a Redis may be asked that has been hanging since start: by the reads under way when
// it began, and by a probe a second.
func mostQueries(readers int64, start time.Time) int64 {
	return readers + topn.BreakerFailures + int64(time.Since(start)/topn.BreakerPause) + 1
}

// TestHungRedis: Redis accepts connections and never answers. No read waits until the connection gives up, soon none
// asks at all, and afterwards it is used again.
func TestHungRedis(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	client, w := openClient(t, cachetest.Unhurried(server.URL)), cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
	b := &rig{client, w, topn.New(client, w, topn.Options{}), w.Ref}
	b.world.Fill(500)
	b.build(t)
	opened := make(chan bool, 1000)
	r := NewReader(b.copies, &worldDatabase{World: w}, unhurried(ReaderOptions{
		FreshFor: time.Nanosecond, RedisDeadline: 150 * time.Millisecond, Demand: buildNow(b.copies),
		Observer: observed{breaker: func(_ string, open bool) { opened <- open }},
	}))
	offset := int64(0)
	used := func() bool {
		offset++
		return page(t, r, b.ref, leaderboard.PageQuery{Limit: 1, Offset: offset % 400}).Source == leaderboard.SourceRedis
	}
	cachetest.Eventually(t, "Redis is used", used)
	for len(opened) > 0 { // the machine was slow
		<-opened
	}
	var asked counter
	client.AddHook(&asked)
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	const readers, reads = 8, 60
	if took := hungReads(t, r, b.ref, readers, reads); took > cachetest.MaxWait/3 {
		t.Errorf("a read took %s", took)
	}
	if n, most := asked.Load(), mostQueries(readers, start); n > most {
		t.Errorf("Redis was asked %d times by %d reads, want %d at most", n, readers*reads, most)
	}
	select {
	case open := <-opened:
		if !open {
			t.Error("the breaker closed")
		}
	case <-time.After(cachetest.MaxWait):
		t.Error("the breaker did not open")
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	cachetest.Eventually(t, "Redis is used again", used)
}

// TestHungRedisDelays is TestHungRedis by the clock: a read waits for the deadline, and behind a batch, and no longer.
func TestHungRedisDelays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked int64
		b := staged(t, func(ctx context.Context, _ *redis.Cmd) error {
			atomic.AddInt64(&asked, 1)
			<-ctx.Done()
			return ctx.Err()
		})
		b.world.Fill(500)
		r := NewReader(b.copies, &worldDatabase{World: b.world}, ReaderOptions{FreshFor: time.Nanosecond, Demand: buildNow(b.copies)})
		start := time.Now()
		const readers, reads = 8, 60
		if took := hungReads(t, r, b.ref, readers, reads); took != 150*time.Millisecond {
			t.Errorf("the slowest read took %s, want 150 ms", took)
		}
		if n, most := atomic.LoadInt64(&asked), mostQueries(readers, start); n > most {
			t.Errorf("Redis was asked %d times by %d reads, want %d at most", n, readers*reads, most)
		}
		time.Sleep(time.Second) // the last batch has its own deadline
	})
}

// TestBusyPool: a connection to Redis that is not free in time says nothing about Redis: the breaker stays closed, or open.
func TestBusyPool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer, changes := redis.ErrPoolTimeout, 0
		b := staged(t, func(context.Context, *redis.Cmd) error { return answer })
		b.world.Fill(500)
		r := NewReader(b.copies, &worldDatabase{World: b.world}, ReaderOptions{FreshFor: time.Nanosecond, Demand: buildNow(b.copies), Observer: observed{breaker: func(string, bool) { changes++ }}})
		read := func() {
			for i := range 20 {
				if got := page(t, r, b.ref, leaderboard.PageQuery{Limit: 1, Offset: int64(i)}); got.Source != leaderboard.SourceMySQL {
					t.Errorf("an answer of %s", got.Source)
				}
				time.Sleep(2 * topn.BreakerPause)
			}
		}
		if read(); changes != 0 {
			t.Error("the breaker opened")
		}
		answer = errors.New("connection refused")
		if read(); changes != 1 {
			t.Errorf("the breaker changed %d times while Redis is away, want once", changes)
		}
		answer = redis.ErrPoolTimeout
		if read(); changes != 1 {
			t.Error("the breaker closed")
		}
	})
}

// TestTooDeepForACopy: a page that no copy reaches costs no question to Redis, and a page that begins within the copy
// does.
func TestTooDeepForACopy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		b := staged(t, func(context.Context, *redis.Cmd) error { asked++; return redis.ErrPoolTimeout })
		b.world.Fill(500)
		r := NewReader(b.copies, &worldDatabase{World: b.world}, ReaderOptions{FreshFor: time.Nanosecond})
		reach := int64(b.ref.Rules.TopN + max(100, b.ref.Rules.TopN/10))
		for offset, want := range map[int64]int{reach - 1: 1, reach: 0, reach + 1000: 0} {
			asked = 0
			if page(t, r, b.ref, leaderboard.PageQuery{Limit: 1, Offset: offset}); asked != want {
				t.Errorf("offset %d: Redis was asked %d times, want %d", offset, asked, want)
			}
		}
	})
}

// counter counts the queries to copies.
type counter struct{ atomic.Int64 }

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha_ro" {
			c.Add(1)
		}
		return next(ctx, cmd)
	}
}

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestReaderServesStale: with everything behind it down, the process serves its kept answers, marked stale.
func TestReaderServesStale(t *testing.T) {
	t.Parallel()
	w := cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
	w.Commit(cachetest.Put("m", 1))
	var clock atomic.Int64
	now := func() time.Time { return time.Unix(0, clock.Load()) }
	r := NewReader(nil, &worldDatabase{World: w}, ReaderOptions{Now: now, StaleLimit: time.Minute})
	top := leaderboard.PageQuery{Limit: 3}
	reads := map[string]func() (leaderboard.State, error){
		"page": func() (leaderboard.State, error) {
			v, err := r.Page(t.Context(), w.Ref, top)
			return stateOf(v, err, func() leaderboard.State { return v.State }), err
		},
		"members": func() (leaderboard.State, error) {
			v, err := r.Members(t.Context(), w.Ref, leaderboard.MembersQuery{Members: []string{"m"}})
			return stateOf(v, err, func() leaderboard.State { return v.State }), err
		},
		"score rank": func() (leaderboard.State, error) {
			v, err := r.ScoreRank(t.Context(), w.Ref, leaderboard.ScoreQuery{Score: 1})
			return stateOf(v, err, func() leaderboard.State { return v.State }), err
		},
		"distribution": func() (leaderboard.State, error) {
			v, err := r.Distribution(t.Context(), w.Ref, leaderboard.DistributionQuery{Buckets: 3})
			return stateOf(v, err, func() leaderboard.State { return v.State }), err
		},
	}
	check := func(when string, source leaderboard.Source, stale bool) {
		t.Helper()
		for name, read := range reads {
			if s, err := read(); err != nil || s.Seq != 1 || s.Source != source || s.Stale != stale {
				t.Errorf("%s, %s: %+v, %v", when, name, s, err)
			}
		}
	}
	check("at first", leaderboard.SourceMySQL, false)
	check("then", leaderboard.SourceLocal, false)
	w.Fail(fmt.Errorf("connection refused: %w", leaderboard.ErrUnavailable))
	clock.Add(int64(30 * time.Second))
	check("MySQL is down", leaderboard.SourceLocal, true)
	if _, err := r.Page(t.Context(), w.Ref, leaderboard.PageQuery{Limit: 99}); !errors.Is(err, leaderboard.ErrUnavailable) {
		t.Errorf("a page that was never asked for before: %v", err)
	}
	clock.Add(int64(31 * time.Second))
	for name, read := range reads {
		if s, err := read(); !errors.Is(err, leaderboard.ErrUnavailable) {
			t.Errorf("beyond the limit, %s: %+v, %v", name, s, err)
		}
	}
	w.Fail(nil)
	for name, read := range reads { // one of them reports that the period has not changed, which all of them learn
		if s, err := read(); err != nil || s.Seq != 1 || s.Stale {
			t.Errorf("MySQL is back, %s: %+v, %v", name, s, err)
		}
	}
}

func stateOf[V any](_ V, err error, state func() leaderboard.State) leaderboard.State {
	if err != nil {
		return leaderboard.State{}
	}
	return state()
}

// TestReaderMemoryIsBounded: the memory of each layer in the process is bounded.
func TestReaderMemoryIsBounded(t *testing.T) {
	t.Parallel()
	w := cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
	w.Commit(cachetest.Put("m", 1))
	r := NewReader(nil, &worldDatabase{World: w}, ReaderOptions{LocalEntries: 400, LocalBytes: 1 << 20})
	for i := range 2000 {
		page(t, r, w.Ref, leaderboard.PageQuery{Limit: 1, Offset: int64(i)})
		member(t, r, w.Ref, fmt.Sprint("x", i))
	}
	if answers, bytes := r.kept.answers.Size(); answers > 400 || bytes > 1<<20 || answers < 100 {
		t.Errorf("%d answers are kept, %d bytes", answers, bytes)
	}
}

// TestReaderPassesOverADamagedCopy: no matter which field of a copy is damaged, readers are answered.
func TestReaderPassesOverADamagedCopy(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 2 }), topn.Options{Slack: 1})
	b.world.Fill(10)
	r := NewReader(b.copies, &worldDatabase{World: b.world}, unhurried(ReaderOptions{FreshFor: 1, StaleLimit: 1}))
	for _, field := range cachetest.MetaFields() {
		for _, value := range cachetest.Rubbish() {
			b.build(t)
			if err := cachetest.Damage(cachetest.Within(t), b.client, b.ref, field, value); err != nil {
				t.Fatal(err)
			}
			page, err := r.Page(cachetest.Within(t), b.ref, leaderboard.PageQuery{Limit: 2})
			if err != nil || len(page.Entries) != 2 {
				t.Errorf("%s: a reader gets %v, %v", field, page, err)
			}
		}
	}
}

// TestPeriodWithoutRowAsksNobody: its one state is known, so questions about it reach neither the watch nor the database.
func TestPeriodWithoutRowAsksNobody(t *testing.T) {
	t.Parallel()
	model := storetest.NewModel()
	model.Fail(leaderboard.ErrUnavailable)
	rules := leaderboard.Rules{}.WithDefaults()
	of := func(board string, asOf leaderboard.Micros) leaderboard.PeriodRef {
		return leaderboard.PeriodRef{BoardID: 1, Board: board, Window: leaderboard.WindowDay, Name: "2026-11-20", Rules: &rules, Closed: true, AsOf: asOf}
	}
	r := NewReader(nil, model, ReaderOptions{Feed: feed.New(model, feed.Options{})})
	strict := leaderboard.Query{Mode: leaderboard.ModeStrict}
	for range 2 { // the kept answer is good too
		for _, ref := range []leaderboard.PeriodRef{of("a", 7), of("b", 8)} {
			p, err := r.Page(t.Context(), ref, leaderboard.PageQuery{Query: strict, Limit: 10})
			if err != nil || p.AsOf != ref.AsOf || p.Seq != 0 || p.Stale || p.Source != leaderboard.SourceLocal || len(p.Entries) != 0 {
				t.Errorf("page: %+v, %v", p, err)
			}
			later := leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: 1}
			if _, err := r.Members(t.Context(), ref, leaderboard.MembersQuery{Query: later, Members: []string{"x"}}); !errors.Is(err, leaderboard.ErrSeqAhead) {
				t.Errorf("a later state: %v", err)
			}
			if _, err := r.Page(t.Context(), ref, leaderboard.PageQuery{Query: strict, Around: "x", Limit: 10}); !errors.Is(err, leaderboard.ErrNotRanked) {
				t.Errorf("around: %v", err)
			}
		}
		for _, offset := range []int64{0, 2000} {
			q := leaderboard.CombinedQuery{Mode: leaderboard.ModeStrict, Limit: 10, Offset: offset}
			p, err := r.CombinedPage(t.Context(), []leaderboard.PeriodRef{of("a", 7), of("b", 8)}, q)
			if err != nil || len(p.Entries) != 0 || p.States[0].AsOf != 7 || p.States[1].AsOf != 8 || p.States[0].Stale {
				t.Errorf("ranked as one from %d: %+v, %v", offset, p, err)
			}
		}
	}
}

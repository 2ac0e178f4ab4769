package cache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/batch"
	"leaderboard/cache/cachetest"
	"leaderboard/cache/topn"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// scriptCalls counts the calls of scripts, and holds them up while hold is set. The second round trip of a call whose
// script Redis did not know yet (eval) does not count.
type scriptCalls struct {
	n    atomic.Int64
	hold chan struct{}
}

func (*scriptCalls) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*scriptCalls) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (s *scriptCalls) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "evalsha") {
			s.n.Add(1)
			if s.hold != nil {
				<-s.hold
			}
		}
		return next(ctx, cmd)
	}
}

// TestLookupsGoTogether: look-ups that come while Redis is busy are answered by one script, and look-ups below the copy
// by one query, each with its own member and rank.
func TestLookupsGoTogether(t *testing.T) {
	t.Parallel()
	const members, held = 200, 50
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = held }), topn.Options{Slack: 1})
	b.world.Fill(members)
	b.build(t)
	calls := &scriptCalls{hold: make(chan struct{})}
	b.client.AddHook(calls)
	s := &worldDatabase{World: b.world, hold: make(chan struct{})}
	r := NewReader(b.copies, s, unhurried(ReaderOptions{}))
	var wg sync.WaitGroup
	lookUp := func(n int) {
		wg.Go(func() {
			got, err := r.Members(cachetest.Within(t), b.ref, leaderboard.MembersQuery{Members: []string{fmt.Sprint("m", n)}})
			if err != nil || len(got.Entries) != 1 || got.Entries[0].Member != fmt.Sprint("m", n) || got.Entries[0].Strict != int64(n) {
				t.Errorf("look-up of m%d: %+v, %v", n, got, err)
			}
		})
	}
	for n := 1; n <= lookUpsAtOnce; n++ {
		lookUp(n)
		cachetest.Eventually(t, "a script is under way", func() bool { return calls.n.Load() == int64(n) })
	}
	for n := lookUpsAtOnce + 1; n <= members; n++ {
		lookUp(n)
	}
	cachetest.Eventually(t, "the others gather", func() bool { return r.redis.servers.Of(t.Context(), b.ref).Own.Waiting() == members-lookUpsAtOnce })
	close(calls.hold)
	cachetest.Eventually(t, "the rest is handed on", func() bool { return r.database.Waiting() >= members-held-4-1 }) // the copy may hold one more
	close(s.hold)
	wg.Wait()
	if n := calls.n.Load(); n != lookUpsAtOnce+1 {
		t.Errorf("%d scripts for %d look-ups, want one for each of the first and one for those that gathered", n, members)
	}
	if n := s.asked.Load(); n > 4+3 {
		t.Errorf("%d queries for the %d members below the copy", n, members-held)
	}
}

// TestLookupsDoNotHinderEachOther: the requirements of one caller do not change the answers to the others in its batch.
func TestLookupsDoNotHinderEachOther(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), topn.Options{})
	b.world.Fill(10)
	b.build(t)
	b.world.Commit(cachetest.Put("new", 100)) // the copy stays at seq 10
	s := &worldDatabase{World: b.world}
	r := NewReader(b.copies, s, unhurried(ReaderOptions{}))
	queries := []memberLookUp{
		{b.ref, leaderboard.MembersQuery{Members: []string{"nobody"}}},
		{b.ref, leaderboard.MembersQuery{Query: leaderboard.Query{MinSeq: 11}, Members: []string{"m1"}}},
		{b.ref, leaderboard.MembersQuery{Members: []string{"m3"}}},
	}
	got := make([]batch.Answer[lookedUp], len(queries))
	if err := r.redis.lookUp(t.Context(), lookUpKey{}, queries, got); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(got[1].Err, topn.ErrBehind) || got[0].Err != nil || got[2].Err != nil {
		t.Fatalf("%+v, want an answer to all but the one that the copy is too old for", got)
	}
	first, third := got[0].Value.standings, got[2].Value.standings
	if first.Seq != 10 || len(first.Entries) != 0 || fmt.Sprint(first.NotRanked) != "[nobody]" || third.Entries[0].Member != "m3" || third.Entries[0].Strict != 3 {
		t.Errorf("from the copy: %+v, %+v", first, third)
	}
	newer, err := r.Members(t.Context(), b.ref, queries[1].query)
	if err != nil || newer.Seq != 11 || newer.Entries[0].Strict != 2 || newer.Source != leaderboard.SourceMySQL {
		t.Errorf("min_seq 11: %+v, %v", newer, err)
	}
	if _, err := r.Members(t.Context(), b.ref, leaderboard.MembersQuery{Query: leaderboard.Query{MinSeq: 12}, Members: []string{"m2"}}); !errors.Is(err, leaderboard.ErrSeqAhead) {
		t.Errorf("min_seq 12: %v, want ErrSeqAhead", err)
	}
}

// TestLookupWaitsForTheWriteThrough: for a caller that has just written, the copy has a moment to catch up before MySQL is
// asked.
func TestLookupWaitsForTheWriteThrough(t *testing.T) {
	t.Parallel()
	address, w := testenv.Redis(t), cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
	writer := openClient(t, address)
	b := &rig{writer, w, topn.New(writer, w, topn.Options{}), w.Ref}
	b.world.Fill(10)
	b.build(t)
	calls := &scriptCalls{hold: make(chan struct{})}
	client := openClient(t, address)
	client.AddHook(calls)
	s := &worldDatabase{World: w}
	r := NewReader(topn.New(client, w, topn.Options{}), s, unhurried(ReaderOptions{}))
	w.Commit(cachetest.Put("new", 100))
	answer := make(chan *leaderboard.Standings, 1)
	go func() {
		got, err := r.Members(cachetest.Within(t), w.Ref, leaderboard.MembersQuery{Query: leaderboard.Query{MinSeq: 11}, Members: []string{"new"}})
		if err != nil {
			t.Error(err)
		}
		answer <- got
	}()
	calls.hold <- struct{}{} // too old
	cachetest.Eventually(t, "the copy is asked again", func() bool { return calls.n.Load() == 2 })
	cachetest.Must(b.copies.CatchUp(cachetest.Within(t), w.Ref))(t)
	close(calls.hold)
	if got := <-answer; got.Source != leaderboard.SourceRedis || got.Seq != 11 || s.asked.Load() != 0 {
		t.Errorf("answer %+v, MySQL was asked %d times", got, s.asked.Load())
	}
}

// TestLookupsAreExact: for any questions asked together, in any modes, while the period changes and copies come and go:
// every answer equals the answer of the cachetest.Oracle at the state that it names, and is as new as required.
func TestLookupsAreExact(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 20 }), topn.Options{Slack: 5})
	b.world.Fill(60)
	s := &worldDatabase{World: b.world}
	r := NewReader(b.copies, s, unhurried(ReaderOptions{FreshFor: time.Millisecond, Demand: buildNow(b.copies)}))
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			b.world.Commit(cachetest.Put(fmt.Sprint("m", 1+rand.IntN(80)), rand.Int64N(40)))
			if _, err := b.copies.CatchUp(cachetest.Within(t), b.ref); i%50 == 49 || errors.Is(err, leaderboard.ErrNeedsBuild) {
				_, _ = b.copies.Build(cachetest.Within(t), b.ref)
			}
		}
	})
	var readers sync.WaitGroup
	var sources sync.Map
	for range 16 {
		readers.Go(func() {
			for range 150 {
				q := leaderboard.MembersQuery{Query: leaderboard.Query{Mode: []leaderboard.Mode{leaderboard.ModeStrict, leaderboard.ModeTied, leaderboard.ModeDense, leaderboard.ModeAll}[rand.IntN(4)]}}
				if rand.IntN(3) == 0 {
					q.MinSeq = b.world.Name().Seq
				}
				for _, n := range rand.Perm(90)[:1+rand.IntN(3)*rand.IntN(4)] {
					q.Members = append(q.Members, fmt.Sprint("m", 1+n))
				}
				if rand.IntN(4) == 0 {
					q.Limit, q.Offset, q.Self = 1+rand.IntN(3), rand.IntN(2), q.Members[0]
				}
				got, err := r.Members(cachetest.Within(t), b.ref, q)
				if err != nil {
					t.Errorf("%+v: %v", q, err)
					return
				}
				if got.Source == leaderboard.SourceRedis && (len(q.Members) > 1 || q.Subset()) {
					t.Errorf("%+v: a copy answers about one member, and nothing else", q)
				}
				sources.Store(got.Source, true)
				b.check(t, q, got)
			}
		})
	}
	readers.Wait()
	close(stop)
	wg.Wait()
	for _, source := range []leaderboard.Source{leaderboard.SourceRedis, leaderboard.SourceMySQL} {
		if _, ok := sources.Load(source); !ok {
			t.Errorf("no answer came from %s, the test tests little", source)
		}
	}
}

func (b *rig) check(t *testing.T, q leaderboard.MembersQuery, got *leaderboard.Standings) {
	t.Helper()
	o, ok := b.world.At(got.Revision)
	if !ok || got.Seq < q.MinSeq || got.Stale {
		t.Errorf("%+v: answered at %+v", q, got.State)
		return
	}
	want := o.Members(q, got.Source)
	if got.State != want.State || !reflect.DeepEqual(append([]leaderboard.Standing{}, got.Entries...), want.Entries) || !reflect.DeepEqual(got.NotRanked, want.NotRanked) ||
		got.Ranked != want.Ranked || !reflect.DeepEqual(got.Self, want.Self) {
		t.Errorf("%+v: %+v, self %+v\nwant %+v, self %+v", q, got, got.Self, want, want.Self)
	}
}

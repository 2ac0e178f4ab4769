package topn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/cachetest"
	"leaderboard/cache/feed"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

func newWriteThrough(t *testing.T, c *Copies, opts WriteThroughOptions) *WriteThrough {
	t.Helper()
	f := NewWriteThrough(c, opts)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = f.Stop(ctx)
	})
	return f
}

func (b *rig) reaches(t testing.TB, seq int64) {
	t.Helper()
	cachetest.Eventually(t, fmt.Sprint("the copy is at seq ", seq), func() bool { return b.info(t).Seq == seq })
}

func TestWriteThrough(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 20 }), Options{Slack: 5})
	b.build(t)
	var mu sync.Mutex
	applied := 0
	f := newWriteThrough(t, b.copies, WriteThroughOptions{onApply: func(a Applied) {
		mu.Lock()
		defer mu.Unlock()
		applied += a.Changes
		if a.Effect != EffectApplied || a.Lag <= 0 {
			t.Errorf("%+v", a)
		}
	}})
	for i := range 500 {
		f.Notify(b.ref, b.world.Commit(cachetest.Put(fmt.Sprint("m", i%40), int64(i*7919%101))))
	}
	if err := f.Stop(cachetest.Within(t)); err != nil {
		t.Fatal(err)
	}
	if v := b.verify(t); !v.Equal || v.Seq != 500 || b.info(t).Seq != 500 || applied != 500 {
		t.Errorf("%+v, %d applied; copy %+v", v, applied, b.info(t))
	}
	if changes, age := f.Lag(); changes != 0 || age != 0 {
		t.Errorf("lag is %d changes, %s", changes, age)
	}
	f.Notify(b.ref, b.world.Commit(cachetest.Put("late", 1))) // after Stop: no panic, no work
}

// TestWriteThroughOfOldCopies: a WriteThrough for measurements leaves a copy until a reader finds it old, and then does not make the next
// reader wait for a second.
func TestWriteThroughOfOldCopies(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.build(t)
	applied := make(chan Applied, 1)
	f := newWriteThrough(t, b.copies, WriteThroughOptions{OnlyOld: true, onApply: func(a Applied) { applied <- a }})
	if f.every != catchUpOld {
		t.Errorf("it catches up every %s", f.every)
	}
	f.Notify(b.ref, b.world.Commit(cachetest.Put("m", 1)))
	if changes, _ := f.Lag(); changes != 0 || b.info(t).Seq != 0 {
		t.Errorf("after a commit it has %d changes to write, and the copy is at %d", changes, b.info(t).Seq)
	}
	f.CatchUp(b.ref)
	if a := <-applied; a.Seq != 1 || b.info(t).Seq != 1 {
		t.Errorf("%+v, copy %+v", a, b.info(t))
	}
}

// TestWriteThroughFillsGaps: notified in the wrong order, by several servers, or not at all: the log makes it good.
func TestWriteThroughFillsGaps(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.build(t)
	f := newWriteThrough(t, b.copies, WriteThroughOptions{})
	var commits []leaderboard.Commit
	for i := range 6 {
		commits = append(commits, b.world.Commit(cachetest.Put("m", int64(i))))
	}
	f.Notify(b.ref, commits[3])
	b.reaches(t, 6)
	f.Notify(b.ref, commits[1])
	f.Notify(b.ref, commits[0])
	if err := f.Stop(cachetest.Within(t)); err != nil {
		t.Fatal(err)
	}
	if got := b.info(t).Seq; got != 6 {
		t.Errorf("old news took the copy to seq %d", got)
	}
}

// TestWriteThroughCatchesUp: a copy that a reader finds too old is brought up to date without a commit, and not again and again.
func TestWriteThroughCatchesUp(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.build(t)
	var applied atomic.Int64
	f := newWriteThrough(t, b.copies, WriteThroughOptions{onApply: func(Applied) { applied.Add(1) }})
	b.world.Commit(cachetest.Put("m", 1))
	for range 10 {
		f.CatchUp(b.ref)
	}
	b.reaches(t, 1)
	b.world.Commit(cachetest.Put("m", 2))
	began := time.Now()
	cachetest.Eventually(t, "it is brought up to date again", func() bool { f.CatchUp(b.ref); return b.info(t).Seq == 2 })
	if n := applied.Load(); n > 2+int64(time.Since(began)/catchUpEvery) {
		t.Errorf("it was brought up to date %d times", n)
	}
	if changes, _ := f.Lag(); changes != 0 {
		t.Errorf("lag is %d changes", changes)
	}
}

// TestOneProcessCatchesUp: of all processes whose readers find a copy old at once, one reads the missing commits; a
// process with its own commit to write does not leave it to others.
func TestOneProcessCatchesUp(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.build(t)
	var applied atomic.Int64
	processes := make([]*WriteThrough, 20)
	for i := range processes {
		processes[i] = newWriteThrough(t, b.copies, WriteThroughOptions{onApply: func(Applied) { applied.Add(1) }})
	}
	b.world.Commit(cachetest.Put("m", 1))
	began := time.Now()
	for _, f := range processes {
		f.CatchUp(b.ref)
	}
	for i, f := range processes {
		if i > 0 {
			if err := f.Stop(cachetest.Within(t)); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.reaches(t, 1)
	if n := applied.Load(); n > 1+int64(time.Since(began)/catchUpEvery) {
		t.Errorf("it was brought up to date by %d processes", n)
	}
	if left := b.copies.background.PTTL(t.Context(), b.copies.base(b.ref)+"turn").Val(); left == -1 || left > catchUpEvery { // -1: for ever
		t.Errorf("a turn lasts for %s more", left)
	}
	waiting, own := &backlog{ref: b.ref, fromLog: true, onTurn: true}, b.world.Commit(cachetest.Put("m", 2))
	waiting.notify(b.ref, own)
	if waiting.onTurn {
		t.Error("a commit of this process waits for the turn of readers")
	}
	processes[0].Notify(b.ref, own)
	b.reaches(t, 2)
}

// TestTurn: when the answer was lost and the client has repeated the command, the turn is taken all the same; a failure is an error.
func TestTurn(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.copies.background.(redis.UniversalClient).AddHook(twice{})
	f := newWriteThrough(t, b.copies, WriteThroughOptions{})
	ctx, cancel := context.WithCancel(cachetest.Within(t))
	began := time.Now()
	for _, want := range []bool{true, false} {
		if mine, err := f.claim(ctx, b.ref); mine != want && time.Since(began) < catchUpEvery || err != nil {
			t.Errorf("it is this one's turn: %t, %v, want %t", mine, err, want)
		}
	}
	cancel()
	if mine, err := f.claim(ctx, b.ref); mine || err == nil {
		t.Errorf("without an answer it is this one's turn: %t, %v", mine, err)
	}
}

// twice has a client send every command again, as when the answer is lost.
type twice struct{}

func (twice) DialHook(next redis.DialHook) redis.DialHook { return next }

func (twice) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		_ = next(ctx, cmd)
		cmd.SetErr(nil)
		return next(ctx, cmd)
	}
}

func (twice) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestWriteThroughSeesAGapInTheQueue: commits that wait together with a gap between them must not be applied together.
func TestWriteThroughSeesAGapInTheQueue(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.build(t)
	f := newWriteThrough(t, b.copies, WriteThroughOptions{})
	if err := f.servers.Of(t.Context(), b.ref).Own.Acquire(cachetest.Within(t), followers); err != nil { // nothing is applied for now
		t.Fatal(err)
	}
	for i := range 5 {
		c := b.world.Commit(cachetest.Put(fmt.Sprint("m", i), int64(i)))
		if i != 3 {
			f.Notify(b.ref, c)
		}
	}
	f.servers.Of(t.Context(), b.ref).Own.Release(followers)
	if err := f.Stop(cachetest.Within(t)); err != nil {
		t.Fatal(err)
	}
	if v := b.verify(t); !v.Equal || v.Checked != 5 {
		t.Errorf("%+v", v)
	}
}

func TestWriteThroughLeavesColdBoardsAlone(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	f := newWriteThrough(t, b.copies, WriteThroughOptions{
		Demand:  func(leaderboard.PeriodRef) { t.Error("a build was asked for") },
		onApply: func(a Applied) { checkEffect(t, a, EffectMissing) },
	})
	f.Notify(b.ref, b.world.Commit(cachetest.Put("m", 1)))
	if err := f.Stop(cachetest.Within(t)); err != nil {
		t.Fatal(err)
	}
	if b.info(t).Exists || b.world.Reads() > 0 {
		t.Errorf("copy %+v, %d reads of MySQL", b.info(t), b.world.Reads())
	}
}

func checkEffect(t *testing.T, a Applied, want Effect) {
	t.Helper()
	if a.Effect != want {
		t.Errorf("effect is %s, want %s", a.Effect, want)
	}
}

func TestWriteThroughAsksForABuild(t *testing.T) {
	t.Parallel()
	cases := map[string]func(b *rig) leaderboard.Commit{
		"few entries left": func(b *rig) leaderboard.Commit {
			return b.world.Commit(cachetest.Remove("m1"), cachetest.Remove("m2"), cachetest.Remove("m3"))
		},
		"pruned log": func(b *rig) leaderboard.Commit {
			b.world.Commit(cachetest.Put("x", 1))
			c := b.world.Commit(cachetest.Put("x", 2))
			b.world.Prune(c.From().Seq)
			return c
		},
		"another incarnation": func(b *rig) leaderboard.Commit {
			c := b.world.Commit(cachetest.Put("x", 1))
			c.PrevCommittedAt++
			return c
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 3 }), Options{Slack: 1})
			b.world.Fill(9)
			b.build(t)
			asked := make(chan leaderboard.PeriodRef, 1)
			f := newWriteThrough(t, b.copies, WriteThroughOptions{Demand: func(p leaderboard.PeriodRef) { asked <- p }})
			f.Notify(b.ref, prepare(b))
			select {
			case <-asked:
			case <-time.After(cachetest.MaxWait):
				t.Error("no build was asked for")
			}
		})
	}
}

// TestWriteThroughSurvivesRedis: while Redis hangs, writers continue; when it is back the copy is brought up to date without
// any reader.
func TestWriteThroughSurvivesRedis(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	client, w := openClient(t, server.URL), cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
	b := &rig{client, w, New(client, w, Options{}), w.Ref}
	b.build(t)
	f := newWriteThrough(t, b.copies, WriteThroughOptions{})
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	const commits = 2 * followChanges
	notified := make(chan struct{})
	go func() {
		defer close(notified)
		for i := range commits {
			f.Notify(b.ref, b.world.Commit(cachetest.Put(fmt.Sprint("m", i%50), int64(i))))
		}
	}()
	select {
	case <-notified:
	case <-time.After(cachetest.MaxWait): // half an hour and more, if each waited for Redis
		t.Fatalf("notifying takes longer than %s while Redis hangs", cachetest.MaxWait)
	}
	if changes, age := f.Lag(); changes < commits-1 || age <= 0 {
		t.Errorf("lag is %d changes, %s", changes, age)
	}
	if held := f.opts.Tail.Bytes(); held > 32<<20 {
		t.Errorf("commits of %d bytes are held in memory", held)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	b.reaches(t, commits)
	if v := b.verify(t); !v.Equal {
		t.Errorf("%+v", v)
	}
}

// TestWriteThroughTriesAgain: a commit that could not be applied is not forgotten, even if no other follows.
func TestWriteThroughTriesAgain(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	client, w := openClient(t, server.URL), cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
	b := &rig{client, w, New(client, w, Options{}), w.Ref}
	b.build(t)
	failed := make(chan struct{}, 100)
	f := newWriteThrough(t, b.copies, WriteThroughOptions{Logger: slog.New(slog.NewTextHandler(signal(failed), nil))})
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	f.Notify(b.ref, b.world.Commit(cachetest.Put("m", 1)))
	<-failed
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	b.reaches(t, 1)
}

// TestCopyIsLeft: a copy that cannot be written to is not to be asked until it is up to date again, and others are.
func TestCopyIsLeft(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	client, w := openClient(t, server.URL), cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
	b := &rig{client, w, New(client, w, Options{}), w.Ref}
	b.build(t)
	failures := make(chan struct{}, 100)
	f := newWriteThrough(t, b.copies, WriteThroughOptions{Observer: observed{failed: func() { failures <- struct{}{} }}})
	refuse := func(replicas string) {
		if err := client.ConfigSet(cachetest.Within(t), "min-replicas-to-write", replicas).Err(); err != nil {
			t.Fatal(err)
		}
	}
	refuse("1")
	f.Notify(b.ref, b.world.Commit(cachetest.Put("m", 1)))
	for range BreakerFailures + 1 {
		if <-failures; len(failures) > BreakerFailures {
			t.Fatal("it is tried again without a pause")
		}
	}
	other := b.ref
	other.ID++
	if !b.copies.IsBehind(b.ref) || b.copies.IsBehind(other) {
		t.Errorf("left: %t, another: %t", b.copies.IsBehind(b.ref), b.copies.IsBehind(other))
	}
	refuse("0")
	b.reaches(t, 1)
	cachetest.Eventually(t, "the copy is asked again", func() bool { return !b.copies.IsBehind(b.ref) })
}

// TestCopyIsReadWithoutMySQL: a copy that is behind because MySQL is away is not treated as unwritable: its answers,
// marked stale, are the only ones.
func TestCopyIsReadWithoutMySQL(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.build(t)
	failures := make(chan struct{}, 100)
	f := newWriteThrough(t, b.copies, WriteThroughOptions{Observer: observed{failed: func() { failures <- struct{}{} }}})
	b.world.Commit(cachetest.Put("m", 1))
	b.world.Fail(leaderboard.ErrUnavailable)
	f.CatchUp(b.ref)
	for range BreakerFailures + 1 {
		<-failures
	}
	if b.copies.IsBehind(b.ref) {
		t.Error("the copy is left alone while MySQL is away")
	}
	b.world.Fail(nil)
	b.reaches(t, 1)
}

// refsBeside returns periods other than the rig's period; they have no copies.
func (b *rig) refsBeside(n int) []leaderboard.PeriodRef {
	refs := make([]leaderboard.PeriodRef, n)
	for i := range refs {
		refs[i] = b.ref
		refs[i].ID += int64(i + 1)
	}
	return refs
}

// TestWriteThroughIsBounded: the commits that wait for Redis are bounded in bytes over all periods, and dropped ones are
// read from the log.
func TestWriteThroughIsBounded(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.build(t)
	const memory = 10_000
	f := newWriteThrough(t, b.copies, WriteThroughOptions{Tail: feed.NewTail(memory)})
	if err := f.servers.Of(t.Context(), b.ref).Own.Acquire(cachetest.Within(t), followers); err != nil { // nothing is applied for now
		t.Fatal(err)
	}
	commits := 0
	for _, ref := range append(b.refsBeside(50), b.ref) {
		for range 20 {
			commit := b.world.Commit(cachetest.Put(fmt.Sprint("m", commits), 1))
			f.Notify(ref, commit)
			commits++
		}
	}
	if got := f.opts.Tail.Bytes(); got > memory || got < memory/2 {
		t.Errorf("%d bytes are held, want at most %d", got, memory)
	}
	f.servers.Of(t.Context(), b.ref).Own.Release(followers)
	b.reaches(t, int64(commits))
	if err := f.Stop(cachetest.Within(t)); err != nil {
		t.Fatal(err)
	}
}

// TestWriteThroughLeavesRedisAlone: a Redis that hangs is asked once a second for all periods, not in turn for each, and all
// of them are behind at once.
func TestWriteThroughLeavesRedisAlone(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	client, w := openClient(t, server.URL), cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
	b := &rig{client, w, New(client, w, Options{}), w.Ref}
	b.build(t)
	var attempts atomic.Int64
	f := newWriteThrough(t, b.copies, WriteThroughOptions{Observer: observed{failed: func() { attempts.Add(1) }}})
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	refs := append(b.refsBeside(400), b.ref)
	for _, ref := range refs {
		f.Notify(ref, b.world.Commit(cachetest.Put("m", 1)))
	}
	cachetest.Eventually(t, "all are left", func() bool {
		return !slices.ContainsFunc(refs, func(ref leaderboard.PeriodRef) bool { return !b.copies.IsBehind(ref) })
	})
	if most := int64(BreakerFailures+followers) + int64(time.Since(start)/BreakerPause) + 1; attempts.Load() > most {
		t.Errorf("%d attempts in %s, want at most %d", attempts.Load(), time.Since(start), most)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	b.reaches(t, int64(len(refs)))
	cachetest.Eventually(t, "none is left", func() bool { return !slices.ContainsFunc(refs, b.copies.IsBehind) })
}

// unreachable plays a Redis that cannot be reached, and reports each attempt.
type unreachable struct {
	redis.Hook
	tried func()
}

// ProcessHook implements redis.Hook.
func (u unreachable) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		u.tried()
		cmd.SetErr(errors.New("connection refused"))
		return cmd.Err()
	}
}

// DialHook implements redis.Hook.
func (unreachable) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook implements redis.Hook.
func (unreachable) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestWriteThroughIsBackSoon: however long Redis does not answer, it is tried every second, so that its replacement is
// written to, and read, soon.
func TestWriteThroughIsBackSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, w := openClient(t, "redis://127.0.0.1:1"), cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
		last, attempts := time.Now(), 0
		client.AddHook(unreachable{tried: func() {
			if pause := time.Since(last); pause > 2*BreakerPause {
				t.Errorf("it is tried again after %s", pause)
			}
			last, attempts = time.Now(), attempts+1
		}})
		f := newWriteThrough(t, New(client, w, Options{Background: client}), WriteThroughOptions{})
		f.Notify(w.Ref, w.Commit(cachetest.Put("m", 1)))
		time.Sleep(time.Minute)
		synctest.Wait()
		if attempts < 30 || attempts > 60+BreakerFailures {
			t.Errorf("%d attempts in a minute", attempts)
		}
	})
}

// signal sends every write to a channel.
type signal chan<- struct{}

func (s signal) Write(p []byte) (int, error) {
	s <- struct{}{}
	return len(p), nil
}

// TestWriteThroughStops: a WriteThrough that cannot get through does not keep the process from ending.
func TestWriteThroughStops(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	client, w := openClient(t, server.URL), cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
	f := NewWriteThrough(New(client, w, Options{}), WriteThroughOptions{})
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Resume() }()
	f.Notify(w.Ref, w.Commit(cachetest.Put("m", 1)))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	stopped := make(chan error)
	go func() { stopped <- f.Stop(ctx) }()
	select {
	case err := <-stopped:
		if !errors.Is(err, context.DeadlineExceeded) && err != nil {
			t.Errorf("stop: %v", err)
		}
	case <-time.After(cachetest.MaxWait):
		t.Errorf("stop takes longer than %s", cachetest.MaxWait)
	}
}

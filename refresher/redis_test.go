package refresher

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/cache/cachetest"
	"leaderboard/cache/topn"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// onRedis is three processes, each with its own connections, and the number of their builds. lose takes all leases
// away, like a Redis that loses its memory.
func onRedis(t *testing.T, hook func(string)) (processes []*Refresher, ref leaderboard.PeriodRef, builds *atomic.Int64, lose func() error) {
	t.Helper()
	model := storetest.NewModel()
	b, _, err := model.PutBoard(t.Context(), "b", leaderboard.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	period, err := model.CurrentPeriod(t.Context(), b, leaderboard.WindowAllTime)
	if err != nil {
		t.Fatal(err)
	}
	builds = new(atomic.Int64)
	address := testenv.Redis(t)
	for range 3 {
		client, err := topn.Open(cachetest.Unhurried(address))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = topn.Close(client) })
		lose = func() error {
			keys, err := client.Keys(t.Context(), "*:lease").Result()
			if err == nil {
				err = client.Del(t.Context(), keys...).Err()
			}
			return err
		}
		copies := topn.New(client, model, topn.Options{HookPoint: func(point string) {
			if point == "locked" {
				builds.Add(1)
			}
			hook(point)
		}})
		r := New(Config{Copies: copies, Runs: model})
		t.Cleanup(func() { _ = r.Close(context.Background()) })
		processes = append(processes, r)
	}
	return processes, period.Ref(&b), builds, lose
}

// TestDemandsOnRealRedis: readers of three processes find no copy, while the one build takes a while.
func TestDemandsOnRealRedis(t *testing.T) {
	t.Parallel()
	reached, proceed := make(chan struct{}, 10), make(chan struct{})
	processes, ref, builds, _ := onRedis(t, func(point string) {
		if point == "before-publish" {
			reached <- struct{}{}
			<-proceed
		}
	})
	var wg sync.WaitGroup
	for i := range 300 {
		wg.Go(func() {
			if err := processes[i%3].Demand(ref)(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	<-reached
	close(proceed)
	wg.Wait()
	if n := builds.Load(); n != 1 {
		t.Errorf("%d builds", n)
	}
}

// TestLostLeasePublishesNothing: a builder whose lease is gone from Redis gives up within a third of its term and a
// second, and publishes nothing (promise C5).
func TestLostLeasePublishesNothing(t *testing.T) {
	t.Parallel()
	reached, proceed := make(chan struct{}, 1), make(chan struct{})
	processes, ref, _, lose := onRedis(t, func(point string) {
		if point == "before-publish" {
			reached <- struct{}{}
			<-proceed
		}
	})
	r := processes[0]
	ended := make(chan error, 1)
	go func() {
		req := full()
		req.Ref = ref
		_, err := r.RunOnce(t.Context(), req)
		ended <- err
	}()
	<-reached
	lease, err := r.copier.copies.Lease(t.Context(), ref, r.copier.leaseTTL)
	if err != nil || lease != nil {
		t.Fatalf("beside a build another process gets the lease: %v, %v", lease, err)
	}
	if err := lose(); err != nil {
		t.Fatal(err)
	}
	<-time.After(r.copier.leaseTTL/3 + time.Second)
	close(proceed)
	if err := <-ended; !errors.Is(err, errLeaseLost) {
		t.Errorf("the build ended with %v", err)
	}
	if info, err := r.copier.copies.Info(t.Context(), ref); err != nil || info.Exists {
		t.Errorf("there is a copy: %+v, %v", info, err)
	}
}

// TestBuildsKeepTheirDistance: a build that is demanded of another process right after one begins MinGap after that one
// began, not at once (promise C3).
func TestBuildsKeepTheirDistance(t *testing.T) {
	t.Parallel()
	processes, ref, _, _ := onRedis(t, func(string) {})
	var started []leaderboard.Micros
	for _, r := range processes[:2] {
		req := full()
		req.Ref = ref
		if run, err := r.RunOnce(t.Context(), req); err != nil || run.State != leaderboard.RunStateDone {
			t.Fatalf("%+v, %v", run, err)
		}
		info, err := r.copier.copies.Info(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		started = append(started, info.BuildStarted)
	}
	gap := started[1].Time().Sub(started[0].Time())
	if want := processes[1].copier.minGap; gap < want {
		t.Errorf("the second build began %s after the first, want %s", gap, want)
	}
}

// TestCronOnRealRedis: after a tick every board that orders it has its copy, read or not, also when Redis was emptied. While
// Redis uses most of its memory only boards that are read get theirs.
func TestCronOnRealRedis(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	client, err := topn.Open(cachetest.Unhurried(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer topn.Close(client)
	model := storetest.NewModel()
	copies := topn.New(client, model, topn.Options{})
	listings := map[string]leaderboard.Listing{}
	for _, name := range []string{"read", "unread"} {
		b, _, err := model.PutBoard(t.Context(), name, leaderboard.Rules{Refresh: leaderboard.Refresh{Full: "* * * * *"}})
		if err != nil {
			t.Fatal(err)
		}
		period, err := model.CurrentPeriod(t.Context(), b, leaderboard.WindowAllTime)
		if err != nil {
			t.Fatal(err)
		}
		listings[name] = leaderboard.Listing{Board: b, Periods: []leaderboard.Period{period}}
	}
	var ahead atomic.Int64
	r := New(Config{
		Copies: copies, Runs: model, Boards: model, Memory: copies.Memory, Reload: 20 * time.Millisecond, Random: func() float64 { return 0 },
		wall: func(now time.Time) time.Time { return now.Round(0).Add(time.Duration(ahead.Load())) },
	})
	defer r.Close(context.Background())
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	defer running.Wait()
	defer cancel()
	tick := func() { ahead.Add(int64(time.Minute)) }
	built := func(name string) bool {
		l := listings[name]
		info, err := copies.Info(t.Context(), l.Periods[0].Ref(&l.Board))
		if err != nil {
			t.Fatal(err)
		}
		return info.Exists
	}
	eventually := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("in vain: %s", what)
			}
		}
	}
	both := func() bool { return built("read") && built("unread") }
	listed := func() bool {
		r.scheduler.mu.Lock()
		defer r.scheduler.mu.Unlock()
		return len(r.scheduler.plans) == len(listings)
	}
	eventually("the boards are listed", listed)
	tick()
	eventually("boards that were not read have their copies", both)
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	tick()
	eventually("they have them after Redis was emptied", both)
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	share, err := copies.Memory(t.Context(), leaderboard.PeriodRef{})
	if err != nil || share != 0 {
		t.Fatalf("without a bound %f of the memory is used, %v", share, err)
	}
	const room = 20 << 20
	filled := client.Set(t.Context(), "filling", make([]byte, 8*room/10), 0).Err()
	if err := errors.Join(filled, client.ConfigSet(t.Context(), "maxmemory", strconv.Itoa(room)).Err()); err != nil {
		t.Fatal(err)
	}
	r.Follow(listings["read"])
	tick()
	eventually("the board that is read has its copy", func() bool { return built("read") })
	eventually("the other one is refused", func() bool {
		runs, err := model.Runs(t.Context(), listings["unread"].Board.ID, 0, 1)
		return err == nil && len(runs) == 1 && runs[0].State == leaderboard.RunStateRefused && runs[0].Reason == leaderboard.RunReasonMemory
	})
	if built("unread") {
		t.Error("and has one all the same")
	}
}

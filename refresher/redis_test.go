package refresher

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"leaderboard"
	"leaderboard/cache/topn"
	"leaderboard/internal/testenv"
	"leaderboard/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// onRedis is three processes, each with connections of its own, and how many builds they made.
func onRedis(t *testing.T, hook func(string)) (processes []*Refresher, ref leaderboard.PeriodRef, builds *atomic.Int64) {
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
		client, err := topn.Open(address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
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
	return processes, period.Ref(&b), builds
}

// TestStampedeOnRealRedis: 500 forced rebuilds at once from three processes cost two builds at most.
func TestStampedeOnRealRedis(t *testing.T) {
	t.Parallel()
	processes, ref, builds := onRedis(t, func(string) {})
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			req := full()
			req.Ref = ref
			run, err := processes[i%3].RunOnce(t.Context(), req)
			if err != nil || (run.State != leaderboard.RunStateDone && run.State != leaderboard.RunStateShared) {
				t.Errorf("%+v, %v", run, err)
			}
		})
	}
	wg.Wait()
	if n := builds.Load(); n < 1 || n > 2 {
		t.Errorf("%d builds", n)
	}
}

// TestDemandsOnRealRedis: readers of three processes find no copy, while the one build takes a while.
func TestDemandsOnRealRedis(t *testing.T) {
	t.Parallel()
	reached, proceed := make(chan struct{}, 10), make(chan struct{})
	processes, ref, builds := onRedis(t, func(point string) {
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

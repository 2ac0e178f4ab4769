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

	"leaderboard"
	"leaderboard/cache/topn"
	"leaderboard/internal/testenv"
	"leaderboard/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// adapted is a process's real copies, as the command wires them.
type adapted struct{ *topn.Copies }

func (a adapted) Build(ctx context.Context, p leaderboard.PeriodRef) (Outcome, error) {
	o, err := a.Copies.Build(ctx, p)
	return Outcome{FromSeq: o.FromSeq, ToSeq: o.ToSeq, Rows: o.Rows, Refused: o.Refused}, err
}

func (a adapted) CatchUp(ctx context.Context, p leaderboard.PeriodRef) (Outcome, error) {
	o, err := a.Copies.CatchUp(ctx, p)
	out := Outcome{FromSeq: o.FromSeq, ToSeq: o.ToSeq, Rows: o.Rows}
	if errors.Is(err, topn.ErrNeedsBuild) {
		out.NeedsBuild, err = true, nil
	}
	return out, err
}

func (a adapted) Info(ctx context.Context, p leaderboard.PeriodRef) (Info, error) {
	i, err := a.Copies.Info(ctx, p)
	return Info{
		Exists: i.Exists, Damaged: i.Damaged, Short: i.Short, Seq: i.Seq, AsOf: i.AsOf, BuildStarted: i.BuildStarted, RedisNow: i.RedisNow,
	}, err
}

func (a adapted) Lease(ctx context.Context, p leaderboard.PeriodRef, ttl time.Duration) (Lease, error) {
	l, ok, err := a.Copies.Lease(ctx, strconv.FormatInt(p.ID, 10), ttl)
	if err != nil || !ok {
		return nil, err
	}
	return l, nil
}

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
		r := New(Config{Copies: adapted{copies}, Runs: model})
		t.Cleanup(func() { _ = r.Close(context.Background()) })
		processes = append(processes, r)
	}
	return processes, storetest.Ref(b, period), builds
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

package refresher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

func TestRunIsRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.write(5)
		var seen []leaderboard.Run
		r := newRefresher(t, s, func(c *Config) { c.Observer = observed{run: func(run leaderboard.Run) { seen = append(seen, run) }} })
		started := micros()
		first, wait, err := r.Start(t.Context(), full())
		if err != nil || first.ID != 1 || first.State != leaderboard.RunStateRunning || first.Board != "b" || first.Actor != "admin" {
			t.Errorf("as it began: %+v, %v", first, err)
		}
		run, err := wait(t.Context())
		want := leaderboard.Run{
			ID: 1, BoardID: 7, Board: "b", PeriodID: 70, Window: leaderboard.WindowAllTime, Period: "all_time", Kind: leaderboard.RunKindFull,
			Reason: leaderboard.RunReasonAdmin, Actor: "admin", State: leaderboard.RunStateDone, ToSeq: 5, Rows: 3, StartedAt: started, Took: 10 * time.Millisecond,
		}
		if err != nil || run != want || s.runs[0] != want || len(seen) != 1 || seen[0] != want {
			t.Errorf("%v\n got %+v\nwant %+v\nhistory %+v\nmetrics %+v", err, run, want, s.runs, seen)
		}
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		prepare func(*site)
		shown   string
	}{
		"MySQL away":  {func(s *site) { s.failing = fmt.Errorf("dial tcp 10.0.0.1: %w", leaderboard.ErrUnavailable) }, "MySQL does not answer"},
		"period gone": {func(s *site) { s.failing = leaderboard.ErrPeriodNotFound }, "no longer exists"},
		"Redis away":  {func(s *site) { s.err = timeout{} }, "does not answer"},
		"too long":    {func(s *site) { s.took = time.Hour }, "too long"},
		"panic":       {func(s *site) { s.panics = true }, "see the log"},
		"other":       {func(s *site) { s.failing = errors.New("secret at 10.0.0.1") }, "see the log"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite()
				c.prepare(s)
				var log strings.Builder
				r := newRefresher(t, s, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
				run, err := r.RunOnce(t.Context(), full())
				// A board that was deleted meanwhile is no alarm for the operator.
				if wrong := strings.Contains(log.String(), "level=ERROR"); wrong == (name == "period gone") {
					t.Errorf("the log: %s", &log)
				}
				if err == nil || run.State != leaderboard.RunStateFailed || !strings.Contains(run.Error, c.shown) || strings.Contains(run.Error, "10.0.0.1") {
					t.Errorf("%+v, %v", run, err)
				}
				if len(s.runs) != 1 || s.runs[0] != run {
					t.Errorf("history: %+v", s.runs)
				}
				s.change(func() { s.failing, s.err, s.panics, s.took, s.builds = nil, nil, false, 0, nil })
				if run, err := r.RunOnce(t.Context(), full()); err != nil || run.State != leaderboard.RunStateDone {
					t.Errorf("afterwards: %+v, %v", run, err)
				}
			})
		})
	}
}

type timeout struct{}

func (timeout) Error() string   { return "i/o timeout at 10.0.0.1" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

// TestFailingBuildIsNotHammered: readers that keep asking do not make a build that fails run more often than once a
// second.
func TestFailingBuildIsNotHammered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.failing = leaderboard.ErrUnavailable
		r := newRefresher(t, s, nil)
		for range 1000 {
			r.Demand(ref())
			time.Sleep(10 * time.Millisecond)
		}
		if n := s.buildCount(); n < 8 || n > 11 {
			t.Errorf("%d builds in 10 s", n)
		}
	})
}

func TestHistoryFailsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.lost = errors.New("no table")
		r := newRefresher(t, s, nil)
		if run, err := r.RunOnce(t.Context(), full()); err != nil || run.State != leaderboard.RunStateDone || run.ID != 0 {
			t.Errorf("%+v, %v", run, err)
		}
		if _, wait, err := r.Start(t.Context(), full()); err == nil {
			t.Error("Start says nothing about a run without an id")
		} else if run, err := wait(t.Context()); err != nil || run.State != leaderboard.RunStateDone {
			t.Errorf("%+v, %v", run, err)
		}
	})
}

// TestRunGoesWithItsBoard: a board is deleted while its copy is built. This is no failure, so the log has no warning.
func TestRunGoesWithItsBoard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.failing = leaderboard.ErrPeriodNotFound
		var log bytes.Buffer
		r := newRefresher(t, s, func(c *Config) {
			c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		})
		_, wait, err := r.Start(t.Context(), full())
		if err != nil {
			t.Fatal(err)
		}
		s.change(func() { s.lost = leaderboard.ErrRunNotFound })
		if run, err := wait(t.Context()); !errors.Is(err, leaderboard.ErrPeriodNotFound) || run.State != leaderboard.RunStateFailed {
			t.Errorf("%+v, %v", run, err)
		}
		if log.Len() > 0 {
			t.Errorf("the log says %s", &log)
		}
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		r := newRefresher(t, s, func(c *Config) { c.Copies = refusing{copies{s}} })
		if run, err := r.RunOnce(t.Context(), full()); err != nil || run.State != leaderboard.RunStateRefused {
			t.Errorf("%+v, %v", run, err)
		}
	})
}

type refusing struct{ copies }

func (refusing) Build(context.Context, leaderboard.PeriodRef) (leaderboard.CopyOutcome, error) {
	return leaderboard.CopyOutcome{FromSeq: 9, ToSeq: 9, Refused: true}, nil
}

func TestIncremental(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.write(5)
		r := newRefresher(t, s, nil)
		steps := []struct {
			name    string
			prepare func()
			reason  leaderboard.RunReason
			builds  int
			seq     int64
		}{
			{"from the schedule, no copy", func() {}, leaderboard.RunReasonSchedule, 0, 0},
			{"by an admin, no copy", func() {}, leaderboard.RunReasonAdmin, 1, 5},
			{"by the log", func() { s.write(3) }, leaderboard.RunReasonSchedule, 1, 8},
			{"a pruned log", func() { s.write(3); s.change(func() { s.gone = true }) }, leaderboard.RunReasonSchedule, 2, 11},
			{"too short", func() { s.change(func() { s.copied.Short = true }) }, leaderboard.RunReasonDynamic, 3, 11},
		}
		for _, step := range steps {
			step.prepare()
			run, err := r.RunOnce(t.Context(), incremental(step.reason))
			if err != nil || run.State != leaderboard.RunStateDone || s.buildCount() != step.builds || s.copied.Seq != step.seq {
				t.Errorf("%s: %+v, %v; %d builds, copy at %d", step.name, run, err, s.buildCount(), s.copied.Seq)
			}
		}
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.took = time.Hour
		r := New(Config{Copies: copies{s}, Runs: s})
		_, wait, err := r.Start(t.Context(), full())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if run, err := wait(t.Context()); !errors.Is(err, context.Canceled) || run.State != leaderboard.RunStateFailed || s.runs[0] != run {
			t.Errorf("%+v, %v; history %+v", run, err, s.runs)
		}
		if _, err := r.RunOnce(t.Context(), full()); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if s.lease != nil {
			t.Error("the lease was not given back")
		}
	})
}

// TestCloseOfTheIdle: where nothing runs there is nothing to wait for, however little time is left.
func TestCloseOfTheIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 100 {
			r := New(Config{Copies: copies{s}, Runs: s})
			if _, err := r.RunOnce(t.Context(), full()); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestSlotsAreBounded: the memory of idle periods is bounded.
func TestSlotsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.took = 0
		r := newRefresher(t, s, nil)
		for i := range int64(5 * maxIdleSlots) {
			req := incremental(leaderboard.RunReasonSchedule)
			req.Ref.ID = i
			if _, err := r.RunOnce(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.runner.slots) > maxIdleSlots+1 {
			t.Errorf("%d slots", len(r.runner.slots))
		}
	})
}

func TestCheckRules(t *testing.T) {
	t.Parallel()
	for expression, ok := range map[string]bool{
		"": true, "0 4 * * *": true, "*/5 * * * 1-5": true, "0 0 1 JAN *": true, "0 0 29 2 *": true,
		"0 4 * *": false, "0 0 4 * * *": false, "x": false, "60 * * * *": false, "0 0 30 2 *": false, "@daily": false, "@every 1s": false,
		"TZ=0": false, "TZ=UTC 0 4 * * *": false, "CRON_TZ=Europe/Berlin 0 4 * * *": false, " ": false,
	} {
		rules := leaderboard.Rules{Refresh: leaderboard.Refresh{Full: expression}}
		bad := CheckRules(rules)
		if ok != (bad == nil) || (!ok && !reflect.DeepEqual(bad[0].Pointer, "/refresh/full")) {
			t.Errorf("%q: %v", expression, bad)
		}
	}
}

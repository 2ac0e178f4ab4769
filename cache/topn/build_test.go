package topn

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"leaderboard/cache/cachetest"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// TestStaleBuilderIsRefused: a builder that read before others wrote, and publishes after them, must not win.
func TestStaleBuilderIsRefused(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.world.Fill(3)
	b.build(t)
	slow := New(b.client, b.world, Options{HookPoint: func(point string) {
		if point == "before-publish" {
			b.apply(t, b.world.Commit(cachetest.Put("late", 99)))
		}
	}})
	out, err := slow.Build(cachetest.Within(t), b.ref)
	if err != nil || !out.Refused {
		t.Errorf("build from an old snapshot: %+v, %v, want refused", out, err)
	}
	page := cachetest.Must(b.top(t, 1))(t)
	if page.Seq != 4 || page.Entries[0].Member != "late" {
		t.Errorf("the copy went back in time: %+v", page)
	}
}

// TestPublishTwice: the client repeats a command whose answer was lost.
func TestPublishTwice(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.world.Fill(3)
	job := &builder{copies: b.copies, ref: b.ref, token: "t", top: "lb:{7}:5eed:tmp:t:top", key: "lb:{7}:5eed:tmp:t:key"}
	if err := job.read(cachetest.Within(t)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if status, err := job.publish(cachetest.Within(t)); err != nil || status != "published" {
			t.Errorf("publish: %s, %v", status, err)
		}
	}
	b.apply(t, b.world.Commit(cachetest.Put("x", 1)))
	if status, err := job.publish(cachetest.Within(t)); err != nil || status != "published" || b.info(t).Seq != 4 {
		t.Errorf("publish after an apply: %s, %v; the copy is at seq %d", status, err, b.info(t).Seq)
	}
}

// TestBuildReplacesACopyAheadOfTheDatabase: states that a restored backup does not have must not fence the database off.
func TestBuildReplacesACopyAheadOfTheDatabase(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.world.Fill(3)
	backup := b.world.Backup()
	b.world.Commit(cachetest.Put("lost", 99))
	b.build(t)
	b.world.Restore(backup)
	out := b.build(t)
	page := cachetest.Must(b.top(t, 1))(t)
	if out.Refused || page.Seq != 3 || page.Entries[0].Member != "m1" {
		t.Errorf("%+v; the top is %+v", out, page)
	}
}

// TestBuilderDiesAnywhere: a builder that dies at any named point leaves the copy unchanged or complete, and no key
// without a TTL.
func TestBuilderDiesAnywhere(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"locked", "snapshot", "chunk", "before-publish", "published"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
			b.world.Fill(5)
			b.build(t)
			b.world.Fill(10)
			mortal := New(b.client, b.world, Options{HookPoint: func(at string) {
				if at == point {
					runtime.Goexit() // not one more line of Build runs, as when the process is killed
				}
			}})
			died := make(chan struct{})
			go func() {
				defer close(died)
				_, _ = mortal.Build(context.Background(), b.ref)
			}()
			<-died
			want := int64(5)
			if point == "published" {
				want = 15
			}
			if page := cachetest.Must(b.top(t, 2))(t); page.Seq != want {
				t.Errorf("the copy is at seq %d, want %d", page.Seq, want)
			}
			leftovers := 0
			for _, key := range cachetest.Must(b.client.Keys(cachetest.Within(t), "*").Result())(t) {
				if ttl := cachetest.Must(b.client.PTTL(cachetest.Within(t), key).Result())(t); ttl <= 0 {
					t.Errorf("%s never expires", key)
				}
				if strings.Contains(key, ":tmp:") {
					leftovers++
				}
			}
			if wants := point == "chunk" || point == "before-publish"; wants != (leftovers == 2) {
				t.Errorf("%d temporary keys are left", leftovers)
			}
		})
	}
}

func TestBuildThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.world.Fill(5)
	b.build(t)
	expire := New(b.client, b.world, Options{HookPoint: func(point string) {
		if point == "before-publish" {
			keys := cachetest.Must(b.client.Keys(cachetest.Within(t), "*:tmp:*:top").Result())(t)
			if err := b.client.Del(cachetest.Within(t), keys...).Err(); err != nil {
				t.Error(err)
			}
		}
	}})
	if _, err := expire.Build(cachetest.Within(t), b.ref); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("build whose temporary keys are gone: %v", err)
	}
	ctx, cancel := context.WithCancel(cachetest.Within(t))
	cancelled := New(b.client, b.world, Options{HookPoint: func(point string) {
		if point == "chunk" {
			cancel()
		}
	}})
	if _, err := cancelled.Build(ctx, b.ref); !errors.Is(err, context.Canceled) {
		t.Errorf("build that was cancelled: %v", err)
	}
	liar := New(b.client, shortLog{b.world}, Options{})
	if _, err := liar.Build(cachetest.Within(t), b.ref); err == nil || !strings.Contains(err.Error(), "count says") {
		t.Errorf("build from a snapshot that contradicts its count: %v", err)
	}
	if keys := cachetest.Must(b.client.Keys(cachetest.Within(t), "*:tmp:*").Result())(t); len(keys) > 0 {
		t.Errorf("left behind: %v", keys)
	}
	if page := cachetest.Must(b.top(t, 5))(t); page.Seq != 5 || len(page.Entries) != 5 {
		t.Errorf("the copy was harmed: %+v", page)
	}
}

// shortLog claims more entries than it delivers.
type shortLog struct{ *cachetest.World }

func (l shortLog) Snapshot(ctx context.Context, p leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error {
	more := func(s leaderboard.State) error {
		s.Total++
		return begin(s)
	}
	return l.World.Snapshot(ctx, p, limit, more, rows)
}

func TestCopyBuilt(t *testing.T) {
	t.Parallel()
	var got []leaderboard.CopyOutcome
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{
		Observer: observed{built: func(_ leaderboard.PeriodRef, o leaderboard.CopyOutcome, took time.Duration, err error) {
			if took <= 0 || err != nil {
				t.Errorf("took %s: %v", took, err)
			}
			got = append(got, o)
		}},
	})
	b.world.Fill(3)
	b.build(t)
	b.world.Fill(2)
	b.build(t)
	if len(got) != 2 || got[0] != (leaderboard.CopyOutcome{ToSeq: 3, Rows: 3}) || got[1] != (leaderboard.CopyOutcome{FromSeq: 3, ToSeq: 5, Rows: 3}) {
		t.Errorf("builds: %+v", got)
	}
}

package cache

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard"
	"leaderboard/rank"
)

// rig is one period with a copy.
type rig struct {
	client redis.UniversalClient
	world  *world
	copies *Copies
	ref    leaderboard.PeriodRef
}

func newRig(t testing.TB, rules leaderboard.Rules, opts CopyOptions) *rig {
	t.Helper()
	client, w := newClient(t), newWorld(7, rules)
	return &rig{client, w, NewCopies(client, w, opts), w.ref}
}

// members commits n members with the scores n to 1.
func (b *rig) members(n int) {
	var sets []set
	for i := range n {
		sets = append(sets, set{member: fmt.Sprint("m", i+1), score: score(int64(n - i))})
	}
	b.world.commit(sets...)
}

func (b *rig) build(t testing.TB) Outcome {
	t.Helper()
	return must(b.copies.Build(within(t), b.ref))(t)
}

func (b *rig) info(t testing.TB) Info {
	t.Helper()
	return must(b.copies.Info(within(t), b.ref))(t)
}

// top is the first page that the copy answers.
func (b *rig) top(t testing.TB, limit int) (*leaderboard.Page, error) {
	t.Helper()
	return b.copies.Page(within(t), b.ref, leaderboard.PageQuery{Limit: limit})
}

func (b *rig) apply(t testing.TB, commits ...leaderboard.Commit) Effect {
	t.Helper()
	return must(b.copies.Apply(within(t), b.ref, commits))(t)
}

func TestEmptyPeriodHasACopy(t *testing.T) {
	t.Parallel()
	b := newRig(t, rulesWith(func(*leaderboard.Rules) {}), CopyOptions{})
	if _, err := b.top(t, 10); !errors.Is(err, ErrMissing) {
		t.Fatalf("before the build: %v, want ErrMissing", err)
	}
	b.build(t)
	page := must(b.top(t, 10))(t)
	if len(page.Entries) != 0 || page.Total != 0 || page.Source != leaderboard.SourceRedis {
		t.Errorf("page of an empty period: %+v", page)
	}
	if _, err := b.copies.Page(within(t), b.ref, leaderboard.PageQuery{Around: "x", Limit: 3}); !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Errorf("around nobody: %v, want ErrNotRanked", err)
	}
	got := must(b.copies.ScoreRank(within(t), b.ref, leaderboard.ScoreQuery{Score: 5}))(t)
	if got.Strict != 1 || got.Tied != 1 {
		t.Errorf("rank of a score in an empty period: %+v", got)
	}
}

func TestCopyCoversItsTop(t *testing.T) {
	t.Parallel()
	b := newRig(t, rulesWith(func(r *leaderboard.Rules) { r.TopN = 5 }), CopyOptions{Slack: 2})
	b.members(20)
	b.build(t)
	for limit, covered := range map[int]bool{0: true, 5: true, 7: true, 8: false, 20: false} {
		page, err := b.top(t, limit)
		if covered && (err != nil || len(page.Entries) != limit) || !covered && !errors.Is(err, ErrUncovered) {
			t.Errorf("top %d of a copy of 7: %v", limit, err)
		}
	}
	q := leaderboard.MembersQuery{Members: []string{"m1", "m8"}}
	if _, err := b.copies.Members(within(t), b.ref, q); !errors.Is(err, ErrUncovered) {
		t.Errorf("a member below the copy: %v, want ErrUncovered", err)
	}
	// m7 has the score 14 and is the last: what ties with it may go on below.
	for s, covered := range map[int64]bool{20: true, 15: true, 14: false, 13: false} {
		if _, err := b.copies.ScoreRank(within(t), b.ref, leaderboard.ScoreQuery{Score: s}); errors.Is(err, ErrUncovered) == covered {
			t.Errorf("rank of score %d: %v", s, err)
		}
	}
	if _, err := b.copies.Page(within(t), b.ref, leaderboard.PageQuery{Query: leaderboard.Query{MinSeq: 21}, Limit: 1}); !errors.Is(err, ErrBehind) {
		t.Errorf("min_seq beyond the copy: %v, want ErrBehind", err)
	}
}

// Far beyond 2^53, where a double no longer tells neighbours apart.
func TestSeqIsExact(t *testing.T) {
	t.Parallel()
	b := newRig(t, rulesWith(func(*leaderboard.Rules) {}), CopyOptions{})
	b.world.cur.period.LastSeq = 1 << 60
	b.world.remember()
	b.build(t)
	for i := range 3 {
		c := b.world.commit(set{member: "m", score: score(int64(i))})
		if effect := b.apply(t, c); effect != EffectApplied {
			t.Fatalf("commit %d: %s", c.LastSeq, effect)
		}
		if effect := b.apply(t, c); effect != EffectCurrent {
			t.Fatalf("commit %d again: %s", c.LastSeq, effect)
		}
		if got := b.info(t); got.Seq != c.LastSeq || got.AsOf != c.CommittedAt {
			t.Fatalf("copy is at %d, want %d", got.Seq, c.LastSeq)
		}
	}
}

func TestForeignHistoryIsDropped(t *testing.T) {
	t.Parallel()
	b := newRig(t, rulesWith(func(*leaderboard.Rules) {}), CopyOptions{})
	backup := b.world.backup()
	b.world.commit(set{member: "a", score: score(1)})
	c2 := b.world.commit(set{member: "a", score: score(2)})
	fork := func(commits ...set) (last leaderboard.Commit) { // the same seq again, differently
		b.world.restore(backup)
		for _, s := range commits {
			last = b.world.commit(s)
		}
		return last
	}
	other1, other2 := set{member: "b", score: score(8)}, set{member: "b", score: score(9)}
	t.Run("commit that leads to the copy's seq", func(t *testing.T) {
		b.build(t)
		if effect := b.apply(t, fork(other1, other2)); effect != EffectForked {
			t.Errorf("effect is %s", effect)
		}
	})
	t.Run("commit that starts from the copy's seq", func(t *testing.T) {
		b.build(t) // at seq 2 of the fork
		c3 := c2
		c3.FirstSeq, c3.LastSeq, c3.PrevCommittedAt = 3, 3, c2.CommittedAt
		if effect := b.apply(t, c3); effect != EffectForked {
			t.Errorf("effect is %s", effect)
		}
	})
	t.Run("catch-up of a copy ahead of the truth", func(t *testing.T) {
		b.build(t)
		fork(other1)
		if _, err := b.copies.CatchUp(within(t), b.ref); !errors.Is(err, ErrNeedsBuild) {
			t.Errorf("catch-up: %v", err)
		}
	})
	t.Run("catch-up of a copy at the same seq", func(t *testing.T) {
		b.build(t)
		fork(other2)
		if _, err := b.copies.CatchUp(within(t), b.ref); !errors.Is(err, ErrNeedsBuild) {
			t.Errorf("catch-up: %v", err)
		}
	})
	if info := b.info(t); info.Exists {
		t.Errorf("the copy is still there: %+v", info)
	}
}

func TestOtherFormats(t *testing.T) {
	t.Parallel()
	b := newRig(t, rulesWith(func(*leaderboard.Rules) {}), CopyOptions{})
	b.members(3)
	asc := b.ref
	asc.Rules = new(rulesWith(func(r *leaderboard.Rules) { r.Order = leaderboard.OrderAsc }))
	b.build(t)
	if _, err := b.copies.Page(within(t), asc, leaderboard.PageQuery{Limit: 1}); !errors.Is(err, ErrMissing) {
		t.Errorf("keys of a descending board read as ascending: %v", err)
	}
	if effect := must(b.copies.Apply(within(t), asc, []leaderboard.Commit{b.world.commit(set{member: "x", score: score(9)})}))(t); effect != EffectMissing {
		t.Errorf("keys of an ascending board written into a descending copy: %s", effect)
	}
	meta := b.copies.keys(b.ref)[2]
	for format, refused := range map[string]bool{"0dd": false, "2dd": true} {
		if err := b.client.HSet(within(t), meta, "format", format).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := b.top(t, 1); !errors.Is(err, ErrMissing) {
			t.Errorf("format %s is read: %v", format, err)
		}
		if out, err := b.copies.Build(within(t), b.ref); out.Refused != refused {
			t.Errorf("build over format %s: %+v, %v", format, out, err)
		}
	}
}

func TestForeignValueIsDamage(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"top", "key", "meta"} {
		b := newRig(t, rulesWith(func(*leaderboard.Rules) {}), CopyOptions{})
		b.members(3)
		b.build(t)
		if err := b.client.Set(within(t), b.copies.keys(b.ref)[i], "x", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := b.top(t, 1); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s is a string: %v, want ErrDamaged", name, err)
		}
		b.build(t)
		if _, err := b.top(t, 1); err != nil {
			t.Errorf("%s was a string, after a build: %v", name, err)
		}
	}
}

func TestGreaterTopNNeedsABuild(t *testing.T) {
	t.Parallel()
	b := newRig(t, rulesWith(func(r *leaderboard.Rules) { r.TopN = 2 }), CopyOptions{Slack: 1})
	b.members(20)
	b.build(t)
	b.ref.Rules = new(rulesWith(func(r *leaderboard.Rules) { r.TopN = 10 }))
	if info := b.info(t); !info.Short {
		t.Errorf("copy of 3 for a top of 10: %+v", info)
	}
	if _, err := b.copies.CatchUp(within(t), b.ref); !errors.Is(err, ErrNeedsBuild) {
		t.Errorf("catch-up: %v, want ErrNeedsBuild", err)
	}
	b.build(t)
	if info := b.info(t); info.Short || info.N != 11 {
		t.Errorf("after the build: %+v", info)
	}
}

// Counting distinct scores reads every position above: beyond a bound that is left to MySQL.
func TestDenseIsBounded(t *testing.T) {
	t.Parallel()
	b := newRig(t, rulesWith(func(r *leaderboard.Rules) { r.TopN = leaderboard.MaxTopN }), CopyOptions{Slack: 1})
	b.members(10_050)
	b.build(t)
	q := leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeDense}, Limit: 3, Offset: 10_000}
	page := must(b.copies.Page(within(t), b.ref, q))(t)
	if page.Entries[0].Rank != 10_001 {
		t.Errorf("dense rank is %d, want 10001", page.Entries[0].Rank)
	}
	q.Offset++
	if _, err := b.copies.Page(within(t), b.ref, q); !errors.Is(err, ErrUncovered) {
		t.Errorf("beyond the bound: %v, want ErrUncovered", err)
	}
	m := leaderboard.MembersQuery{Query: q.Query, Members: []string{"m10040"}}
	if _, err := b.copies.Members(within(t), b.ref, m); !errors.Is(err, ErrUncovered) {
		t.Errorf("member beyond the bound: %v, want ErrUncovered", err)
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	b := newRig(t, rulesWith(func(r *leaderboard.Rules) { r.CacheTTL = "1h" }), CopyOptions{})
	before := b.info(t)
	b.members(3)
	b.build(t)
	got := b.info(t)
	if before.Exists || before.RedisNow == 0 {
		t.Errorf("without a copy: %+v", before)
	}
	if got.BuildStarted < before.RedisNow || got.BuiltAt < got.BuildStarted || got.RedisNow < got.BuiltAt {
		t.Errorf("moments out of order: %+v after %d", got, before.RedisNow)
	}
	if got.TTL > time.Hour || got.TTL < 59*time.Minute {
		t.Errorf("TTL is %s, want an hour", got.TTL)
	}
	got.BuildStarted, got.BuiltAt, got.RedisNow, got.TTL = 0, 0, 0, 0
	want := Info{Exists: true, Seq: 3, AsOf: b.world.name().asOf, Total: 3, N: 3, Complete: true}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("info is %+v, want %+v", got, want)
	}
	if err := b.copies.Drop(within(t), b.ref); err != nil {
		t.Fatal(err)
	}
	if n := must(b.client.DBSize(within(t)).Result())(t); n != 0 || b.info(t).Exists {
		t.Errorf("%d keys are left after a drop", n)
	}
}

// The keys of a period share one slot of a cluster, whatever the prefix.
func TestKeys(t *testing.T) {
	t.Parallel()
	c := NewCopies(nil, nil, CopyOptions{Prefix: "x:"})
	want := []string{"x:{12}:top", "x:{12}:key", "x:{12}:meta"}
	if got := c.keys(leaderboard.PeriodRef{ID: 12}); !reflect.DeepEqual(got, want) {
		t.Errorf("keys are %v, want %v", got, want)
	}
	if got := len(rank.Codec{}.Key(leaderboard.Entry{Member: "m"})); got != rank.HeadLen+1 {
		t.Errorf("a key has %d bytes ahead of the member; apply.lua counts on %d", got-1, rank.HeadLen)
	}
}

package topn

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/cachetest"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// rig is one period with a copy.
type rig struct {
	client redis.UniversalClient
	world  *cachetest.World
	copies *Copies
	ref    leaderboard.PeriodRef
}

func newRig(t testing.TB, rules leaderboard.Rules, opts Options) *rig {
	t.Helper()
	client, w := newClient(t), cachetest.NewWorld(7, rules)
	return &rig{client, w, New(client, w, opts), w.Ref}
}

func (b *rig) build(t testing.TB) leaderboard.CopyOutcome {
	t.Helper()
	return cachetest.Must(b.copies.Build(cachetest.Within(t), b.ref))(t)
}

func (b *rig) info(t testing.TB) leaderboard.CopyInfo {
	t.Helper()
	return cachetest.Must(b.copies.Info(cachetest.Within(t), b.ref))(t)
}

// top returns the first page that the copy answers.
func (b *rig) top(t testing.TB, limit int) (*leaderboard.Page, error) {
	t.Helper()
	page, _, err := b.copies.Page(cachetest.Within(t), b.ref, leaderboard.PageQuery{Limit: limit})
	return page, err
}

// member returns the answer of the copy about one member.
func (b *rig) member(ctx context.Context, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	ranks, _, err := b.copies.MemberRanks(ctx, b.ref, q.Mode, q.Members)
	if err != nil {
		return nil, err
	}
	return ranks.Standings(0, q)
}

func (b *rig) apply(t testing.TB, commits ...leaderboard.Commit) Effect {
	t.Helper()
	return cachetest.Must(b.copies.Apply(cachetest.Within(t), b.ref, commits))(t)
}

func TestEmptyPeriodHasACopy(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	if _, err := b.top(t, 10); !errors.Is(err, ErrMissing) {
		t.Fatalf("before the build: %v, want ErrMissing", err)
	}
	b.build(t)
	page := cachetest.Must(b.top(t, 10))(t)
	if len(page.Entries) != 0 || page.Total != 0 || page.Source != leaderboard.SourceRedis {
		t.Errorf("page of an empty period: %+v", page)
	}
	if _, _, err := b.copies.Page(cachetest.Within(t), b.ref, leaderboard.PageQuery{Around: "x", Limit: 3}); !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Errorf("around nobody: %v, want ErrNotRanked", err)
	}
}

func TestCopyCoversItsTop(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 5 }), Options{Slack: 2})
	b.world.Fill(20)
	b.build(t)
	for limit, covered := range map[int]bool{0: true, 5: true, 7: true, 8: false, 20: false} {
		page, err := b.top(t, limit)
		if covered && (err != nil || len(page.Entries) != limit) || !covered && !errors.Is(err, ErrUncovered) {
			t.Errorf("top %d of a copy of 7: %v", limit, err)
		}
	}
	for member, want := range map[string]error{"m1": nil, "m7": nil, "m8": ErrUncovered, "nobody": ErrUncovered} {
		if _, err := b.member(cachetest.Within(t), leaderboard.MembersQuery{Members: []string{member}}); !errors.Is(err, want) {
			t.Errorf("%s in a copy of 7: %v, want %v", member, err, want)
		}
	}
	if _, _, err := b.copies.Page(cachetest.Within(t), b.ref, leaderboard.PageQuery{Query: leaderboard.Query{MinSeq: 21}, Limit: 1}); !errors.Is(err, ErrBehind) {
		t.Errorf("min_seq beyond the copy: %v, want ErrBehind", err)
	}
}

// TestSeqIsExact: far beyond 2^53, where neighbours are the same double.
func TestSeqIsExact(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.world.LeapTo(1 << 60)
	b.build(t)
	for i := range 3 {
		c := b.world.Commit(cachetest.Put("m", int64(i)))
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

func TestForeignIncarnationIsDropped(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	backup := b.world.Backup()
	b.world.Commit(cachetest.Put("a", 1))
	c2 := b.world.Commit(cachetest.Put("a", 2))
	fork := func(edits ...cachetest.Edit) (last leaderboard.Commit) { // the same seq again, differently
		b.world.Restore(backup)
		for _, e := range edits {
			last = b.world.Commit(e)
		}
		return last
	}
	other1, other2 := cachetest.Put("b", 8), cachetest.Put("b", 9)
	t.Run("commit that leads to the copy's seq", func(t *testing.T) {
		b.build(t)
		if effect := b.apply(t, fork(other1, other2)); effect != EffectDiverged {
			t.Errorf("effect is %s", effect)
		}
	})
	t.Run("commit that starts from the copy's seq", func(t *testing.T) {
		b.build(t) // at seq 2 of the fork
		c3 := c2
		c3.FirstSeq, c3.LastSeq, c3.PrevCommittedAt = 3, 3, c2.CommittedAt
		if effect := b.apply(t, c3); effect != EffectDiverged {
			t.Errorf("effect is %s", effect)
		}
	})
	t.Run("catch-up of a copy ahead of MySQL", func(t *testing.T) {
		b.build(t)
		fork(other1)
		if _, err := b.copies.CatchUp(cachetest.Within(t), b.ref); !errors.Is(err, leaderboard.ErrNeedsBuild) {
			t.Errorf("catch-up: %v", err)
		}
	})
	t.Run("catch-up of a copy at the same seq", func(t *testing.T) {
		b.build(t)
		fork(other2)
		if _, err := b.copies.CatchUp(cachetest.Within(t), b.ref); !errors.Is(err, leaderboard.ErrNeedsBuild) {
			t.Errorf("catch-up: %v", err)
		}
	})
	if info := b.info(t); info.Exists {
		t.Errorf("the copy is still there: %+v", info)
	}
}

// TestOtherIncarnation: when the id of a period belongs to another period since a restore, the new period does not find the
// old copy, and writers to the old period change neither copy.
func TestOtherIncarnation(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.world.Fill(3)
	b.build(t)
	lost := b.ref
	b.ref = b.world.Replace()
	if info := b.info(t); info.Exists {
		t.Fatalf("the new period has a copy: %+v", info)
	}
	if _, err := b.top(t, 1); !errors.Is(err, ErrMissing) {
		t.Errorf("the copy of the new period answers: %v", err)
	}
	for range 5 { // beyond the seq of the lost one
		b.world.Commit(cachetest.Put("x", 1))
	}
	if _, err := b.copies.CatchUp(cachetest.Within(t), lost); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		t.Errorf("the lost period catches up: %v", err)
	}
	if _, err := b.copies.Build(cachetest.Within(t), lost); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		t.Errorf("the lost period is built: %v", err)
	}
	b.build(t)
	if page, err := b.top(t, 5); err != nil || len(page.Entries) != 1 || page.Revision != b.world.Name() {
		t.Errorf("the new period: %+v, %v", page, err)
	}
	if info := cachetest.Must(b.copies.Info(cachetest.Within(t), lost))(t); info.Seq != 3 {
		t.Errorf("the copy of the lost period, which ends by its TTL: %+v", info)
	}
}

func TestOtherFormats(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.world.Fill(3)
	asc := b.ref
	asc.Rules = new(cachetest.Rules(func(r *leaderboard.Rules) { r.Order = leaderboard.OrderAsc }))
	b.build(t)
	if _, _, err := b.copies.Page(cachetest.Within(t), asc, leaderboard.PageQuery{Limit: 1}); !errors.Is(err, ErrMissing) {
		t.Errorf("keys of a descending board read as ascending: %v", err)
	}
	if effect := cachetest.Must(b.copies.Apply(cachetest.Within(t), asc, []leaderboard.Commit{b.world.Commit(cachetest.Put("x", 9))}))(t); effect != EffectMissing {
		t.Errorf("keys of an ascending board written into a descending copy: %s", effect)
	}
	meta := b.copies.keys(b.ref)[2]
	for format, refused := range map[string]bool{"0dd": false, "2dd": true} {
		if err := b.client.HSet(cachetest.Within(t), meta, "format", format).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := b.top(t, 1); !errors.Is(err, ErrMissing) {
			t.Errorf("format %s is read: %v", format, err)
		}
		if out, err := b.copies.Build(cachetest.Within(t), b.ref); out.Refused != refused {
			t.Errorf("build over format %s: %+v, %v", format, out, err)
		}
	}
}

func TestForeignValueIsDamage(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"top", "key", "meta"} {
		b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
		b.world.Fill(3)
		b.build(t)
		if err := b.client.Set(cachetest.Within(t), b.copies.keys(b.ref)[i], "x", 0).Err(); err != nil {
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
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 2 }), Options{Slack: 1})
	b.world.Fill(20)
	b.build(t)
	b.ref.Rules = new(cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 10 }))
	if info := b.info(t); !info.Short {
		t.Errorf("copy of 3 for a top of 10: %+v", info)
	}
	if _, err := b.copies.CatchUp(cachetest.Within(t), b.ref); !errors.Is(err, leaderboard.ErrNeedsBuild) {
		t.Errorf("catch-up: %v, want ErrNeedsBuild", err)
	}
	b.build(t)
	if info := b.info(t); info.Short || info.N != 11 {
		t.Errorf("after the build: %+v", info)
	}
}

// TestDenseIsBounded: counting distinct scores reads every position above: beyond a bound that is left to MySQL.
func TestDenseIsBounded(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = leaderboard.MaxTopN }), Options{Slack: 1})
	b.world.Fill(10_050)
	b.build(t)
	q := leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeDense}, Limit: 3, Offset: 10_000}
	page, _, err := b.copies.Page(cachetest.Within(t), b.ref, q)
	if err != nil {
		t.Fatal(err)
	}
	if page.Entries[0].Dense != 10_001 {
		t.Errorf("dense rank is %d, want 10001", page.Entries[0].Dense)
	}
	q.Offset++
	if _, _, err := b.copies.Page(cachetest.Within(t), b.ref, q); !errors.Is(err, ErrUncovered) {
		t.Errorf("beyond the bound: %v, want ErrUncovered", err)
	}
	m := leaderboard.MembersQuery{Query: q.Query, Members: []string{"m10040"}}
	if _, err := b.member(cachetest.Within(t), m); !errors.Is(err, ErrUncovered) {
		t.Errorf("member beyond the bound: %v, want ErrUncovered", err)
	}
	q.Mode, m.Mode = leaderboard.ModeAll, leaderboard.ModeAll
	if page, _, err := b.copies.Page(cachetest.Within(t), b.ref, q); err != nil || page.Entries[0].Ranks != (leaderboard.Ranks{Strict: 10_002, Tied: 10_002}) {
		t.Errorf("all ranks beyond the bound: %+v, %v", page, err)
	}
	if s, err := b.member(cachetest.Within(t), m); err != nil || s.Entries[0].Ranks != (leaderboard.Ranks{Strict: 10_040, Tied: 10_040}) {
		t.Errorf("all ranks of a member beyond the bound: %+v, %v", s, err)
	}
}

// TestDenseLookupsTooDeep: a dense rank that the copy does not count down to keeps no other member's from being
// answered.
func TestDenseLookupsTooDeep(t *testing.T) {
	t.Parallel()
	const members = 10_010 // DENSE_LIMIT of head.lua and some
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = members }), Options{})
	b.world.Fill(members)
	b.build(t)
	m, _, err := b.copies.MemberRanks(cachetest.Within(t), b.ref, leaderboard.ModeDense, []string{"m10", "m10005", "m10001", "nobody"})
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, r := range m.ranks {
		got = append(got, r.Dense)
	}
	if fmt.Sprint(got) != "[10 0 10001 0]" {
		t.Errorf("dense ranks %v", got)
	}
	if _, err := m.Standings(1, leaderboard.MembersQuery{Members: []string{"m10005"}}); !errors.Is(err, ErrUncovered) {
		t.Errorf("too deep: %v, want ErrUncovered", err)
	}
	if s, err := m.Standings(3, leaderboard.MembersQuery{Members: []string{"nobody"}}); err != nil || len(s.NotRanked) != 1 {
		t.Errorf("nobody: %+v, %v", s, err)
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.CacheTTL = "1h" }), Options{})
	before := b.info(t)
	b.world.Fill(3)
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
	want := leaderboard.CopyInfo{Exists: true, Revision: b.world.Name(), Total: 3, N: 3, Complete: true}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("info is %+v, want %+v", got, want)
	}
	if err := b.copies.Drop(cachetest.Within(t), b.ref); err != nil {
		t.Fatal(err)
	}
	if n := cachetest.Must(b.client.DBSize(cachetest.Within(t)).Result())(t); n != 0 || b.info(t).Exists {
		t.Errorf("%d keys are left after a drop", n)
	}
}

// TestKeys: the keys of a period share one slot of a cluster, with any prefix.
func TestKeys(t *testing.T) {
	t.Parallel()
	c := New(nil, nil, Options{Prefix: "x:"})
	want := []string{"x:{12}:ff:top", "x:{12}:ff:key", "x:{12}:ff:meta"}
	if got := c.keys(leaderboard.PeriodRef{ID: 12, Incarnation: 255}); !reflect.DeepEqual(got, want) {
		t.Errorf("keys are %v, want %v", got, want)
	}
	if got := len(rank.Codec{}.Key(leaderboard.Entry{Member: "m"})); got != rank.HeadLen+1 {
		t.Errorf("a key has %d bytes ahead of the member; apply.lua counts on %d", got-1, rank.HeadLen)
	}
}

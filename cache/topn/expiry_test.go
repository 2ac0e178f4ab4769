package topn

import (
	"testing"
	"time"

	"leaderboard/cache/cachetest"
	"leaderboard/leaderboard"
)

// ends returns the moments at which the keys of the copy expire, in ms; -1 never, -2 no such key.
func (b *rig) ends(t testing.TB) [3]int64 {
	t.Helper()
	var out [3]int64
	for i, key := range b.copies.keys(b.ref) {
		n, err := b.client.Do(cachetest.Within(t), "PEXPIRETIME", key).Int64()
		if err != nil {
			t.Fatal(err)
		}
		out[i] = n
	}
	return out
}

// TestKeysExpireTogether: after any additions and removals the three keys expire together: none may stay for good.
func TestKeysExpireTogether(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.CacheTTL = "1h" }), Options{})
	b.build(t) // of an empty period: only meta exists
	end := b.ends(t)[2]
	if end <= time.Now().UnixMilli() {
		t.Fatalf("meta expires at %d", end)
	}
	for i, c := range []leaderboard.Commit{
		b.world.Commit(cachetest.Put("a", 1)),
		b.world.Commit(cachetest.Put("a", 2)),                                                    // the only member moves
		b.world.Commit(cachetest.Remove("a")),                                                    // the last one
		b.world.Commit(cachetest.Put("a", 3), cachetest.Put("b", 4)),                             // the keys come back
		b.world.Commit(cachetest.Remove("a"), cachetest.Remove("b"), cachetest.Put("c", 5)),      // emptied and filled in one
		b.world.Commit(cachetest.Remove("c"), cachetest.Put("d", 5), cachetest.Remove("absent")), // and again
	} {
		if effect := b.apply(t, c); effect != EffectApplied {
			t.Fatalf("commit %d: %s", i, effect)
		}
		want := [3]int64{end, end, end}
		if b.info(t).N == 0 {
			want = [3]int64{-2, -2, end}
		}
		if got := b.ends(t); got != want {
			t.Fatalf("after commit %d the keys expire at %d, want %d", i, got, want)
		}
	}
}

// TestOnlyReadingKeepsACopy: only readers keep a copy alive, and seldom.
func TestOnlyReadingKeepsACopy(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.CacheTTL = "1h" }), Options{})
	b.world.Fill(3)
	b.build(t)
	age := func(left time.Duration) int64 {
		end := time.Now().Add(left).UnixMilli()
		for _, key := range b.copies.keys(b.ref) {
			if err := b.client.PExpireAt(cachetest.Within(t), key, time.UnixMilli(end)).Err(); err != nil {
				t.Fatal(err)
			}
		}
		return end
	}
	late := age(40 * time.Minute)
	if _, err := b.top(t, 1); err != nil || b.ends(t) != [3]int64{late, late, late} {
		t.Errorf("a read with most of the life left: %v, ends %d, want %d", err, b.ends(t), late)
	}
	soon := age(20 * time.Minute)
	b.apply(t, b.world.Commit(cachetest.Put("x", 1)))
	b.world.Commit(cachetest.Put("y", 1))
	if _, err := b.copies.CatchUp(cachetest.Within(t), b.ref); err != nil || b.ends(t) != [3]int64{soon, soon, soon} {
		t.Errorf("writes and refreshes: %v, ends %d, want %d", err, b.ends(t), soon)
	}
	if _, err := b.top(t, 1); err != nil {
		t.Fatal(err)
	}
	got := b.ends(t)
	if got[0] != got[1] || got[1] != got[2] || got[0] < time.Now().Add(59*time.Minute).UnixMilli() {
		t.Errorf("a read with less than half of the life left: ends %d", got)
	}
}

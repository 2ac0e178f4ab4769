package cache

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"leaderboard"
	"leaderboard/rank"
)

func (b *rig) verify(t *testing.T) leaderboard.Verification {
	t.Helper()
	return must(b.copies.Verify(within(t), b.ref))(t)
}

func TestVerifyEqual(t *testing.T) {
	t.Parallel()
	b := newRig(t, rulesWith(func(r *leaderboard.Rules) { r.TopN = 4 }), CopyOptions{Slack: 1})
	b.members(10)
	if v := b.verify(t); v != (leaderboard.Verification{Equal: true, Seq: 10, Detail: "there is no copy"}) {
		t.Errorf("without a copy: %+v", v)
	}
	b.build(t)
	if v := b.verify(t); v != (leaderboard.Verification{Equal: true, Seq: 10, Checked: 5}) {
		t.Errorf("after a build: %+v", v)
	}
	// A copy that is behind is compared at the truth's seq: one entry gone, one new, one moved below the floor.
	b.world.commit(set{member: "m1"}, set{member: "x", score: score(9)}, set{member: "m2", score: score(1)})
	if v := b.verify(t); v != (leaderboard.Verification{Equal: true, Seq: 13, Checked: 4}) {
		t.Errorf("behind by one commit: %+v", v)
	}
	if keys := must(b.client.Keys(within(t), "*:tmp:*").Result())(t); len(keys) > 0 {
		t.Errorf("left behind: %v", keys)
	}
}

func TestVerifyDifferences(t *testing.T) {
	t.Parallel()
	b := newRig(t, rulesWith(func(*leaderboard.Rules) {}), CopyOptions{})
	b.members(5)
	codec := rank.CodecOf(b.ref.Rules)
	oracle, _ := b.world.at(b.world.name())
	third := oracle.sorted[2]
	forged := third
	forged.Score = 1000
	keys := b.copies.keys(b.ref)
	swap := func(from, to leaderboard.Entry) {
		t.Helper()
		_, err := b.client.TxPipelined(within(t), func(pipe redis.Pipeliner) error {
			pipe.ZRem(within(t), keys[0], string(codec.Key(from)))
			pipe.ZAdd(within(t), keys[0], redis.Z{Member: string(codec.Key(to))})
			pipe.HSet(within(t), keys[1], to.Member, string(codec.Key(to)))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	b.build(t)
	swap(third, forged)
	v := b.verify(t)
	if v.Equal || v.Difference == nil || v.Difference.Rank != 1 || *v.Difference.Copy != forged || *v.Difference.Truth != oracle.sorted[0] {
		t.Errorf("a forged first place: %+v", v)
	}
	b.build(t)
	worse := third
	worse.Score = -5
	swap(third, worse)
	if v := b.verify(t); v.Equal || v.Checked != 2 || v.Difference.Rank != 3 {
		t.Errorf("a forged last place: %+v", v)
	}
	b.build(t)
	if err := b.client.HSet(within(t), keys[1], third.Member, "x").Err(); err != nil {
		t.Fatal(err)
	}
	if v := b.verify(t); v.Equal || !strings.Contains(v.Detail, "m3") {
		t.Errorf("zset and hash disagree: %+v", v)
	}
	if err := b.client.ZPopMin(within(t), keys[0]).Err(); err != nil {
		t.Fatal(err)
	}
	if v := b.verify(t); v.Equal || v.Detail == "" || v.Seq != 5 {
		t.Errorf("a damaged copy: %+v", v)
	}
}

// An entry that the copy misses at its end, and one that it has too many.
func TestVerifyLengths(t *testing.T) {
	t.Parallel()
	for _, extra := range []bool{false, true} {
		b := newRig(t, rulesWith(func(*leaderboard.Rules) {}), CopyOptions{})
		b.members(5)
		b.build(t)
		c := b.world.commit(set{member: "z", score: score(-1)})
		if extra {
			// The copy is told that a member is there that is not, and a count that fits.
			c.Changes = append(c.Changes, leaderboard.Change{Member: "zz", New: &leaderboard.Entry{Member: "zz", Score: -2}})
			c.EntryCount++
		} else {
			c.Changes, c.EntryCount = nil, c.EntryCount-1
		}
		b.apply(t, c)
		v := b.verify(t)
		if v.Equal || v.Difference == nil || (v.Difference.Truth == nil) != extra || (v.Difference.Copy == nil) == extra {
			t.Errorf("extra %t: %+v", extra, v)
		}
	}
}

func TestVerifyForeignHistory(t *testing.T) {
	t.Parallel()
	b := newRig(t, rulesWith(func(*leaderboard.Rules) {}), CopyOptions{})
	backup := b.world.backup()
	b.members(3)
	b.build(t)
	b.world.restore(backup)
	for seq := range 5 { // behind the copy, at its seq, ahead of it
		if v := b.verify(t); v.Equal || !strings.Contains(v.Detail, "history") {
			t.Errorf("truth at seq %d: %+v", seq, v)
		}
		b.world.commit(set{member: "other", score: score(int64(seq))})
	}
	b.world.prune(100)
	if v, err := b.copies.Verify(within(t), b.ref); err == nil {
		t.Errorf("with a log that does not reach back: %+v", v)
	}
}

// The count of the whole period and the time of the state are part of every answer.
func TestVerifyTotalAndTime(t *testing.T) {
	t.Parallel()
	b := newRig(t, rulesWith(func(r *leaderboard.Rules) { r.TopN = 2 }), CopyOptions{Slack: 1})
	b.members(10)
	commits := []func(){
		func() {},
		func() {
			b.world.commit(set{member: "m1"}, set{member: "x", score: score(0)}, set{member: "y", score: score(0)})
		},
	}
	for behind, commit := range commits {
		for field, value := range map[string]string{"total": "9", "as_of": "1"} {
			b.build(t)
			state := b.world.name()
			b.damage(t, field, &value)
			if commit(); b.world.name() == state && behind > 0 {
				t.Fatal("nothing was committed")
			}
			if v := b.verify(t); v.Equal || v.Detail == "" {
				t.Errorf("%s is wrong in a copy %d commits behind: %+v", field, behind, v)
			}
			b.world.commit(set{member: "m1", score: score(10)})
		}
	}
}

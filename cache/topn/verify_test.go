package topn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/cachetest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

func (b *rig) verify(t *testing.T) leaderboard.Verification {
	t.Helper()
	return cachetest.Must(b.copies.Verify(cachetest.Within(t), b.ref))(t)
}

func TestVerifyEqual(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 4 }), Options{Slack: 1})
	b.world.Fill(10)
	if v := b.verify(t); v != (leaderboard.Verification{Equal: true, Seq: 10, Total: 10, Detail: "there is no copy"}) {
		t.Errorf("without a copy: %+v", v)
	}
	b.build(t)
	if v := b.verify(t); v != (leaderboard.Verification{Equal: true, Seq: 10, Checked: 5, Total: 10}) {
		t.Errorf("after a build: %+v", v)
	}
	// A copy that is behind is compared at the database's seq: one entry gone, one new, one moved below the floor.
	b.world.Commit(cachetest.Remove("m1"), cachetest.Put("x", 9), cachetest.Put("m2", 1))
	if v := b.verify(t); v != (leaderboard.Verification{Equal: true, Seq: 13, Checked: 4, Total: 10}) {
		t.Errorf("behind by one commit: %+v", v)
	}
	if keys := cachetest.Must(b.client.Keys(cachetest.Within(t), "*:tmp:*").Result())(t); len(keys) > 0 {
		t.Errorf("left behind: %v", keys)
	}
}

func TestVerifyDifferences(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	b.world.Fill(5)
	codec := rank.CodecOf(b.ref.Rules)
	oracle, _ := b.world.At(b.world.Name())
	third := oracle.Sorted[2]
	forged := third
	forged.Score = 1000
	keys := b.copies.keys(b.ref)
	swap := func(from, to leaderboard.Entry) {
		t.Helper()
		_, err := b.client.TxPipelined(cachetest.Within(t), func(pipe redis.Pipeliner) error {
			pipe.ZRem(cachetest.Within(t), keys[0], string(codec.Key(from)))
			pipe.ZAdd(cachetest.Within(t), keys[0], redis.Z{Member: string(codec.Key(to))})
			pipe.HSet(cachetest.Within(t), keys[1], to.Member, string(codec.Key(to)))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	b.build(t)
	swap(third, forged)
	v := b.verify(t)
	if v.Equal || v.Difference == nil || v.Difference.Rank != 1 || *v.Difference.Copy != forged || *v.Difference.Database != oracle.Sorted[0] {
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
	if err := b.client.HSet(cachetest.Within(t), keys[1], third.Member, "x").Err(); err != nil {
		t.Fatal(err)
	}
	if v := b.verify(t); v.Equal || !strings.Contains(v.Detail, "m3") {
		t.Errorf("zset and hash disagree: %+v", v)
	}
	if err := b.client.ZPopMin(cachetest.Within(t), keys[0]).Err(); err != nil {
		t.Fatal(err)
	}
	if v := b.verify(t); v.Equal || v.Detail == "" || v.Seq != 5 {
		t.Errorf("a damaged copy: %+v", v)
	}
}

// TestVerifyLengths: an entry that the copy lacks at its end, and an entry that it has in excess.
func TestVerifyLengths(t *testing.T) {
	t.Parallel()
	for _, extra := range []bool{false, true} {
		b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
		b.world.Fill(5)
		b.build(t)
		c := b.world.Commit(cachetest.Put("z", -1))
		if extra {
			// The copy gets a member that the period does not have, and a count that fits.
			c.Changes = append(c.Changes, leaderboard.Change{Member: "zz", New: &leaderboard.Entry{Member: "zz", Score: -2}})
			c.EntryCount++
		} else {
			c.Changes, c.EntryCount = nil, c.EntryCount-1
		}
		b.apply(t, c)
		v := b.verify(t)
		if v.Equal || v.Difference == nil || (v.Difference.Database == nil) != extra || (v.Difference.Copy == nil) == extra {
			t.Errorf("extra %t: %+v", extra, v)
		}
	}
}

func TestVerifyForeignIncarnation(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(*leaderboard.Rules) {}), Options{})
	backup := b.world.Backup()
	b.world.Fill(3)
	b.build(t)
	b.world.Restore(backup)
	for seq := range 5 { // behind the copy, at its seq, ahead of it
		if v := b.verify(t); v.Equal || !strings.Contains(v.Detail, "history") {
			t.Errorf("truth at seq %d: %+v", seq, v)
		}
		b.world.Commit(cachetest.Put("other", int64(seq)))
	}
	b.world.Prune(100)
	if v, err := b.copies.Verify(cachetest.Within(t), b.ref); err == nil {
		t.Errorf("with a log that does not reach back: %+v", v)
	}
}

// TestVerifyTotalAndTime: the count of the whole period and the time of the state are part of every answer.
func TestVerifyTotalAndTime(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 2 }), Options{Slack: 1})
	b.world.Fill(10)
	commits := []func(){
		func() {},
		func() {
			b.world.Commit(cachetest.Remove("m1"), cachetest.Put("x", 0), cachetest.Put("y", 0))
		},
	}
	for behind, commit := range commits {
		for field, value := range map[string]string{"total": "9", "as_of": "1"} {
			b.build(t)
			state := b.world.Name()
			if err := cachetest.Damage(cachetest.Within(t), b.client, b.ref, field, &value); err != nil {
				t.Fatal(err)
			}
			if commit(); b.world.Name() == state && behind > 0 {
				t.Fatal("nothing was committed")
			}
			if v := b.verify(t); v.Equal || v.Detail == "" {
				t.Errorf("%s is wrong in a copy %d commits behind: %+v", field, behind, v)
			}
			b.world.Commit(cachetest.Put("m1", 10))
		}
	}
}

// TestVerifyWhileItMoves: the copy is read in parts, between which entries come, go, pass each other and are trimmed,
// also entries that were read already. Equal copies are found equal, an entry that was forged before or between the
// parts is found, and a copy that another build has replaced is read again.
func TestVerifyWhileItMoves(t *testing.T) {
	t.Parallel()
	const members = 3*verifyPart + 500
	var between func(part int)
	parts := 0
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = members - 1000 }), Options{Slack: 100, HookPoint: func(name string) {
		if parts++; name == "part" && between != nil {
			between(parts)
		}
	}})
	b.world.Fill(members)
	b.build(t)
	verify := func(name string, equal bool, meanwhile func(part int)) {
		t.Helper()
		parts, between = 0, meanwhile
		if v := b.verify(t); v.Equal != equal {
			t.Errorf("%s: %+v", name, v)
		}
		if between = nil; parts < 2 {
			t.Errorf("%s: read in %d parts", name, parts)
		}
	}
	verify("moves", true, func(part int) {
		var edits []cachetest.Edit
		for i := range 150 { // they pass the place that was read, both ways; new members make the copy trim
			edits = append(edits, cachetest.Put(fmt.Sprint("m", i*20+part), int64(i*17)), cachetest.Put(fmt.Sprint("new", part, i), members+1),
				cachetest.Remove(fmt.Sprint("m", i*20+7)))
		}
		b.apply(t, b.world.Commit(edits...))
	})
	verify("another build", true, func(part int) {
		if part == 1 {
			b.world.Commit(cachetest.Put("late", 5))
			b.build(t)
		}
	})
	verify("what was read leaves", true, func(part int) {
		for i := 0; part == 2 && i < 3; i++ { // the floor moves into the part that was read last
			var edits []cachetest.Edit
			for j := range 500 {
				edits = append(edits, cachetest.Put(fmt.Sprint("ahead", i, "/", j), members+2))
			}
			b.apply(t, b.world.Commit(edits...))
		}
	})
	codec := rank.CodecOf(b.ref.Rules)
	oracle, _ := b.world.At(b.world.Name())
	forged := oracle.Sorted[2*verifyPart+5]
	keys := b.copies.keys(b.ref)
	b.client.ZRem(cachetest.Within(t), keys[0], string(codec.Key(forged)))
	forged.Score++
	b.client.ZAdd(cachetest.Within(t), keys[0], redis.Z{Member: string(codec.Key(forged))})
	b.client.HSet(cachetest.Within(t), keys[1], forged.Member, string(codec.Key(forged)))
	verify("forged", false, func(int) { b.apply(t, b.world.Commit(cachetest.Put("m1", 5))) })
}

// TestNothingTakesLong: no command concerns a whole copy, which would block Redis for all others. Verifying copies
// nothing, and the excess over a smaller top_n goes step by step.
func TestNothingTakesLong(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	client, w := openClient(t, server.URL), cachetest.NewWorld(7, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 3500 }))
	b := &rig{client, w, New(client, w, Options{Slack: 10}), w.Ref}
	b.world.Fill(5000)
	b.build(t)
	if v := b.verify(t); !v.Equal || v.Checked < 3500 {
		t.Errorf("%+v", v)
	}
	rules := *b.ref.Rules
	rules.TopN = 100
	b.ref.Rules = &rules
	before := b.info(t).N
	for i := 0; before > 120; i++ {
		b.apply(t, b.world.Commit(cachetest.Put("m1", int64(10_000+i))))
		now := b.info(t).N
		if now >= before || before-now > 1001 {
			t.Fatalf("from %d entries to %d at once", before, now)
		}
		before = now
	}
	if v := b.verify(t); !v.Equal || v.Checked != 110 {
		t.Errorf("after it was trimmed: %+v", v)
	}
	stats := cachetest.Must(client.Info(cachetest.Within(t), "commandstats").Result())(t)
	for _, slow := range []string{"copy", "del", "keys", "hgetall", "hkeys", "hvals", "sort", "zunionstore", "zrangestore"} {
		if strings.Contains(stats, "cmdstat_"+slow+":") {
			t.Errorf("%s was used:\n%s", slow, stats)
		}
	}
}

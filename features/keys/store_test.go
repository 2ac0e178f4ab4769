package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// stored is the keys in a whole store.
type stored struct {
	*Store
	whole *store.Store
}

func open(t *testing.T, dsn string, change func(*store.Config)) *stored {
	whole := dbtest.Open(t, dsn, change)
	whole.Housekeeping.Add(sweepSessions(whole.Database(), whole.Housekeeping.Sweeper()))
	return &stored{NewStore(whole.Database()), whole}
}

// makeKey makes an API key that may write, and returns it with its text.
func makeKey(t *testing.T, s *stored, change func(*leaderboard.Key)) (leaderboard.Key, string) {
	t.Helper()
	k := leaderboard.Key{ID: leaderboard.NewKeyID(), Name: "game1 backend", Scope: leaderboard.ScopeWrite}
	if change != nil {
		change(&k)
	}
	text, hash := leaderboard.NewKeySecret(k.ID)
	made, err := s.CreateKey(t.Context(), k, hash)
	if err != nil {
		t.Fatal(err)
	}
	return made, text
}

func hashOf(text string) *leaderboard.KeyHash { return new(leaderboard.HashKey(text)) }

// hashedKey returns the servers' view of a key.
func hashedKey(t *testing.T, s *stored, id string) leaderboard.HashedKey {
	t.Helper()
	keys, err := s.HashedKeys(t.Context(), "", 500)
	at := slices.IndexFunc(keys, func(k leaderboard.HashedKey) bool { return k.ID == id })
	if err != nil || at < 0 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	return keys[at]
}

// versionOf returns the version of the table of keys as the feed sees it.
func versionOf(t *testing.T, s *stored) leaderboard.Revision {
	t.Helper()
	r, err := s.whole.Entries.Revisions(t.Context(), []int64{leaderboard.KeysPeriod})
	if err != nil || len(r) != 2 || r[leaderboard.ClockPeriod].AsOf == 0 {
		t.Fatalf("%v, %v", r, err)
	}
	return r[leaderboard.KeysPeriod]
}

// TestNewKeysAreNotReadAgain: a change of a key has this process read the keys, and a new key or session does not.
func TestNewKeysAreNotReadAgain(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, renewed := open(t, dsn, nil), 0
		s.renew = func(context.Context) error { renewed++; return nil }
		k, _ := makeKey(t, s, nil)
		makeKey(t, s, func(k *leaderboard.Key) {
			k.Person, k.Role, k.ExpiresAt = "ada", "ops", leaderboard.MicrosOf(time.Now().Add(time.Hour))
		})
		if renewed != 0 {
			t.Errorf("the keys were read %d times for new ones", renewed)
		}
		if _, err := s.RevokeKey(t.Context(), k.ID); err != nil || renewed != 1 {
			t.Errorf("%v; the keys were read %d times after a change", err, renewed)
		}
	})
}

// TestKeys makes, changes, rotates and revokes an API key: each step shows in the version of the table, and only the hash
// is stored.
func TestKeys(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, ctx := open(t, dsn, nil), t.Context()
		if r := versionOf(t, s); r != (leaderboard.Revision{}) {
			t.Fatalf("without a key the version is %+v", r)
		}
		expiry := leaderboard.MicrosOf(time.Now().Add(time.Hour))
		made, text := makeKey(t, s, func(k *leaderboard.Key) {
			k.Boards, k.ExpiresAt, k.Quota = []string{"game1-*", "lobby"}, expiry, leaderboard.Quota{RequestsPerSecond: 5, RowsPerSecond: 50}
		})
		known := hashedKey(t, s, made.ID)
		if !known.Hash.Is(hashOf(text)) || !known.Previous.Is(new(leaderboard.KeyHash)) || !known.Covers("game1-a") || known.Covers("b") ||
			made.ExpiresAt != expiry || made.Quota.RowsPerSecond != 50 || made.CreatedTime == 0 || made.LastUsed != 0 || made.RevokedAt != 0 {
			t.Errorf("made %+v", known)
		}
		seq := versionOf(t, s).Seq
		moved := func(what string, err error) {
			t.Helper()
			if now := versionOf(t, s).Seq; err != nil || now != seq+1 {
				t.Fatalf("%s: version %d after %d, %v", what, now, seq, err)
			}
			seq++
		}

		name, all := "renamed", []string{}
		changed, err := s.ChangeKey(ctx, made.ID, leaderboard.KeyChange{Name: &name, Boards: &all})
		if moved("change", err); changed.Name != name || changed.Limited() || changed.ExpiresAt != expiry || changed.Scope != leaderboard.ScopeWrite {
			t.Errorf("changed to %+v", changed)
		}
		bad := leaderboard.Scope("root")
		if _, err := s.ChangeKey(ctx, made.ID, leaderboard.KeyChange{Scope: &bad}); leaderboard.AsRule(err) == nil {
			t.Errorf("scope root: %v", err)
		}
		second, hash2 := leaderboard.NewKeySecret(made.ID)
		rotated, err := s.RotateKey(ctx, made.ID, hash2, time.Hour)
		moved("rotate", err)
		known = hashedKey(t, s, made.ID)
		if left := time.Until(rotated.PreviousUntil.Time()); !known.Hash.Is(hashOf(second)) || !known.Previous.Is(hashOf(text)) || left < 59*time.Minute || left > 61*time.Minute {
			t.Errorf("rotated: %+v", known)
		}
		_, hash3 := leaderboard.NewKeySecret(made.ID)
		if _, err := s.RotateKey(ctx, made.ID, hash3, time.Minute); !errors.Is(err, leaderboard.ErrKeyOverlap) {
			t.Errorf("rotated within an overlap: %v", err)
		}
		_, err = s.RotateKey(ctx, made.ID, hash3, 0)
		moved("rotate without an overlap", err)
		if known = hashedKey(t, s, made.ID); !known.Hash.Is(&hash3) || !known.Previous.Is(new(leaderboard.KeyHash)) || known.PreviousUntil != 0 {
			t.Errorf("rotated without an overlap: %+v", known)
		}

		minute := leaderboard.MicrosOf(time.Date(2026, 11, 22, 14, 5, 0, 0, time.UTC))
		for _, at := range []leaderboard.Micros{minute, minute - 60_000_000} {
			if err := s.KeysUsed(ctx, at, []string{made.ID, "none"}); err != nil {
				t.Fatal(err)
			}
		}
		if k, err := s.Key(ctx, made.ID); err != nil || k.LastUsed != minute || versionOf(t, s).Seq != seq {
			t.Errorf("used: %+v, %v", k, err)
		}

		for range 2 {
			if k, err := s.RevokeKey(ctx, made.ID); err != nil || k.RevokedAt == 0 {
				t.Errorf("revoked: %+v, %v", k, err)
			}
		}
		_, err1 := s.ChangeKey(ctx, made.ID, leaderboard.KeyChange{Name: &name})
		_, err2 := s.RotateKey(ctx, made.ID, hash2, 0)
		if !errors.Is(err1, leaderboard.ErrKeyRevoked) || !errors.Is(err2, leaderboard.ErrKeyRevoked) {
			t.Errorf("of a revoked key: %v, %v", err1, err2)
		}
		_, err1 = s.Key(ctx, "knone")
		_, err2 = s.RevokeKey(ctx, "knone")
		if !errors.Is(err1, leaderboard.ErrKeyNotFound) || !errors.Is(err2, leaderboard.ErrKeyNotFound) {
			t.Errorf("of no key: %v, %v", err1, err2)
		}
		other, _ := makeKey(t, s, nil)
		first, last := min(made.ID, other.ID), max(made.ID, other.ID)
		if list, err := s.Keys(ctx, "", 10); err != nil || len(list) != 2 || list[0].ID != first || list[1].ID != last {
			t.Errorf("listed %+v, %v", list, err)
		}
		if list, err := s.Keys(ctx, first, 1); err != nil || len(list) != 1 || list[0].ID != last {
			t.Errorf("after the first: %+v, %v", list, err)
		}
	})
}

// TestKeyIsOver: no key is made with, or given, an end that is over by the database's clock, whatever the machine's clock
// shows. An expired key may be renamed, and given more time.
func TestKeyIsOver(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		const hour = 3600 * 1_000_000
		soon := leaderboard.MicrosOf(time.Now().Add(48 * time.Hour).Truncate(time.Second))
		var clock atomic.Int64
		clock.Store(int64(soon))
		s, ctx := open(t, dsn, func(c *store.Config) {
			c.Clock = dbtest.ClockAt(func() leaderboard.Micros { return leaderboard.Micros(clock.Load()) })
		}), t.Context()
		refused := func(what string, err error) {
			t.Helper()
			if rule := leaderboard.AsRule(err); rule == nil || rule.Fields[0].Pointer != "/expires_at" {
				t.Errorf("%s: %v", what, err)
			}
		}
		for _, at := range []leaderboard.Micros{soon - hour, soon} {
			k := leaderboard.Key{ID: leaderboard.NewKeyID(), Name: "late", Scope: leaderboard.ScopeRead, ExpiresAt: at}
			_, err := s.CreateKey(ctx, k, leaderboard.HashKey("late"))
			refused("made over", err)
			if _, err := s.Key(ctx, k.ID); !errors.Is(err, leaderboard.ErrKeyNotFound) {
				t.Errorf("a key that is over was made: %v", err)
			}
		}
		made, _ := makeKey(t, s, func(k *leaderboard.Key) { k.ExpiresAt = soon + hour })
		change := func(at *leaderboard.Micros) (leaderboard.Key, error) {
			name := "renamed"
			return s.ChangeKey(ctx, made.ID, leaderboard.KeyChange{Name: &name, ExpiresAt: at})
		}
		over, later := soon, soon+3*hour
		_, err := change(&over)
		refused("ended earlier", err)
		clock.Store(int64(soon + 2*hour)) // now it is over
		for what, at := range map[string]*leaderboard.Micros{"its name alone": nil, "its own end": &made.ExpiresAt} {
			if k, err := change(at); err != nil || k.ExpiresAt != made.ExpiresAt {
				t.Errorf("%s: %+v, %v", what, k, err)
			}
		}
		_, err = change(&over)
		refused("another end that is over", err)
		if k, err := change(&later); err != nil || k.ExpiresAt != later {
			t.Errorf("more time: %+v, %v", k, err)
		}
	})
}

// TestSessions: the key of somebody who signed in has the person and the role, is changed by nobody, and goes with its row of
// sessions a day after its end; other keys stay.
func TestSessions(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		ctx, db := t.Context(), dbtest.Connect(t, dsn)
		in := leaderboard.Key{ID: "kin", Name: "ada", Person: "ada", Role: "ops", Scope: leaderboard.ScopeAdmin, ExpiresAt: leaderboard.MicrosOf(time.Now().Add(time.Hour))}
		made, err := s.CreateKey(ctx, in, leaderboard.HashKey("in"))
		if err != nil || made.Person != "ada" || made.Role != "ops" || made.Actor() != "person:ada" {
			t.Fatalf("%+v, %v", made, err)
		}
		name := "eve"
		if _, err := s.ChangeKey(ctx, in.ID, leaderboard.KeyChange{Name: &name}); leaderboard.AsRule(err) == nil {
			t.Errorf("changed: %v", err)
		}
		if _, err := s.RotateKey(ctx, in.ID, leaderboard.HashKey("other"), 0); leaderboard.AsRule(err) == nil {
			t.Errorf("rotated: %v", err)
		}
		for id, ago := range map[string]int{"kyoung": 23, "kold": 25} {
			k := in
			k.ID = id
			if _, err := s.CreateKey(ctx, k, leaderboard.HashKey(id)); err != nil {
				t.Fatal(err)
			}
			for table, key := range map[string]string{"api_keys": "id", "sessions": "key_id"} {
				dbtest.MustExec(t, db, fmt.Sprintf("UPDATE %s SET expires_at = NOW(6) - INTERVAL %d HOUR WHERE %s = '%s'", table, ago, key, id))
			}
		}
		if _, err := s.CreateKey(ctx, leaderboard.Key{ID: "kplain", Name: "n", Scope: leaderboard.ScopeRead}, leaderboard.HashKey("plain")); err != nil {
			t.Fatal(err)
		}
		dbtest.MustExec(t, db, "UPDATE api_keys SET expires_at = NOW(6) - INTERVAL 25 HOUR WHERE id = 'kplain'")
		if err := s.whole.Housekeeping.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		left, err := s.Keys(ctx, "", 10)
		if err != nil || len(left) != 3 || left[0].ID != "kin" || left[1].ID != "kplain" || left[2].ID != "kyoung" || dbtest.Count(t, db, "sessions") != 2 {
			t.Errorf("%+v, %v; %d sessions", left, err, dbtest.Count(t, db, "sessions"))
		}
	})
}

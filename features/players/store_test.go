package players

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// stored is the issuers, signing keys and bars in a whole store.
type stored struct {
	*Store
	whole *store.Store
}

func open(t *testing.T, dsn string, change func(*store.Config)) *stored {
	whole := dbtest.Open(t, dsn, change)
	whole.Housekeeping.Add(sweepBars(whole.Housekeeping.Sweeper()))
	return &stored{NewStore(whole.Database()), whole}
}

// versionOf returns the version of issuers, signing keys and bars as the feed sees it.
func versionOf(t *testing.T, s *stored) int64 {
	t.Helper()
	r, err := s.whole.Entries.Revisions(t.Context(), []int64{leaderboard.TokensPeriod})
	if err != nil {
		t.Fatal(err)
	}
	return r[leaderboard.TokensPeriod].Seq
}

// TestIssuers: issuers are made, replaced and deleted, each time with a version that the feed shows and a record; the same rules
// twice, and an issuer that would meet another one, change nothing.
func TestIssuers(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, ctx := open(t, dsn, nil), t.Context()
		rules := IssuerRules{Issuer: "https://a.example", Audience: "game", JWKS: []byte(`{"keys": [ ] }`), Prefix: "a:"}.WithDefaults()
		made, created, err := s.PutIssuer(ctx, "a", rules)
		if err != nil || !created || made.Prefix != "a:" || string(made.JWKS) != `{"keys":[]}` || made.CreatedTime == 0 {
			t.Fatalf("%+v, %t, %v", made, created, err)
		}
		version := versionOf(t, s)
		if again, created, err := s.PutIssuer(ctx, "a", rules); err != nil || created || again.UpdatedTime != made.UpdatedTime || versionOf(t, s) != version {
			t.Errorf("the same again: %+v, %t, %v", again, created, err)
		}
		for _, other := range []IssuerRules{
			{Issuer: "https://a.example", Prefix: "b:"}, {Issuer: "https://b.example", Prefix: "a:b"}, {Issuer: "https://b.example"},
		} {
			if _, _, err := s.PutIssuer(ctx, "b", other); leaderboard.AsRule(err) == nil || versionOf(t, s) != version {
				t.Errorf("%+v: %v", other, err)
			}
		}
		if _, created, err := s.PutIssuer(ctx, "b", IssuerRules{Issuer: "https://b.example", Prefix: "b:"}); err != nil || !created {
			t.Error(err)
		}
		rules.Audience = "game2"
		if changed, created, err := s.PutIssuer(ctx, "a", rules); err != nil || created || changed.Audience != "game2" || versionOf(t, s) != version+2 {
			t.Errorf("changed: %+v, %t, %v", changed, created, err)
		}
		if list, err := s.Issuers(ctx, "a", 10); err != nil || len(list) != 1 || list[0].Name != "b" {
			t.Errorf("%+v, %v", list, err)
		}
		if err := s.DeleteIssuer(ctx, "a"); err != nil || versionOf(t, s) != version+3 {
			t.Error(err)
		}
		if err := s.DeleteIssuer(ctx, "a"); !errors.Is(err, leaderboard.ErrIssuerNotFound) {
			t.Error(err)
		}
		if _, err := s.Issuer(ctx, "a"); !errors.Is(err, leaderboard.ErrIssuerNotFound) {
			t.Error(err)
		}
		var actions []string
		for _, r := range dbtest.Audited(t, dbtest.Connect(t, dsn)) {
			actions = append(actions, string(r.Action))
		}
		if got := strings.Join(actions, " "); got != "issuer.delete issuer.update issuer.create issuer.create" {
			t.Error(got)
		}
	})
}

// TestSigningKeys: one key signs, however many servers need a key at once; it is replaced when it is a month old, and
// rotated on request. Keys whose tokens are refused are deleted, and their secret is in no record.
func TestSigningKeys(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		ahead := dbtest.ClockBy(&offset)
		s, other := open(t, dsn, ahead), open(t, dsn, ahead)
		failed := make(chan error, 8)
		for i := range cap(failed) {
			go func() { failed <- []*stored{s, other}[i%2].RenewSigning(t.Context()) }()
		}
		for range cap(failed) {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		keys := func(want int, signs string) []SigningKey {
			t.Helper()
			all, err := s.SigningKeys(t.Context())
			if err != nil || len(all) != want {
				t.Fatalf("%+v, %v, want %d", all, err, want)
			}
			if last := all[want-1]; last.EndsAt != 0 || len(last.Seed) != 32 || signs != "" && last.ID != signs {
				t.Errorf("%s signs until %s, want %s", last.ID, last.EndsAt, signs)
			}
			return all
		}
		first := keys(1, "")[0].ID
		offset.Store(int64(signingKeyAge - time.Minute))
		if err := s.RenewSigning(t.Context()); err != nil {
			t.Fatal(err)
		}
		keys(1, first)
		offset.Store(int64(signingKeyAge + time.Minute))
		if err := s.RenewSigning(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := keys(2, "")[1].ID
		offset.Add(int64(api.SigningOverlap))
		keys(1, second)
		if err := s.RotateSigning(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if all := keys(2, ""); all[0].ID != second || all[0].EndsAt == 0 {
			t.Errorf("%+v", all)
		}
		if err := s.RotateSigning(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		last := keys(1, "")[0]
		db := dbtest.Connect(t, dsn)
		if n := dbtest.Count(t, db, "signing_keys"); n != 1 {
			t.Errorf("%d rows", n)
		}
		for range 15 {
			if err := s.RotateSigning(t.Context(), time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.RotateSigning(t.Context(), time.Hour); !errors.Is(err, leaderboard.ErrKeyOverlap) {
			t.Errorf("with 16 valid keys: %v", err)
		}
		if n := dbtest.Count(t, db, fmt.Sprintf("audit WHERE action = 'signing.rotate' AND INSTR(after_json, HEX(x'%x')) = 0", last.Seed)); n != 19 {
			t.Errorf("%d records", n)
		}
	})
}

// TestBars: a bar is dated by the database clock, only moves on, and is swept when no token can be older.
func TestBars(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		ctx, db := t.Context(), dbtest.Connect(t, dsn)
		if _, err := s.Bar(ctx, "m"); !errors.Is(err, leaderboard.ErrBarNotFound) {
			t.Error(err)
		}
		first, err := s.BarMember(ctx, "m", 0)
		if err != nil || first.NotBefore == 0 {
			t.Fatalf("%+v, %v", first, err)
		}
		if again, err := s.BarMember(ctx, "m", 0); err != nil || again.NotBefore <= first.NotBefore {
			t.Errorf("%+v after %+v, %v", again, first, err)
		}
		if old, err := s.BarMember(ctx, "m", first.NotBefore-1); err != nil || old.NotBefore <= first.NotBefore {
			t.Errorf("an earlier one: %+v, %v", old, err)
		}
		if _, err := s.BarMember(ctx, "m", first.NotBefore+3600_000_000); leaderboard.AsRule(err) == nil {
			t.Errorf("one to come: %v", err)
		}
		if _, err := s.BarMember(ctx, "", 0); leaderboard.AsRule(err) == nil {
			t.Error(err)
		}
		if _, err := s.BarMember(ctx, "n", 0); err != nil {
			t.Fatal(err)
		}
		if bars, err := s.Bars(ctx, "m", 10); err != nil || len(bars) != 1 || bars[0].Member != "n" {
			t.Errorf("%+v, %v", bars, err)
		}
		if err := s.UnbarMember(ctx, "n"); err != nil {
			t.Error(err)
		}
		if err := s.UnbarMember(ctx, "n"); !errors.Is(err, leaderboard.ErrBarNotFound) {
			t.Error(err)
		}
		dbtest.MustExec(t, db, "INSERT INTO member_bars (member, not_before) VALUES ('old', NOW(6) - INTERVAL 193 HOUR), ('young', NOW(6) - INTERVAL 191 HOUR)")
		if err := s.whole.Housekeeping.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Count(t, db, "member_bars WHERE member IN ('m', 'young')"); n != 2 || dbtest.Count(t, db, "member_bars") != 2 {
			t.Errorf("%d bars are left, want those of m and young", n)
		}
	})
}

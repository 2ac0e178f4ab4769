package topn

import (
	"errors"
	"fmt"
	"testing"

	"leaderboard/cache/cachetest"
	"leaderboard/leaderboard"
)

// TestDamagedMetaIsMended: a copy with any damaged field does not answer, and a build repairs it.
func TestDamagedMetaIsMended(t *testing.T) {
	t.Parallel()
	rules := cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 2 }) // incomplete: its floor counts
	b := newRig(t, rules, Options{Slack: 1})
	b.world.Fill(10)
	for _, field := range cachetest.MetaFields() {
		for _, value := range cachetest.Rubbish() {
			what := field + " is absent"
			if value != nil {
				what = fmt.Sprintf("%s is %q", field, *value)
			}
			b.build(t)
			if err := cachetest.Damage(cachetest.Within(t), b.client, b.ref, field, value); err != nil {
				t.Fatal(err)
			}
			b.checkDamaged(t, what)
			b.build(t)
			if v := b.verify(t); !v.Equal || v.Checked != 3 {
				t.Errorf("%s, after a build: %+v", what, v)
			}
			if _, err := b.top(t, 1); err != nil {
				t.Errorf("%s, after a build: %v", what, err)
			}
		}
	}
}

// checkDamaged looks at a damaged copy in every way; none changes it.
func (b *rig) checkDamaged(t *testing.T, what string) {
	t.Helper()
	if _, err := b.top(t, 1); !errors.Is(err, ErrDamaged) {
		t.Errorf("%s: the copy answers %v, want ErrDamaged", what, err)
	}
	if info, err := b.copies.Info(cachetest.Within(t), b.ref); err != nil || !info.Damaged || info.Exists || info.RedisNow == 0 {
		t.Errorf("%s: info %+v, %v", what, info, err)
	}
	if v, err := b.copies.Verify(cachetest.Within(t), b.ref); err != nil || v.Equal || v.Detail == "" {
		t.Errorf("%s: verify %+v, %v", what, v, err)
	}
	if _, err := b.copies.CatchUp(cachetest.Within(t), b.ref); !errors.Is(err, leaderboard.ErrNeedsBuild) || !errors.Is(err, ErrDamaged) {
		t.Errorf("%s: catch-up %v, want ErrNeedsBuild", what, err)
	}
}

// TestUnreadableReplyIsDamage: a reply that cannot be read is damage too, even if the script did not find it.
func TestUnreadableReplyIsDamage(t *testing.T) {
	t.Parallel()
	good := []any{"ok", "1", "2", "3", int64(3), "", int64(-1)}
	if _, err := parseHead(good, leaderboard.PeriodRef{}); err != nil {
		t.Fatal(err)
	}
	for at := range good {
		for _, value := range []any{"rubbish", nil, []any{}} {
			if at == 5 && value == "rubbish" {
				continue // any string is a floor
			}
			raw := append([]any{}, good...)
			raw[at] = value
			if _, err := parseHead(raw, leaderboard.PeriodRef{}); !errors.Is(err, ErrDamaged) {
				t.Errorf("value %d is %v: %v, want ErrDamaged", at, value, err)
			}
		}
		if _, err := parseHead(good[:at], leaderboard.PeriodRef{}); !errors.Is(err, ErrDamaged) {
			t.Errorf("it ends after %d values: %v, want ErrDamaged", at, err)
		}
	}
}

package cache

import (
	"errors"
	"fmt"
	"testing"

	"leaderboard"
)

// damage sets a field of the copy's meta to rubbish, or removes it.
func (b *rig) damage(t *testing.T, field string, value *string) {
	t.Helper()
	meta := b.copies.keys(b.ref)[2]
	err := b.client.HDel(within(t), meta, field).Err()
	if value != nil {
		err = b.client.HSet(within(t), meta, field, *value).Err()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever becomes of a field of a copy, nobody believes it, readers are answered, and a build mends it.
func TestDamagedMetaIsMended(t *testing.T) {
	t.Parallel()
	rules := rulesWith(func(r *leaderboard.Rules) { r.TopN = 2 }) // incomplete: its floor counts
	b := newRig(t, rules, CopyOptions{Slack: 1})
	b.members(10)
	reader := NewReader(b.copies, &truth{world: b.world}, ReaderOptions{LocalTTL: 1, StaleLimit: 1})
	for _, field := range []string{"format", "seq", "as_of", "total", "n", "floor", "built_at", "build_started"} {
		for _, value := range []*string{new("abc"), new(""), new("-1"), new("1e3"), new("007"), new("99999999999999999999"), nil} {
			what := field + " is absent"
			if value != nil {
				what = fmt.Sprintf("%s is %q", field, *value)
			}
			b.build(t)
			b.damage(t, field, value)
			b.checkDamaged(t, what, reader)
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
func (b *rig) checkDamaged(t *testing.T, what string, reader *Reader) {
	t.Helper()
	if _, err := b.top(t, 1); !errors.Is(err, ErrDamaged) {
		t.Errorf("%s: the copy answers %v, want ErrDamaged", what, err)
	}
	if page, err := reader.Page(within(t), b.ref, leaderboard.PageQuery{Limit: 2}); err != nil || len(page.Entries) != 2 {
		t.Errorf("%s: a reader gets %v, %v", what, page, err)
	}
	if info, err := b.copies.Info(within(t), b.ref); err != nil || !info.Damaged || info.Exists || info.RedisNow == 0 {
		t.Errorf("%s: info %+v, %v", what, info, err)
	}
	if v, err := b.copies.Verify(within(t), b.ref); err != nil || v.Equal || v.Detail == "" {
		t.Errorf("%s: verify %+v, %v", what, v, err)
	}
	if _, err := b.copies.CatchUp(within(t), b.ref); !errors.Is(err, ErrNeedsBuild) || !errors.Is(err, ErrDamaged) {
		t.Errorf("%s: catch-up %v, want ErrNeedsBuild", what, err)
	}
}

// A reply that cannot be read is damage too, whatever the script let through.
func TestUnreadableReplyIsDamage(t *testing.T) {
	t.Parallel()
	good := []any{"ok", "1", "2", "3", int64(3), "", int64(-1)}
	if _, err := parseHead(good); err != nil {
		t.Fatal(err)
	}
	for at := range good {
		for _, value := range []any{"rubbish", nil, []any{}} {
			if at == 5 && value == "rubbish" {
				continue // any string is a floor
			}
			raw := append([]any{}, good...)
			raw[at] = value
			if _, err := parseHead(raw); !errors.Is(err, ErrDamaged) {
				t.Errorf("value %d is %v: %v, want ErrDamaged", at, value, err)
			}
		}
		if _, err := parseHead(good[:at]); !errors.Is(err, ErrDamaged) {
			t.Errorf("it ends after %d values: %v, want ErrDamaged", at, err)
		}
	}
}

package wire

import (
	"strings"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// FuzzCursor: a cursor gives back its place, for its own list only; no other text is a cursor that could do harm.
func FuzzCursor(f *testing.F) {
	ref := &leaderboard.PeriodRef{Incarnation: 7}
	key := string(rank.Codec{}.Key(leaderboard.Entry{Member: "é", Score: -1, CreatedTime: leaderboard.MaxTime}))
	f.Add(EntriesOf(ref).Cursor(key), int64(7))
	f.Add("AAAA", int64(1))
	f.Fuzz(func(t *testing.T, s string, id int64) {
		if after, ok := AfterKey(&leaderboard.PeriodRef{Incarnation: id}, s); ok {
			e, err := rank.Codec{}.Entry(rank.Key(after))
			if err != nil || e.CreatedTime < leaderboard.MinTime || e.CreatedTime > leaderboard.MaxTime || leaderboard.CheckMember(e.Member) != nil {
				t.Fatalf("%q continues after %+v, %v", s, e, err)
			}
		}
		of := List{Name: "x", Id: id}
		made := of.Cursor(s)
		if len(made) > maxCursor {
			return
		}
		if got, ok := of.After(made); s != "" && (!ok || got != s) {
			t.Fatalf("%q comes back as %q, %v", s, got, ok)
		}
		if _, ok := (List{Name: "x", Id: id + 1}).After(made); ok {
			t.Fatalf("%q is a cursor of another list", made)
		}
	})
}

// TestAfterKey: the check on cursors agrees with the sort key of package rank.
func TestAfterKey(t *testing.T) {
	ref := &leaderboard.PeriodRef{Incarnation: 7}
	entry := leaderboard.Entry{Member: strings.Repeat("m", leaderboard.MaxMember), Score: 5, Tiebreak: -5, CreatedTime: 1}
	for _, change := range []struct {
		name string
		do   func(*leaderboard.Entry)
		ok   bool
	}{
		{"good", func(*leaderboard.Entry) {}, true},
		{"last time", func(e *leaderboard.Entry) { e.CreatedTime = leaderboard.MaxTime }, true},
		{"after the last time", func(e *leaderboard.Entry) { e.CreatedTime = leaderboard.MaxTime + 1 }, false},
		{"before 1970", func(e *leaderboard.Entry) { e.CreatedTime = -1 }, false},
		{"long member", func(e *leaderboard.Entry) { e.Member += "m" }, false},
		{"no member", func(e *leaderboard.Entry) { e.Member = "" }, false},
		{"member not UTF-8", func(e *leaderboard.Entry) { e.Member = "\xff" }, false},
	} {
		e := entry
		change.do(&e)
		key := string(rank.Codec{}.Key(e))
		got, ok := AfterKey(ref, EntriesOf(ref).Cursor(key))
		if ok != change.ok || (ok && got != key) {
			t.Errorf("%s: %q, %v", change.name, got, ok)
		}
	}
}

package topn

import (
	"bytes"
	"encoding/gob"
	"reflect"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// aListing is a board of a version, as the database may describe it.
func aListing(id, version int64) leaderboard.Listing {
	rules := leaderboard.Rules{
		Title: "T", Visibility: leaderboard.VisibilityPrivate, Windows: []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowSeason},
		Seasons: []leaderboard.SeasonRule{{Name: "s", StartsAt: 5, EndsAt: 9}}, Labels: leaderboard.Labels{"type": "game"},
	}.WithDefaults()
	return leaderboard.Listing{
		Board: leaderboard.Board{ID: id, Name: "b", Version: version, Rules: rules, CreatedTime: 3, UpdatedTime: 4}, Clock: 1_700_000_000_000_000,
		Periods: []leaderboard.Period{{ID: 1 << 60, Incarnation: -5, BoardID: id, Window: leaderboard.WindowDay, Label: "2026-11-20", EndsAt: leaderboard.Forever, State: leaderboard.PeriodStateOpen, LastSeq: 8}},
	}
}

// TestListingsOfTheLastRelease: v0.1.1 and this version read each other's periods, which gob stores by the names of fields.
func TestListingsOfTheLastRelease(t *testing.T) {
	t.Parallel()
	value, err := encodeListing(&leaderboard.Listing{Periods: []leaderboard.Period{{ID: 1, Incarnation: 2, LastSeq: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	var old struct {
		Periods []struct{ ID, History, LastSeq int64 }
	}
	if err := gob.NewDecoder(bytes.NewReader(value)).Decode(&old); err != nil || len(old.Periods) != 1 || old.Periods[0].History != 2 {
		t.Errorf("%+v, %v", old, err)
	}
}

func newListings(t *testing.T) (*Listings, Client) {
	t.Helper()
	client, err := Open(testenv.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = Close(client) })
	return NewListings(client, "lb:", time.Minute), client
}

// TestListings: a listing comes back unchanged until its limit, and not after a newer version of the board was seen.
func TestListings(t *testing.T) {
	t.Parallel()
	l, client := newListings(t)
	find := func(want *leaderboard.Listing, why string) {
		t.Helper()
		got, age, left, ok, err := l.Find(t.Context(), "b")
		switch {
		case err != nil || ok != (want != nil):
			t.Errorf("%s: %t, %v", why, ok, err)
		case ok && (!reflect.DeepEqual(&got, want) || age+left != time.Minute || age < 0 || left <= 0):
			t.Errorf("%s: %+v, age %s, left %s; want %+v", why, got, age, left, *want)
		}
	}
	write := func(listing leaderboard.Listing) {
		t.Helper()
		if err := l.write(t.Context(), &listing); err != nil {
			t.Fatal(err)
		}
	}
	find(nil, "at first")
	second := aListing(7, 2)
	write(second)
	find(&second, "written")
	write(aListing(7, 1))
	find(&second, "an earlier version")
	write(aListing(6, 9))
	find(&second, "an earlier board of that name")
	if err := l.Changed(t.Context(), &leaderboard.Board{ID: 7, Name: "b", Version: 3}); err != nil {
		t.Fatal(err)
	}
	find(nil, "changed")
	write(second)
	find(nil, "changed, and a process that has not seen it")
	third := aListing(7, 3)
	write(third)
	find(&third, "looked up again")
	if err := l.Deleted(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	write(third)
	find(nil, "deleted")
	another := aListing(8, 1)
	write(another)
	find(&another, "made again")
	if err := client.PExpire(t.Context(), "lb:board:b", time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	for client.Exists(t.Context(), "lb:board:b").Val() > 0 {
		<-time.After(time.Millisecond)
	}
	find(nil, "after its time")
	if err := client.Set(t.Context(), "lb:board:b", "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, ok, err := l.Find(t.Context(), "b"); ok || err == nil {
		t.Error("something else was found")
	}
}

// TestListingsAreWrittenSeldom: a listing that stays the same is written once in a tenth of its time.
func TestListingsAreWrittenSeldom(t *testing.T) {
	t.Parallel()
	client, err := Open(testenv.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = Close(client) }()
	l := NewListings(client, "lb:", time.Hour)
	look := func(listing leaderboard.Listing, want bool) {
		t.Helper()
		if err := client.Del(t.Context(), "lb:board:b").Err(); err != nil {
			t.Fatal(err)
		}
		l.Looked(listing)
		for range cap(l.places) { // the begun work is over when all places are free
			l.places <- struct{}{}
		}
		for range cap(l.places) {
			<-l.places
		}
		if _, _, _, ok, err := l.Find(t.Context(), "b"); err != nil || ok != want {
			t.Errorf("written: %t, %v, want %t", ok, err, want)
		}
	}
	look(aListing(7, 1), true)
	same := aListing(7, 1)
	same.Clock++
	same.Periods[0].LastSeq++
	look(same, false)
	look(aListing(7, 2), true)
	turned := aListing(7, 2)
	turned.Periods[0].ID++
	look(turned, true)
	l.mu.Lock()
	last := l.written["b"]
	last.at = last.at.Add(-6 * time.Minute)
	l.written["b"] = last
	l.mu.Unlock()
	look(turned, true)
}

package cache

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// turning is a catalog over a model whose clock is ahead of this process's, or behind it.
type turning struct {
	*Catalog
	t      *testing.T
	model  *storetest.Model
	offset time.Duration
}

func newTurning(t *testing.T, offset time.Duration) *turning {
	m := storetest.NewModel()
	w := feed.New(m, feed.Options{})
	go w.Run(t.Context())
	c := &turning{Catalog: NewCatalog(m, CatalogOptions{Feed: w}), t: t, model: m, offset: offset}
	c.tick()
	rules := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowHour, leaderboard.WindowAllTime, leaderboard.WindowDay}}
	if _, _, err := m.PutBoard(t.Context(), "b", rules); err != nil {
		t.Fatal(err)
	}
	return c
}

// tick gives the model the time.
func (c *turning) tick() { c.model.SetNow(leaderboard.MicrosOf(time.Now().Add(c.offset))) }

// sleep lets time pass for both.
func (c *turning) sleep(d time.Duration) {
	time.Sleep(d)
	c.tick()
}

// notFound is the name of a period that there is not.
const notFound = "not found"

func (c *turning) name(window, period string) string {
	c.t.Helper()
	c.clockRead.Store(nil) // the clock of the model stands still meanwhile
	ref, _, err := c.Resolve(c.t.Context(), "b", window, period)
	if errors.Is(err, leaderboard.ErrPeriodNotFound) {
		return notFound
	}
	if err != nil {
		return err.Error()
	}
	if !ref.HasRow() {
		return "empty " + ref.Name
	}
	return ref.Name
}

// TestCatalogTurn: no matter what the clock of this machine shows, no answer about a period outlives the period by
// the database's clock.
func TestCatalogTurn(t *testing.T) {
	t.Parallel()
	for _, offset := range []time.Duration{0, 7 * time.Minute, -7 * time.Minute} {
		synctest.Test(t, func(t *testing.T) { // from midnight, 1 January 2000 UTC
			c := newTurning(t, offset)
			c.sleep(time.Hour - offset - time.Millisecond)
			before := c.name("", "")
			c.sleep(time.Millisecond)
			after := c.name("", "")
			if before == after || before >= after {
				t.Errorf("offset %s: %s, a millisecond later %s", offset, before, after)
			}
			if got := c.name("", leaderboard.PreviousPeriod); got != before {
				t.Errorf("offset %s: the previous one is %s, want %s", offset, got, before)
			}
			if got := c.name("", before); got != before {
				t.Errorf("offset %s: %s gives %s", offset, before, got)
			}
		})
	}
}

// TestCatalogTurnWithoutMySQL: all_time continues from memory, a period that has ended is not passed off as the current
// one, and it can be asked for by its name while it is known.
func TestCatalogTurnWithoutMySQL(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newTurning(t, 0)
		c.sleep(time.Hour - time.Minute)
		hour := c.name("", "")
		c.model.Fail(leaderboard.ErrUnavailable)
		c.sleep(59 * time.Second)
		if got := c.name("", ""); got != hour {
			t.Errorf("before the turn: %s, want %s", got, hour)
		}
		c.sleep(time.Second)
		if _, _, err := c.Resolve(t.Context(), "b", "", ""); !errors.Is(err, leaderboard.ErrUnavailable) {
			t.Errorf("after the turn: %v", err)
		}
		for window, want := range map[string]string{"all_time": "all_time", "day": "2000-01-01"} {
			if got := c.name(window, ""); got != want {
				t.Errorf("%s: %s", window, got)
			}
		}
		c.model.Fail(nil)
		c.sleep(time.Second)
		if got := c.name("", ""); got == hour || got != "2000-01-01T01" {
			t.Errorf("MySQL is back: %s", got)
		}
	})
}

// TestCatalogClockLeaps: the writer of a period finds it at once, though the clock of the database has leapt since the board
// was read: before a period is said not to have begun, that clock is read again.
func TestCatalogClockLeaps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newTurning(t, 0) // at midnight, 1 January 2000
		rules := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowHour, leaderboard.WindowSeason}}
		begin := leaderboard.MicrosOf(time.Now())
		rules.Seasons = []leaderboard.SeasonRule{{Name: "S1", StartsAt: begin + 4*3_600_000_000, EndsAt: leaderboard.MaxTime}}
		if _, _, err := c.model.PutBoard(t.Context(), "b", rules.WithDefaults()); err != nil {
			t.Fatal(err)
		}
		for _, q := range []struct {
			leap                 time.Duration
			window, period, want string
		}{
			{0, "hour", "", "2000-01-01T00"},
			{3 * time.Hour, "hour", "2000-01-01T03", "2000-01-01T03"},
			{0, "hour", "2000-01-01T04", notFound},
			{0, "season", "S1", notFound},
			{time.Hour, "season", "S1", "S1"},
			{-2 * time.Hour, "hour", "2000-01-01T05", notFound},
			{2 * time.Hour, "hour", "2000-01-01T04", "2000-01-01T04"},
		} {
			c.offset += q.leap
			c.sleep(time.Millisecond)
			if got := c.name(q.window, q.period); got != q.want {
				t.Errorf("%s ahead, %s %s: %s, want %s", c.offset, q.window, q.period, got, q.want)
			}
		}
	})
}

// TestCatalogNames: names are looked up when there can be such a period, and kept for a second.
func TestCatalogNames(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newTurning(t, 0)
		c.name("", "")
		c.sleep(time.Hour)
		for _, q := range []struct{ window, period, want string }{
			{"hour", "2000-01-01T00", "2000-01-01T00"},
			{"hour", "2000-01-01T01", "2000-01-01T01"},
			{"hour", "2000-01-01T02", notFound},              // to come
			{"hour", "1999-12-31T23", "empty 1999-12-31T23"}, // ended when the board was made
			{"hour", "1999-12-31T22", notFound},              // before the board
			{"hour", "2000-01-01", notFound},
			{"all_time", "all_time", "all_time"},
			{"all_time", "previous", notFound},
			{"day", "previous", "empty 1999-12-31"},
			{"week", "", notFound},
			{"month", "2000-01", notFound},
			{"fortnight", "", notFound},
		} {
			if got := c.name(q.window, q.period); got != q.want {
				t.Errorf("%s %q: %s, want %s", q.window, q.period, got, q.want)
			}
		}
		c.model.Fail(leaderboard.ErrUnavailable)
		if got := c.name("hour", "2000-01-01T00"); got != "2000-01-01T00" {
			t.Errorf("a known period without MySQL: %s", got)
		}
	})
}

// TestCatalogPeriodsWithoutRow: periods that are over, later than the first that is kept, and never had an entry.
func TestCatalogPeriodsWithoutRow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newTurning(t, 0) // at midnight, 1 January 2000
		c.sleep(3 * time.Hour)
		for _, q := range []struct{ window, period, want string }{
			{"hour", "2000-01-01T00", "2000-01-01T00"},
			{"hour", "2000-01-01T01", "empty 2000-01-01T01"},
			{"hour", "previous", "empty 2000-01-01T02"},
			{"hour", "", "2000-01-01T03"},
			{"day", "previous", "empty 1999-12-31"},
		} {
			if got := c.name(q.window, q.period); got != q.want {
				t.Errorf("%s %q: %s, want %s", q.window, q.period, got, q.want)
			}
		}
		ref, _, err := c.Resolve(t.Context(), "b", "hour", "2000-01-01T01")
		want := leaderboard.MicrosOf(time.Date(2000, 1, 1, 2, 0, 0, 0, time.UTC))
		if err != nil || !ref.Closed || ref.LastSeq != 0 || ref.AsOf != want || ref.Rules == nil {
			t.Errorf("a empty hour is %+v, %v", ref, err)
		}
		c.model.Fail(leaderboard.ErrUnavailable)
		if got := c.name("hour", "2000-01-01T01"); got != "empty 2000-01-01T01" {
			t.Errorf("a known empty hour without MySQL: %s", got)
		}
	})
}

// TestCatalogSeasons: a season is the current one from its first moment to its last, then the one to be shown until
// the next begins.
func TestCatalogSeasons(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newTurning(t, 0)
		zero := leaderboard.MicrosOf(time.Now())
		const minute = 60_000_000
		rules := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowSeason}, Seasons: []leaderboard.SeasonRule{
			{Name: "s1", StartsAt: zero + minute, EndsAt: zero + 2*minute}, {Name: "s2", StartsAt: zero + 4*minute, EndsAt: zero + 5*minute},
		}}
		if _, _, err := c.model.PutBoard(t.Context(), "b", rules); err != nil {
			t.Fatal(err)
		}
		at := time.Duration(0)
		for _, q := range []struct {
			at                time.Duration
			current, previous string
		}{
			{0, notFound, notFound},
			{time.Minute - time.Millisecond, notFound, notFound},
			{time.Minute, "s1", notFound},
			{2*time.Minute - time.Millisecond, "s1", notFound},
			{2 * time.Minute, "s1", notFound},
			{4*time.Minute - time.Millisecond, "s1", notFound},
			{4 * time.Minute, "s2", "s1"},
			{6 * time.Minute, "s2", "s1"},
		} {
			c.sleep(q.at - at)
			at = q.at
			if current, previous := c.name("season", ""), c.name("", "previous"); current != q.current || previous != q.previous {
				t.Errorf("at %s: current %s, previous %s; want %s, %s", q.at, current, previous, q.current, q.previous)
			}
			c.clockRead.Store(nil)
			ref, _, err := c.Resolve(t.Context(), "b", "", "")
			if open := q.at == time.Minute || q.at == 2*time.Minute-time.Millisecond || q.at == 4*time.Minute; err == nil && ref.Closed == open {
				t.Errorf("at %s: closed %t", q.at, ref.Closed)
			}
		}
	})
}

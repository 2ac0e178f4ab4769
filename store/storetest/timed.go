package storetest

import (
	"testing"
	"time"

	"leaderboard/leaderboard"
)

// timed is a board with calendar windows of a subject whose clock can be set.
type timed struct {
	Subject
	t    *testing.T
	name string
}

// berlinNight is ten seconds before midnight in Berlin, before the day with 23 hours.
const berlinNight = "2026-03-28T22:59:50Z"

func newTimed(t *testing.T, s Subject, now string, rules leaderboard.Rules) *timed {
	t.Helper()
	b := &timed{Subject: s, t: t, name: boardName(t)}
	b.at(now)
	b.put(rules)
	return b
}

// at sets the clock.
func (b *timed) at(now string) leaderboard.Micros {
	b.t.Helper()
	at, err := time.Parse(time.RFC3339, now)
	if err != nil {
		b.t.Fatal(err)
	}
	b.SetNow(leaderboard.MicrosOf(at))
	return leaderboard.MicrosOf(at)
}

func (b *timed) put(rules leaderboard.Rules) leaderboard.Board {
	b.t.Helper()
	made, _, err := b.Database.PutBoard(b.t.Context(), b.name, rules)
	if err != nil {
		b.t.Fatal(err)
	}
	return made
}

func (b *timed) submit(entries ...leaderboard.Submission) leaderboard.Receipt {
	b.t.Helper()
	r, err := b.Database.Submit(b.t.Context(), leaderboard.SubmitRequest{Board: b.name, Entries: entries})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// current returns the current periods by window.
func (b *timed) current() map[leaderboard.Window]*leaderboard.Period {
	b.t.Helper()
	l, err := b.Database.Current(b.t.Context(), b.name)
	if err != nil {
		b.t.Fatal(err)
	}
	out := map[leaderboard.Window]*leaderboard.Period{}
	for i := range l.Periods {
		out[l.Periods[i].Window] = &l.Periods[i]
	}
	return out
}

// page returns the page of a period as text.
func (b *timed) page(p *leaderboard.Period) []string {
	b.t.Helper()
	made, err := b.Database.Board(b.t.Context(), b.name)
	if err != nil {
		b.t.Fatal(err)
	}
	got, err := b.Rankings.Page(b.t.Context(), p.Ref(&made), leaderboard.PageQuery{Limit: 10})
	if err != nil {
		b.t.Fatal(err)
	}
	return lines(got, leaderboard.ModeStrict)
}

func (b *timed) period(id int64) leaderboard.Period {
	b.t.Helper()
	p, err := b.Database.Period(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func seqs(day, all, hour int64) map[leaderboard.Window]int64 {
	return map[leaderboard.Window]int64{leaderboard.WindowDay: day, leaderboard.WindowAllTime: all, leaderboard.WindowHour: hour}
}

func berlin(windows ...leaderboard.Window) leaderboard.Rules {
	return leaderboard.Rules{TimeZone: "Europe/Berlin", Windows: windows}
}

func threeWindows() leaderboard.Rules {
	return berlin(leaderboard.WindowDay, leaderboard.WindowAllTime, leaderboard.WindowHour)
}

package storetest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"leaderboard/leaderboard"
)

// season returns a season by its days in 2026, from midnight to midnight UTC.
func season(t *testing.T, name, from, to string) leaderboard.SeasonRule {
	t.Helper()
	var at [2]leaderboard.Micros
	for i, day := range []string{from, to} {
		v, err := time.Parse(time.DateOnly, "2026-"+day)
		if err != nil {
			t.Fatal(err)
		}
		at[i] = leaderboard.MicrosOf(v)
	}
	return leaderboard.SeasonRule{Name: name, StartsAt: at[0], EndsAt: at[1]}
}

func spring(t *testing.T) []leaderboard.SeasonRule {
	return []leaderboard.SeasonRule{season(t, "S1", "03-01", "04-01"), season(t, "S2", "04-01", "05-01"), season(t, "S3", "06-01", "07-01")}
}

// testSeasons: a board of seasons takes submissions during them and says why it takes none; standings stay.
func testSeasons(t *testing.T, s Subject) {
	b := newTimed(t, s, "2026-02-20T12:00:00Z", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowSeason}, Seasons: spring(t)})
	for _, c := range []struct{ now, name, want string }{
		{"2026-02-28T23:59:50Z", "", "a rejected -<- board-not-started"},
		{"2026-03-01T00:00:01Z", "S1", "a applied 5<-"},
		{"2026-03-31T23:59:50Z", "S1", "a unchanged 5<5"},
		{"2026-04-01T00:00:01Z", "S2", "a applied 5<-"},
		{"2026-05-01T00:00:01Z", "", "a rejected -<- between-seasons"},
		{"2026-06-01T00:00:01Z", "S3", "a applied 5<-"},
		{"2026-07-01T00:00:01Z", "", "a rejected -<- board-ended"},
	} {
		b.at(c.now)
		r := b.submit(score("a", 5))
		if got := short(r.Results); got != c.want || r.Seqs != nil || (r.Seq == 1) != (c.name != "") {
			t.Errorf("%s: %s, seq %d; want %s", c.now, got, r.Seq, c.want)
		}
		now, ok := b.current()[leaderboard.WindowSeason]
		if ok != (c.name != "") || (ok && now.Name() != c.name) {
			t.Errorf("%s: season is %+v, want %q", c.now, now, c.name)
		}
	}
	if _, err := s.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, Member: "a"}); !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Errorf("removed outside of seasons: %v", err)
	}
	made, err := s.Database.Board(t.Context(), b.name)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"S1", "S2", "S3"} {
		p, err := s.Database.PeriodNamed(t.Context(), made.ID, leaderboard.WindowSeason, name)
		if err != nil || p.State != leaderboard.PeriodStateClosed || !reflect.DeepEqual(b.page(&p), []string{"1 a 5"}) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if _, err := s.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, PeriodID: p.ID, Member: "a"}); !errors.Is(err, leaderboard.ErrPeriodClosed) {
			t.Errorf("removed from %s: %v", name, err)
		}
	}
	if r, err := s.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, Member: "a", Reopen: true, Actor: "boss"}); !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Errorf("reopened nothing: %+v, %v", r, err)
	}
}

// testSeasonsBeside: with other windows next to season, a submission outside of seasons counts in those windows.
func testSeasonsBeside(t *testing.T, s Subject) {
	b := newTimed(t, s, "2026-04-20T12:00:00Z", leaderboard.Rules{
		Windows: []leaderboard.Window{leaderboard.WindowSeason, leaderboard.WindowAllTime}, Seasons: spring(t),
	})
	if r := b.submit(score("a", 5)); r.Seq != 1 || !reflect.DeepEqual(r.Seqs, map[leaderboard.Window]int64{leaderboard.WindowSeason: 1, leaderboard.WindowAllTime: 1}) {
		t.Errorf("in a season: %+v", r)
	}
	b.at("2026-05-20T12:00:00Z")
	if r := b.submit(score("a", 6), score("b", 1)); r.Seq != 3 || r.Seqs != nil || short(r.Results) != "a applied 6<5; b applied 1<-" {
		t.Errorf("between seasons: %+v", r)
	}
	b.at("2026-06-20T12:00:00Z")
	if r := b.submit(score("a", 2)); short(r.Results) != "a applied 2<-" || r.Seqs[leaderboard.WindowSeason] != 1 || r.Seqs[leaderboard.WindowAllTime] != 3 {
		t.Errorf("in the next season: %+v", r)
	}
}

// testChangeSeasons: seasons may be added, and seasons without entries may change; a used season does not change.
func testChangeSeasons(t *testing.T, s Subject) {
	rules := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowSeason}, Seasons: spring(t)[:1]}
	b := newTimed(t, s, "2026-03-20T12:00:00Z", rules)
	unused := b.current()[leaderboard.WindowSeason]
	rules.Seasons = []leaderboard.SeasonRule{season(t, "S1", "03-02", "04-01")}
	b.put(rules)
	if p := b.current()[leaderboard.WindowSeason]; p.ID == unused.ID || p.StartsAt != rules.Seasons[0].StartsAt {
		t.Errorf("the season is %+v", p)
	}
	b.submit(score("a", 1))
	used := b.current()[leaderboard.WindowSeason]
	for name, seasons := range map[string][]leaderboard.SeasonRule{
		"moved": {season(t, "S1", "03-02", "04-02")}, "renamed": {season(t, "T1", "03-02", "04-01")}, "gone": {season(t, "S2", "05-01", "06-01")},
	} {
		rules.Seasons = seasons
		t.Run(name, func(t *testing.T) {
			_, _, err := s.Database.PutBoard(t.Context(), b.name, rules)
			wantConflict(t, err, "/seasons",
				"seasons keep S1 from 2026-03-02T00:00:00.000000Z to 2026-04-01T00:00:00.000000Z, because that season was used")
		})
	}
	rules.Seasons = []leaderboard.SeasonRule{season(t, "S1", "03-02", "04-01"), season(t, "S2", "05-01", "06-01")}
	b.put(rules)
	if p := b.current()[leaderboard.WindowSeason]; p.ID != used.ID || p.LastSeq != 1 {
		t.Errorf("after adding a season the used one is %+v", p)
	}
	b.at("2026-05-20T12:00:00Z")
	b.submit(score("a", 1))
	rules.Seasons = []leaderboard.SeasonRule{season(t, "S3", "08-01", "09-01")}
	_, _, err := s.Database.PutBoard(t.Context(), b.name, rules)
	var conflict *leaderboard.ConflictError
	if !errors.As(err, &conflict) || len(conflict.Fields) != 2 || !strings.HasSuffix(conflict.Detail(), ", because these seasons were used") {
		t.Errorf("both gone: %v", err)
	}
}

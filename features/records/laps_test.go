package records

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// play submits scores at noon of days, such as "2026-11-20": {"ada": 5}, in their order.
func play(t *testing.T, e *apitest.Env, f *fake, board string, days map[string]map[string]int64) {
	t.Helper()
	var order []string
	for day := range days {
		order = append(order, day)
	}
	slices.Sort(order)
	for _, day := range order {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		f.SetNow(leaderboard.MicrosOf(at.Add(12 * time.Hour)))
		for member, score := range days[day] {
			e.Post(apitest.WriteKey, "/v1/boards/"+board+"/scores", fmt.Sprintf(`{"entries":[{"member":%q,"score":%d}]}`, member, score)).Want(200)
		}
	}
}

// brief returns a race in short: the laps, the days of the moments, and of each runner its scores and places at them, - for none.
func brief(e *apitest.Env, path string) string {
	var race api.Race
	e.Get(apitest.NoKey, "/v1/boards/"+path).Want(200).Decode(&race)
	out := string(race.Laps)
	for _, m := range race.Moments {
		out += " " + m.UTC().Format("01-02T15")
	}
	for _, r := range race.Runners {
		out += "; " + r.Member
		for i, m := range race.Moments {
			if at := slices.IndexFunc(r.Points, func(p api.RunnerPoint) bool { return p.Time.Equal(m) }); at >= 0 && r.Places[i] != nil {
				out += fmt.Sprintf(" %d#%d", r.Points[at].Score, *r.Places[i])
			} else if at < 0 && r.Places[i] == nil {
				out += " -"
			} else {
				out += " ?" // a place and no score, or the reverse
			}
		}
	}
	return out
}

// TestRaceOfLaps: without records a race has the scores at the ends of shorter periods, as they follow from the policy.
func TestRaceOfLaps(t *testing.T) {
	three := map[string]map[string]int64{"2026-11-18": {"ada": 5, "bob": 6}, "2026-11-19": {"ada": 9}, "2026-11-21": {"bob": 20, "ada": 3}}
	for rules, want := range map[string]string{
		`"windows":["all_time","day"]`:                                             "day 11-19T00 11-20T00 11-21T12; bob 6#1 6#2 20#1; ada 5#2 9#1 9#2",
		`"windows":["all_time","day"],"order":"asc"`:                               "day 11-19T00 11-20T00 11-21T12; ada 5#1 5#1 3#1; bob 6#2 6#2 6#2",
		`"windows":["all_time","day"],"policy":"sum"`:                              "day 11-19T00 11-20T00 11-21T12; bob 6#1 6#2 26#1; ada 5#2 14#1 17#2",
		`"windows":["all_time","day"],"policy":"latest"`:                           "day 11-19T00 11-20T00 11-21T12; bob 6#1 6#2 20#1; ada 5#2 9#1 3#2",
		`"windows":["month","week","day"],"policy":"sum","record":"all"`:           "day 11-19T00 11-20T00 11-21T12; bob 6#1 6#2 26#1; ada 5#2 14#1 17#2", // nothing is recorded yet
		`"windows":["all_time","hour"],"policy":"sum","time_zone":"Europe/Berlin"`: "hour 11-18T13 11-19T13 11-21T12; bob 6#1 6#2 26#1; ada 5#2 14#1 17#2",
		`"windows":["day","all_time"]`:                                             "", // no window is shorter
		`"windows":["all_time"]`:                                                   "", // likewise
		`"windows":["week","month"],"policy":"sum"`:                                "", // likewise
		`"windows":["month","week"],"policy":"sum"`:                                "", // the first week is not over
	} {
		e, f := newEnv(t)
		e.Put(apitest.AdminKey, "/v1/boards/b", `{"visibility":"public",`+rules+`}`).Want(201)
		play(t, e, f, "b", three)
		if got := brief(e, "b/race"); got != want {
			t.Errorf("%s: %s\nwant %s", rules, got, want)
		}
	}
}

// TestRaceOfAPeriod: window and period choose the race; only laps within that period count, and a past one has its end for the last
// moment.
func TestRaceOfAPeriod(t *testing.T) {
	e, f := newEnv(t)
	e.Put(apitest.AdminKey, "/v1/boards/b", `{"visibility":"public","policy":"sum","windows":["all_time","month","week","day"],"record":"all"}`).Want(201)
	e.Put(apitest.AdminKey, "/v1/boards/weeks", `{"visibility":"public","policy":"sum","windows":["month","week"]}`).Want(201)
	f.race = Race{Moments: []leaderboard.Micros{1, 2}, Scores: [][]*int64{{new(int64(1)), nil}}}
	days := map[string]map[string]int64{"2026-09-30": {"ada": 50}, "2026-10-05": {"ada": 1}, "2026-10-29": {"ada": 2}, "2026-11-01": {"ada": 4}, "2026-11-03": {"ada": 8}, "2026-11-09": {"ada": 8}}
	play(t, e, f, "b", days)
	play(t, e, f, "weeks", days)
	for path, want := range map[string]string{
		"b/race":                                  " 01-01T00 01-01T00; ada 1#1 73#1", // recorded
		"b/race?window=all_time&period=current":   " 01-01T00 01-01T00; ada 1#1 73#1",
		"b/race?window=month":                     "day 11-02T00 11-04T00 11-09T12; ada 4#1 12#1 20#1",
		"b/race?window=month&period=2026-10":      "day 10-06T00 10-30T00 11-01T00; ada 1#1 3#1 3#1",
		"b/race?window=week":                      "",
		"b/race?window=week&period=2026-W44":      "day 10-30T00 11-02T00; ada 2#1 6#1",
		"b/race?window=month&period=2026-08":      "",
		"weeks/race?window=month":                 "week 11-09T00 11-09T12; ada 12#1 20#1", // 4 is of a week that began in October
		"weeks/race?window=month&period=2026-10":  "",                                      // its last week has the scores of two months
		"weeks/race?window=month&period=previous": "",
	} {
		if got := brief(e, path); got != want {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
	e.Get(apitest.NoKey, "/v1/boards/b/race?window=season").WantProblem(404, "period-not-found")
	e.Get(apitest.NoKey, "/v1/boards/b/race?window=month&period=x").WantProblem(400, "malformed-request")
}

// TestLongRace: of more laps than a race looks at, the newest count. Earlier scores are known of a sum, and best scores are known from the
// time on at which they were reached. Longer laps that reach back to the beginning are preferred.
func TestLongRace(t *testing.T) {
	first := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	days := map[string]map[string]int64{}
	for i := range 45 {
		days[first.AddDate(0, 0, i).Format(time.DateOnly)] = map[string]int64{"ada": int64(45 - i), "bob": int64(i), "eve": 7}
	}
	for rules, want := range map[string]string{
		`"policy":"sum","windows":["all_time","day"]`: " 315#3",
		`"windows":["all_time","day"]`:                " - - - - - - - - - - - 44#2", // the last day is the best one
		`"windows":["all_time","day","week"]`:         " 5#3 12#2 19#2 26#2 33#2 40#2 44#2",
	} {
		e, f := newEnv(t)
		e.Put(apitest.AdminKey, "/v1/boards/b", `{"visibility":"public",`+rules+`}`).Want(201)
		play(t, e, f, "b", days)
		got := brief(e, "b/race")
		if !strings.Contains(got, want) || strings.Count(got[:strings.Index(got, ";")], "T") > leaderboard.RaceMoments {
			t.Errorf("%s: %s\nwant in it %s", rules, got, want)
		}
		if strings.Contains(rules, "best") && !strings.Contains(got, "ada 45#1 45#1") {
			t.Errorf("%s: %s\nada has not been ahead all the time", rules, got)
		}
	}
}

// TestLapsAreGivenUp: laps that retention deletes meanwhile are looked up again; other errors are answers.
func TestLapsAreGivenUp(t *testing.T) {
	e, f := newEnv(t)
	e.Put(apitest.AdminKey, "/v1/boards/b", `{"visibility":"public","windows":["all_time","day"]}`).Want(201)
	play(t, e, f, "b", map[string]map[string]int64{"2026-11-18": {"ada": 5}, "2026-11-19": {"ada": 9}})
	f.goneOnce = true
	if got := brief(e, "b/race"); got != "day 11-19T00 11-19T12; ada 5#1 9#1" {
		t.Error(got)
	}
	f.Fails["Past"] = leaderboard.ErrUnavailable
	e.Get(apitest.NoKey, "/v1/boards/b/race").WantProblem(503, "unavailable")
}

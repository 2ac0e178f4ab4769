package httpapi

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"leaderboard"
)

// daily is an env with a board of days, all time and hours in Berlin, at noon of 2026-11-20 there.
func daily(t *testing.T) *env {
	e := newEnv(t)
	e.now("2026-11-20T11:00:00Z")
	e.put(adminKey, "/v1/boards/daily", `{"windows":["day","all_time","hour"],"time_zone":"Europe/Berlin"}`).want(201)
	return e
}

func (e *env) now(at string) {
	e.t.Helper()
	v, err := time.Parse(time.RFC3339, at)
	if err != nil {
		e.t.Fatal(err)
	}
	e.fake.SetNow(leaderboard.MicrosOf(v))
}

// shown is what a page shows of which period.
func shown(r rows) string {
	out := r.Window + " " + r.Period
	for _, e := range r.Entries {
		out += fmt.Sprintf(" %s=%d", e.Member, e.Score)
	}
	return out
}

func TestWindowsAndPeriods(t *testing.T) {
	e := daily(t)
	var receipt struct {
		Seq  int64
		Seqs map[string]int64
	}
	e.post(writeKey, "/v1/boards/daily/scores", `{"entries":[{"member":"a","score":5},{"member":"b","score":6}]}`).want(200).decode(&receipt)
	if want := map[string]int64{"day": 2, "all_time": 2, "hour": 2}; receipt.Seq != 2 || !reflect.DeepEqual(receipt.Seqs, want) {
		t.Errorf("receipt %+v", receipt)
	}
	e.now("2026-11-20T23:00:00Z") // midnight in Berlin
	e.post(writeKey, "/v1/boards/daily/scores", `{"entries":[{"member":"a","score":4}]}`).want(200).decode(&receipt)
	if want := map[string]int64{"day": 1, "all_time": 2, "hour": 1}; receipt.Seq != 1 || !reflect.DeepEqual(receipt.Seqs, want) {
		t.Errorf("after midnight: receipt %+v", receipt)
	}
	for query, want := range map[string]string{
		"":                                  "day 2026-11-21 a=4",
		"?period=current":                   "day 2026-11-21 a=4",
		"?period=previous":                  "day 2026-11-20 b=6 a=5",
		"?window=day&period=2026-11-20":     "day 2026-11-20 b=6 a=5",
		"?window=all_time":                  "all_time all_time b=6 a=5",
		"?window=hour":                      "hour 2026-11-21T00 a=4",
		"?window=hour&period=2026-11-20T12": "hour 2026-11-20T12 b=6 a=5",
	} {
		if got := shown(e.get(noKey, "/v1/boards/daily/top"+query).rows()); got != want {
			t.Errorf("top%s shows %s, want %s", query, got, want)
		}
	}
	for _, query := range []string{
		"?window=week", "?window=hour&period=previous", "?period=2026-11-19", "?period=2026-11-22", "?period=tomorrow", "?window=all_time&period=previous",
		"?window=day&period=2026-11-20T12",
	} {
		e.get(noKey, "/v1/boards/daily/top"+query).wantProblem(404, "period-not-found")
	}
	e.now("2026-11-21T23:00:00Z")
	if got := shown(e.get(noKey, "/v1/boards/daily/top").rows()); got != "day 2026-11-22" {
		t.Errorf("a new day shows %s", got)
	}
}

func TestListPeriodsOfWindows(t *testing.T) {
	e := daily(t)
	e.now("2026-11-20T23:00:00Z")
	e.get(noKey, "/v1/boards/daily/top").want(200)
	var p struct {
		Periods []struct {
			Window, Period, State string
			StartsAt              string `json:"starts_at"`
			EndsAt                string `json:"ends_at"`
		}
		Next string `json:"next_cursor"`
	}
	e.get(noKey, "/v1/boards/daily/periods?window=day").want(200).decode(&p)
	if len(p.Periods) != 2 || p.Periods[0].Period != "2026-11-21" || p.Periods[0].State != "open" || p.Periods[1].State != "closed" ||
		p.Periods[0].StartsAt != "2026-11-20T23:00:00.000000Z" || p.Periods[0].EndsAt != "2026-11-21T23:00:00.000000Z" {
		t.Errorf("days %+v", p)
	}
	names := ""
	for path := "/v1/boards/daily/periods?limit=2"; path != ""; {
		p.Next = ""
		e.get(noKey, path).want(200).decode(&p)
		for _, one := range p.Periods {
			names += one.Period + " "
		}
		if path = ""; p.Next != "" {
			path = "/v1/boards/daily/periods?limit=2&cursor=" + p.Next
		}
	}
	if names != "2026-11-21T00 2026-11-21 2026-11-20T12 all_time 2026-11-20 " {
		t.Errorf("periods %s", names)
	}
}

// The zone of periods that were used is settled.
func TestTimeZoneConflict(t *testing.T) {
	e := daily(t)
	e.put(adminKey, "/v1/boards/daily", `{"windows":["day"],"time_zone":"UTC"}`).want(200)
	e.post(writeKey, "/v1/boards/daily/scores", `{"entries":[{"member":"a","score":5}]}`).want(200)
	e.put(adminKey, "/v1/boards/daily", `{"windows":["day"],"time_zone":"Asia/Tokyo"}`).wantProblem(409, "board-conflict")
}

// A member is removed from the current periods, or from the one that is named.
func TestRemoveFromOnePeriod(t *testing.T) {
	e := daily(t)
	e.post(writeKey, "/v1/boards/daily/scores", `{"entries":[{"member":"a","score":5}]}`).want(200)
	e.delete(adminKey, "/v1/boards/daily/members/a?window=hour").want(200)
	e.get(noKey, "/v1/boards/daily/members/a?window=hour").wantProblem(404, "not-ranked")
	e.get(noKey, "/v1/boards/daily/members/a?window=day").want(200)
	e.delete(adminKey, "/v1/boards/daily/members/a").want(200)
	for _, w := range []string{"day", "all_time", "hour"} {
		e.get(noKey, "/v1/boards/daily/members/a?window="+w).wantProblem(404, "not-ranked")
	}
}

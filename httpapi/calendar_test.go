package httpapi

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// daily returns an env with a board of days, all time and hours in Berlin, at noon of 2026-11-20 there.
func daily(t *testing.T) *env {
	e := newEnv(t)
	e.now("2026-11-20T11:00:00Z")
	e.Put(apitest.AdminKey, "/v1/boards/daily", `{"windows":["day","all_time","hour"],"time_zone":"Europe/Berlin"}`).Want(201)
	return e
}

func (e *env) now(at string) {
	e.T.Helper()
	v, err := time.Parse(time.RFC3339, at)
	if err != nil {
		e.T.Fatal(err)
	}
	e.fake.SetNow(leaderboard.MicrosOf(v))
}

// shown returns the period and the entries of a page.
func shown(r apitest.Rows) string {
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
	e.Post(apitest.WriteKey, "/v1/boards/daily/scores", `{"entries":[{"member":"a","score":5},{"member":"b","score":6}]}`).Want(200).Decode(&receipt)
	if want := map[string]int64{"day": 2, "all_time": 2, "hour": 2}; receipt.Seq != 2 || !reflect.DeepEqual(receipt.Seqs, want) {
		t.Errorf("receipt %+v", receipt)
	}
	e.now("2026-11-20T23:00:00Z") // midnight in Berlin
	e.Post(apitest.WriteKey, "/v1/boards/daily/scores", `{"entries":[{"member":"a","score":4}]}`).Want(200).Decode(&receipt)
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
		if got := shown(e.Get(apitest.NoKey, "/v1/boards/daily/top"+query).Rows()); got != want {
			t.Errorf("top%s shows %s, want %s", query, got, want)
		}
	}
	e.now("2026-11-21T23:00:00Z")
	if got := shown(e.Get(apitest.NoKey, "/v1/boards/daily/top").Rows()); got != "day 2026-11-22" {
		t.Errorf("a new day shows %s", got)
	}
}

func TestListPeriodsOfWindows(t *testing.T) {
	e := daily(t)
	e.now("2026-11-20T23:00:00Z")
	e.Get(apitest.NoKey, "/v1/boards/daily/top").Want(200)
	var p struct {
		Periods []struct {
			Window, Period, State string
			StartsAt              string `json:"starts_at"`
			EndsAt                string `json:"ends_at"`
		}
		Next string `json:"next_cursor"`
	}
	e.Get(apitest.NoKey, "/v1/boards/daily/periods?window=day").Want(200).Decode(&p)
	if len(p.Periods) != 2 || p.Periods[0].Period != "2026-11-21" || p.Periods[0].State != "open" || p.Periods[1].State != "closed" ||
		p.Periods[0].StartsAt != "2026-11-20T23:00:00.000000Z" || p.Periods[0].EndsAt != "2026-11-21T23:00:00.000000Z" {
		t.Errorf("days %+v", p)
	}
	names := ""
	for path := "/v1/boards/daily/periods?limit=2"; path != ""; {
		p.Next = ""
		e.Get(apitest.NoKey, path).Want(200).Decode(&p)
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

// TestTimeZoneConflict: the zone of periods that were used stays.
func TestTimeZoneConflict(t *testing.T) {
	e := daily(t)
	e.Put(apitest.AdminKey, "/v1/boards/daily", `{"windows":["day"],"time_zone":"UTC"}`).Want(200)
	e.Post(apitest.WriteKey, "/v1/boards/daily/scores", `{"entries":[{"member":"a","score":5}]}`).Want(200)
	e.Put(apitest.AdminKey, "/v1/boards/daily", `{"windows":["day"],"time_zone":"Asia/Tokyo"}`).WantProblem(409, "board-conflict")
}

// TestRemoveFromOnePeriod: a member is removed from the current periods, or from the period that is named.
func TestRemoveFromOnePeriod(t *testing.T) {
	e := daily(t)
	e.Post(apitest.WriteKey, "/v1/boards/daily/scores", `{"entries":[{"member":"a","score":5}]}`).Want(200)
	e.Delete(apitest.AdminKey, "/v1/boards/daily/members/a?window=hour").Want(200)
	e.Get(apitest.NoKey, "/v1/boards/daily/members/a?window=hour").WantProblem(404, "not-ranked")
	e.Get(apitest.NoKey, "/v1/boards/daily/members/a?window=day").Want(200)
	e.Delete(apitest.AdminKey, "/v1/boards/daily/members/a").Want(200)
	for _, w := range []string{"day", "all_time", "hour"} {
		e.Get(apitest.NoKey, "/v1/boards/daily/members/a?window="+w).WantProblem(404, "not-ranked")
	}
}

// TestNoSuchPeriod: each reason for which a period does not exist has a different text, and a malformed name of a period is
// malformed.
func TestNoSuchPeriod(t *testing.T) {
	e := daily(t)
	e.Put(apitest.AdminKey, "/v1/boards/cup", `{"windows":["season"],"seasons":[{"name":"S1","starts_at":"2026-12-01T00:00:00Z","ends_at":"2026-12-02T00:00:00Z"}]}`).Want(201)
	for query, want := range map[string]string{
		"daily/top?window=week":                      "The board does not have window week, it has day, all_time, hour.",
		"daily/top?window=week&period=2026-W47":      "The board does not have window week, it has day, all_time, hour.",
		"daily/top?window=all_time&period=previous":  "Window all_time has one period.",
		"daily/top?period=2026-11-18":                "2026-11-18 ended before the board was made, at 2026-11-20T11:00:00.000000Z.",
		"daily/top?period=2026-11-21":                "2026-11-21 has not begun, it does at 2026-11-20T23:00:00.000000Z.",
		"daily/top?window=hour&period=2027-03-28T02": "2027-03-28T02 does not occur in the board's time zone, Europe/Berlin.",
		"cup/top":                                        "The first season starts at 2026-12-01T00:00:00.000000Z.",
		"cup/top?period=S1":                              "S1 has not begun, it does at 2026-12-01T00:00:00.000000Z.",
		"cup/top?period=S2":                              "The board has no season S2.",
		"daily/members/a?period=2026-11-21":              "2026-11-21 has not begun, it does at 2026-11-20T23:00:00.000000Z.",
		"daily/members/a/around?window=week":             "The board does not have window week, it has day, all_time, hour.",
		"daily/scores/5/rank?window=week":                "The board does not have window week, it has day, all_time, hour.",
		"daily/distribution?window=week":                 "The board does not have window week, it has day, all_time, hour.",
		"daily/verify?window=week":                       "The board does not have window week, it has day, all_time, hour.",
		"../rankings/top?boards=daily&window=week":       "The board does not have window week, it has day, all_time, hour.",
		"../rankings/top?boards=daily&period=2026-11-21": "2026-11-21 has not begun, it does at 2026-11-20T23:00:00.000000Z.",
	} {
		p := e.Get(apitest.AdminKey, pathOf(query)).WantProblem(404, wire.CodeNoPeriod)
		if p.Detail != want {
			t.Errorf("%s: %s\nwant %s", query, p.Detail, want)
		}
	}
	const windows = "want one of all_time, hour, day, week, month, quarter, year, season"
	for query, want := range map[string]string{
		"daily/top?window=foo":                                "window " + windows,
		"daily/members/a?window=foo":                          "window " + windows,
		"daily/members/a/around?window=foo":                   "window " + windows,
		"daily/scores/5/rank?window=foo":                      "window " + windows,
		"daily/distribution?window=foo":                       "window " + windows,
		"daily/periods?window=foo":                            "window " + windows,
		"daily/verify?window=foo":                             "window " + windows,
		"../rankings/top?boards=daily&window=foo":             "window " + windows,
		"../rankings/members/a?boards=daily&window=foo":       "window " + windows,
		"../rankings/members/a/around?boards=daily&window=":   "window is empty",
		"daily/top?period=tomorrow":                           "period want current, previous or a day such as 2026-11-20",
		"daily/top?window=day&period=2026-11-20T12":           "period want current, previous or a day such as 2026-11-20",
		"daily/top?window=day&period=2026-02-30":              "period want current, previous or a day such as 2026-11-20",
		"daily/top?window=all_time&period=2026":               "period want current or all_time",
		"cup/top?period=a%20b":                                "period want current, previous or the name of a season",
		"../rankings/top?boards=daily,cup&period=a%20b":       "period want current, previous or the name of a season",
		"../rankings/members/a?boards=daily&period=yesterday": "period want current, previous or a day such as 2026-11-20",
	} {
		p := e.Get(apitest.AdminKey, pathOf(query)).WantProblem(400, wire.CodeMalformed)
		if len(p.Errors) == 0 || p.Errors[0].Parameter+" "+p.Errors[0].Detail != want {
			t.Errorf("%s: %+v\nwant %s", query, p.Errors, want)
		}
	}
	e.Delete(apitest.AdminKey, "/v1/boards/daily/members/a?window=foo").WantProblem(400, wire.CodeMalformed)
	for body, pointer := range map[string]string{`{"window":"foo"}`: "/window", `{"window":"day","period":"foo"}`: "/period"} {
		if p := e.Post(apitest.AdminKey, "/v1/boards/daily/rebuild", body).WantProblem(400, wire.CodeMalformed); p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, p.Errors)
		}
	}
	e.Board("secret", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate})
	e.Get(apitest.NoKey, "/v1/boards/secret/top?period=foo").WantProblem(404, "board-not-found")
}

func pathOf(query string) string {
	if rest, ok := strings.CutPrefix(query, "../"); ok {
		return "/v1/" + rest
	}
	return "/v1/boards/" + query
}

// TestPeriodsWithoutRow: a period that never had an entry is an empty one, asked for as the previous one or by its name.
func TestPeriodsWithoutRow(t *testing.T) {
	e := daily(t)
	e.Post(apitest.WriteKey, "/v1/boards/daily/scores", `{"entries":[{"member":"a","score":5}]}`).Want(200)
	e.Board("other", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime}}, leaderboard.Submission{Member: "a", Score: 7})
	e.now("2026-11-22T11:00:00Z")
	e.Get(apitest.NoKey, "/v1/boards/daily/top").Want(200)
	const day = "/v1/boards/daily/"
	for _, period := range []string{"?period=previous", "?period=2026-11-21"} {
		page := e.Get(apitest.NoKey, day+"top"+period)
		var r apitest.Rows
		page.Want(200).Decode(&r)
		if r.Window != "day" || r.Period != "2026-11-21" || r.Total != 0 || r.Seq != 0 || len(r.Entries) != 0 || r.AsOf.String() != "2026-11-21T23:00:00.000000Z" {
			t.Errorf("%s: %s", period, page.Body)
		}
		if got := page.Header.Get("Cache-Control"); got != "public, no-cache" {
			t.Errorf("%s: kept as %q", period, got)
		}
		etag := http.Header{"If-None-Match": {page.Header.Get("Etag")}}
		e.Do(apitest.Ask{Method: "GET", Path: day + "top" + period, Header: etag}).Want(304)
		e.Get(apitest.NoKey, day+"top"+period+"&min_seq=1").WantProblem(409, "seq-ahead")
		e.Get(apitest.NoKey, day+"members/a"+period).WantProblem(404, "not-ranked")
		e.Get(apitest.NoKey, day+"members/a/around"+period).WantProblem(404, "not-ranked")
		e.Delete(apitest.AdminKey, day+"members/a"+period).WantProblem(404, "not-ranked")
		e.Get(apitest.AdminKey, day+"verify"+period).WantProblem(404, wire.CodeNoPeriod)
		for path, want := range map[string]string{
			"scores/5/rank": `"strict_rank":1,"tied_rank":1`, "distribution": `"buckets":[]`,
		} {
			if got := string(e.Get(apitest.AdminKey, day+path+period).Want(200).Body); !strings.Contains(got, want) {
				t.Errorf("%s%s: %s, want %s in it", path, period, got, want)
			}
		}
		if got := string(e.Post(apitest.ReadKey, day+"ranks"+period, `{"members":["a","b"]}`).Want(200).Body); !strings.Contains(got, `"entries":[],"not_ranked":["a","b"]`) {
			t.Errorf("ranks%s: %s", period, got)
		}
	}
	e.Post(apitest.AdminKey, day+"rebuild", `{"period":"previous"}`).WantProblem(404, wire.CodeNoPeriod)
	e.Put(apitest.AdminKey, "/v1/boards/cup", `{"windows":["season"],"seasons":[{"name":"S1","starts_at":"2026-11-23T00:00:00Z","ends_at":"2026-11-23T10:00:00Z"}]}`).Want(201)
	e.now("2026-11-23T11:00:00Z")
	for _, period := range []string{"", "?period=S1"} { // that was not read while it was under way
		if got := shown(e.Get(apitest.NoKey, "/v1/boards/cup/top"+period).Rows()); got != "season S1" {
			t.Errorf("an empty season shows %s", got)
		}
	}

	// Ranked as one: empty periods take part, without entries.
	empty := combinedIn(e.Get(apitest.NoKey, "/v1/rankings/top?boards=daily&period=previous"))
	if len(empty.Boards) != 1 || empty.Boards[0].Period != "2026-11-22" || empty.Total != 0 || len(empty.Entries) != 0 {
		t.Errorf("ranked as one: %+v", empty)
	}
	e.Get(apitest.NoKey, "/v1/rankings/members/a?boards=daily&period=previous").WantProblem(404, "not-ranked")
	e.Get(apitest.NoKey, "/v1/rankings/members/a/around?boards=daily&period=previous").WantProblem(404, "not-ranked")
	e.Put(apitest.AdminKey, "/v1/boards/weekly", `{"windows":["day"]}`).Want(201)
	e.Post(apitest.WriteKey, "/v1/boards/weekly/scores", `{"entries":[{"member":"b","score":3}]}`).Want(200)
	e.now("2026-11-24T11:00:00Z")
	both := combinedIn(e.Get(apitest.NoKey, "/v1/rankings/top?boards=daily,weekly&period=previous"))
	if len(both.Boards) != 2 || both.Boards[0].Total != 0 || both.Boards[1].Total != 1 || both.lines() != "1 weekly/b 3" {
		t.Errorf("ranked as one: %+v", both)
	}
	if got := combinedIn(e.Get(apitest.NoKey, "/v1/rankings/members/b?boards=daily,weekly&period=previous")); got.lines() != "1 weekly/b 3" || len(got.Boards) != 2 {
		t.Errorf("a member ranked as one: %+v", got)
	}
}

// TestPreviousOfAYoungBoard: from its first moment on a board has a previous period in each window but all_time. It is empty on
// every route, by its name too; no read makes a row of it, and older periods are not found.
func TestPreviousOfAYoungBoard(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.now("2026-11-20T11:00:00Z")
	const board = "/v1/boards/young/"
	e.Put(apitest.AdminKey, "/v1/boards/young", `{"windows":["hour","day","week","month","quarter","year","all_time"]}`).Want(201)
	rows := string(e.Get(apitest.AdminKey, board+"periods").Want(200).Body)
	for window, names := range map[string][2]string{
		"hour": {"2026-11-20T10", "2026-11-20T09"}, "day": {"2026-11-19", "2026-11-18"}, "week": {"2026-W46", "2026-W45"}, "month": {"2026-10", "2026-09"},
		"quarter": {"2026-Q3", "2026-Q2"}, "year": {"2025", "2024"},
	} {
		for _, period := range []string{"previous", names[0]} {
			query := "?window=" + window + "&period=" + period
			if got := shown(e.Get(apitest.NoKey, board+"top"+query).Rows()); got != window+" "+names[0] {
				t.Errorf("%s shows %s", query, got)
			}
			e.Get(apitest.NoKey, board+"members/a"+query).WantProblem(404, "not-ranked")
			e.Get(apitest.NoKey, board+"members/a/around"+query).WantProblem(404, "not-ranked")
			e.Get(apitest.NoKey, board+"scores/5/rank"+query).Want(200)
			e.Get(apitest.NoKey, board+"distribution"+query).Want(200)
			e.Post(apitest.ReadKey, board+"ranks"+query, `{"members":["a"]}`).Want(200)
			e.Get(apitest.NoKey, "/v1/rankings/top?boards=young&window="+window+"&period="+period).Want(200)
			e.Get(apitest.AdminKey, board+"verify"+query).WantProblem(404, wire.CodeNoPeriod) // there is nothing to compare
		}
		e.Get(apitest.NoKey, board+"top?window="+window+"&period="+names[1]).WantProblem(404, wire.CodeNoPeriod)
		e.Get(apitest.NoKey, board+"members/a/history?window="+window).Want(200)
	}
	e.Get(apitest.NoKey, board+"top?window=all_time&period=previous").WantProblem(404, wire.CodeNoPeriod)
	if got := string(e.Get(apitest.AdminKey, board+"periods").Want(200).Body); got != rows {
		t.Errorf("periods after reading: %s, before: %s", got, rows)
	}

	// A window that an older board is given.
	e.Put(apitest.AdminKey, "/v1/boards/old", `{"windows":["all_time"]}`).Want(201)
	e.now("2026-12-20T11:00:00Z")
	e.Put(apitest.AdminKey, "/v1/boards/old", `{"windows":["all_time","day","hour"],"keep":{"day":3,"hour":0}}`).Want(200)
	if got := shown(e.Get(apitest.NoKey, "/v1/boards/old/top?window=day&period=previous").Rows()); got != "day 2026-12-19" {
		t.Errorf("a new window shows %s", got)
	}
	e.Get(apitest.NoKey, "/v1/boards/old/top?window=day&period=2026-12-18").WantProblem(404, wire.CodeNoPeriod)
	e.Get(apitest.NoKey, "/v1/boards/old/top?window=hour&period=previous").WantProblem(404, wire.CodeNoPeriod) // it may have been given up

	// Boards made in the second season, and between two.
	const season = `{"name":"S%d","starts_at":"2026-12-%02dT00:00:00Z","ends_at":"2026-12-%02dT00:00:00Z"}`
	e.Put(apitest.AdminKey, "/v1/boards/during", fmt.Sprintf(`{"windows":["season"],"seasons":[`+season+`,`+season+`,`+season+`]}`, 0, 1, 2, 1, 5, 10, 2, 15, 22)).Want(201)
	e.Put(apitest.AdminKey, "/v1/boards/between", fmt.Sprintf(`{"windows":["season"],"seasons":[`+season+`,`+season+`,`+season+`]}`, 0, 1, 2, 1, 5, 10, 2, 21, 22)).Want(201)
	for query, want := range map[string]string{"during/top?period=previous": "S1", "during/top?period=S1": "S1", "between/top": "S1", "between/top?period=S1": "S1"} {
		if got := shown(e.Get(apitest.NoKey, "/v1/boards/"+query).Rows()); got != "season "+want {
			t.Errorf("%s shows %s", query, got)
		}
	}
	e.Get(apitest.NoKey, "/v1/boards/during/top?period=S0").WantProblem(404, wire.CodeNoPeriod)
	e.Get(apitest.NoKey, "/v1/boards/between/top?period=previous").WantProblem(404, wire.CodeNoPeriod)
	e.now("2026-12-21T11:00:00Z")
	if got := shown(e.Get(apitest.NoKey, "/v1/boards/between/top?period=previous").Rows()); got != "season S1" {
		t.Errorf("the season before shows %s", got)
	}
}

// TestPeriodsThatAreGone: a period that was given up does not pass for an empty one, and a window that was taken away keeps its
// periods.
func TestPeriodsThatAreGone(t *testing.T) {
	e := daily(t)
	e.Post(apitest.WriteKey, "/v1/boards/daily/scores", `{"entries":[{"member":"a","score":5}]}`).Want(200)
	e.now("2026-11-23T11:00:00Z")
	e.Put(apitest.AdminKey, "/v1/boards/daily", `{"windows":["day"],"time_zone":"Europe/Berlin","keep":{"day":0}}`).Want(200)
	if err := e.fake.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, period := range []string{"previous", "2026-11-20", "2026-11-22"} {
		p := e.Get(apitest.NoKey, "/v1/boards/daily/top?period="+period).WantProblem(404, wire.CodeNoPeriod)
		if !strings.Contains(p.Detail, "is not kept any more") {
			t.Errorf("%s: %s", period, p.Detail)
		}
	}
	for _, query := range []string{"?window=all_time", "?window=all_time&period=current", "?window=all_time&period=all_time", "?period=2026-11-20T12&window=hour"} {
		if got := shown(e.Get(apitest.NoKey, "/v1/boards/daily/top"+query).Rows()); !strings.HasSuffix(got, " a=5") {
			t.Errorf("%s shows %s", query, got)
		}
	}
	for _, query := range []string{"?window=hour", "?window=hour&period=previous", "?window=hour&period=2026-11-21T12"} {
		p := e.Get(apitest.NoKey, "/v1/boards/daily/top"+query).WantProblem(404, wire.CodeNoPeriod)
		if p.Detail != "The board does not have window hour, it has day." {
			t.Errorf("%s: %s", query, p.Detail)
		}
	}
	if got := string(e.Get(apitest.NoKey, "/v1/boards/daily/periods?window=hour").Want(200).Body); !strings.Contains(got, "2026-11-20T12") {
		t.Errorf("hours: %s", got)
	}
}

package records

import (
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// TestShowActivity: callers that may write see the submissions hour by hour, if they are recorded.
func TestShowActivity(t *testing.T) {
	e, f := newEnv(t)
	e.Put(apitest.AdminKey, "/v1/boards/b", `{"windows":["day","all_time"],"record":"applied"}`).Want(201)
	e.Put(apitest.AdminKey, "/v1/boards/plain", `{}`).Want(201)
	f.activity = Activity{
		Hours: []ActivityHour{
			{StartsAt: 7_200_000_000, Submissions: 3, Applied: 2, NewMembers: 1, Entries: new(int64(9))}, {StartsAt: 3_600_000_000, Submissions: 1},
		}, Partial: true,
	}
	const hours = `"hours":[{"starts_at":"1970-01-01T02:00:00.000000Z","submissions":3,"applied":2,"new_members":1,"entries":9},{"starts_at":"1970-01-01T01:00:00.000000Z","submissions":1,"applied":0,"new_members":0,"entries":null}],"partial":true}`
	if got := string(e.Get(apitest.WriteKey, "/v1/boards/b/activity").Want(200).Body); got != `{"board":"b","window":"day","record":"applied",`+hours {
		t.Errorf("got %s", got)
	}
	asked := f.activityAsked
	if asked.Window != leaderboard.WindowDay || asked.Hours != 48 || asked.Records != leaderboard.MaxActivityRecords || asked.BoardID == 0 {
		t.Errorf("asked for %+v", asked)
	}
	if e.Get(apitest.AdminKey, "/v1/boards/b/activity?hours=168").Want(200); f.activityAsked.Hours != 168 {
		t.Errorf("asked for %+v", f.activityAsked)
	}
	if got := string(e.Get(apitest.WriteKey, "/v1/boards/plain/activity").Want(200).Body); got != `{"board":"plain","window":"all_time","record":"none","hours":[],"partial":false}` {
		t.Errorf("got %s", got)
	}
	e.Put(apitest.AdminKey, "/v1/boards/early", `{"windows":["season"],"seasons":[{"name":"one","starts_at":"2100-01-01T00:00:00Z","ends_at":"2100-02-01T00:00:00Z"}]}`).Want(201)
	if got := string(e.Get(apitest.WriteKey, "/v1/boards/early/activity").Want(200).Body); !strings.HasSuffix(got, `"hours":[],"partial":false}`) {
		t.Errorf("before the first season: %s", got)
	}
	e.Get(apitest.ReadKey, "/v1/boards/b/activity").WantProblem(403, "forbidden")
	e.Get(apitest.NoKey, "/v1/boards/b/activity").Want(401)
	e.Get(apitest.WriteKey, "/v1/boards/nothing/activity").WantProblem(404, "board-not-found")
	e.Get(apitest.WriteKey, "/v1/boards/b/activity?hours=169").WantProblem(400, "malformed-request")
}

// TestShowRace: anyone who may read the board sees the places and scores of the first members; the last moment is the page of now.
func TestShowRace(t *testing.T) {
	e, f := newEnv(t)
	e.Put(apitest.AdminKey, "/v1/boards/up", `{"record":"all","visibility":"public"}`).Want(201)
	e.Put(apitest.AdminKey, "/v1/boards/down", `{"record":"all","visibility":"public","order":"asc"}`).Want(201)
	e.Put(apitest.AdminKey, "/v1/boards/secret", `{"record":"all","visibility":"private"}`).Want(201)
	e.Put(apitest.AdminKey, "/v1/boards/plain", `{"visibility":"public"}`).Want(201)
	five, seven := new(int64(5)), new(int64(7))
	f.race = Race{
		Moments: []leaderboard.Micros{1, 2, 3, 4},
		Scores:  [][]*int64{{nil, seven, five, nil}, {five, five, five, nil}}, // the last record is not needed
	}
	for board, want := range map[string]string{
		// ada has the greater score.
		"up":   `"runners":[{"member":"ada","places":[null,1,1,1],"points":[{"time":"1970-01-01T00:00:00.000002Z","score":7},{"time":"1970-01-01T00:00:00.000003Z","score":5},{"time":"1970-01-01T00:00:00.000004Z","score":20}]},{"member":"bob","places":[1,2,2,2],"points":[{"time":"1970-01-01T00:00:00.000001Z","score":5},{"time":"1970-01-01T00:00:00.000002Z","score":5},{"time":"1970-01-01T00:00:00.000003Z","score":5},{"time":"1970-01-01T00:00:00.000004Z","score":10}]}]}`,
		"down": `"runners":[{"member":"bob","places":[null,2,1,1],"points":[{"time":"1970-01-01T00:00:00.000002Z","score":7},{"time":"1970-01-01T00:00:00.000003Z","score":5},{"time":"1970-01-01T00:00:00.000004Z","score":10}]},{"member":"ada","places":[1,1,2,2],"points":[{"time":"1970-01-01T00:00:00.000001Z","score":5},{"time":"1970-01-01T00:00:00.000002Z","score":5},{"time":"1970-01-01T00:00:00.000003Z","score":5},{"time":"1970-01-01T00:00:00.000004Z","score":20}]}]}`,
	} {
		e.Post(apitest.AdminKey, "/v1/boards/"+board+"/scores", `{"entries":[{"member":"ada","score":20},{"member":"bob","score":10}]}`).Want(200)
		got := string(e.Get(apitest.NoKey, "/v1/boards/"+board+"/race").Want(200).Body)
		if !strings.HasPrefix(got, `{"board":"`+board+`","window":"all_time","period":"all_time","record":"all","moments":["1970-01-01T00:00:00.000001Z",`) || !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s\nwant %s", board, got, want)
		}
	}
	if got := f.raceAsked; got.PeriodID == 0 || strings.Join(got.Members, " ") != "ada bob" && strings.Join(got.Members, " ") != "bob ada" {
		t.Errorf("asked for %+v", got)
	}
	if got := string(e.Get(apitest.NoKey, "/v1/boards/plain/race").Want(200).Body); got != `{"board":"plain","window":"all_time","period":"all_time","record":"none","moments":[],"runners":[]}` {
		t.Errorf("got %s", got)
	}
	f.race = Race{}
	if got := string(e.Get(apitest.NoKey, "/v1/boards/up/race").Want(200).Body); !strings.HasSuffix(got, `"moments":[],"runners":[]}`) {
		t.Errorf("nothing recorded: %s", got)
	}
	e.Get(apitest.NoKey, "/v1/boards/secret/race").WantProblem(404, "board-not-found")
	e.Get(apitest.NoKey, "/v1/boards/nothing/race").WantProblem(404, "board-not-found")
}

package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// TestMemberData: all that is stored of a member in one object, empty for an unknown one; wide numbers as strings when
// they are wanted so.
func TestMemberData(t *testing.T) {
	e := newEnv(t)
	const unknown = `{"member":"nobody","profile":null,"friends":[],"friend_of":[],"hidden":[],"bars":[],"plays":[],"held":[],"entries":[],"submissions":[],"audit":[]}` + "\n"
	if got := e.Get(apitest.AdminKey, "/v1/members/nobody/data").Want(200); string(got.Body) != unknown || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("of an unknown member: %s", got.Body)
	}
	e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("cup", leaderboard.Rules{Tiebreak: leaderboard.Tiebreak{}}, apitest.Classic()...)
	e.fake.profile = `{"member":"5","display_name":"Five","avatar_url":"","attributes":{"score":7},"updated_time":"2023-11-14T22:13:20.000000Z"}`
	for member, friends := range map[string][]string{"5": {"1", "2"}, "1": {"5"}} {
		if _, err := e.fake.PutFriends(t.Context(), member, friends); err != nil {
			t.Fatal(err)
		}
	}
	e.Put(apitest.AdminKey, "/v1/boards/cup/members/5/hidden", `{"reason":"aimbot"}`).Want(200)
	e.fake.told = []leaderboard.MemberRecord{{List: "submissions", Record: jsontext.Value(`{"board":"demo","time":"2023-11-14T22:13:20.000000Z","status":"applied","score":100,"tiebreak":null,"previous_score":null,"new_score":null,"seq":0,"actor":"k","request_id":""}`)}}
	for query, quote := range map[string]string{"": "", "?numbers=string": `"`} {
		got := e.Get(apitest.AdminKey, "/v1/members/5/data"+query).Want(200)
		for _, want := range []string{
			`{"member":"5","profile":{"member":"5","display_name":"Five","avatar_url":"","attributes":{"score":7},`, `,"friends":["1","2"],"friend_of":["1"],"hidden":[{"member":"5","board":"cup","reason":"aimbot",`,
			`],"entries":[{"board":"demo","window":"all_time","period":"all_time","closed":false,"hidden":false,"score":` + quote + `100` + quote + `,"tiebreak":` + quote + `0` + quote + `,"created_time":"2018-08-16T14:18:53.000000Z"},{"board":"cup",`,
			`"hidden":true,`, `],"submissions":[{"board":"demo","time":"2023-11-14T22:13:20.000000Z","status":"applied","score":` + quote + `100`, `],"audit":[`,
		} {
			if !strings.Contains(string(got.Body), want) {
				t.Errorf("%s: %s\nwants %s", query, got.Body, want)
			}
		}
	}
	if head := e.Do(apitest.Ask{Method: "HEAD", Path: "/v1/members/5/data", Key: apitest.AdminKey}).Want(200); len(head.Body) > 0 {
		t.Errorf("HEAD: %q", head.Body)
	}
	e.Get(apitest.WriteKey, "/v1/members/5/data").WantProblem(403, "forbidden")
	e.Get(apitest.AdminKey, "/v1/members/a%00b/data").WantProblem(400, "malformed-request")
	e.fake.Fails = map[string]error{"MemberData": leaderboard.ErrUnavailable}
	e.Get(apitest.AdminKey, "/v1/members/5/data").WantProblem(503, "unavailable")
}

// slowData has friends in both directions, with a pause or a failure between.
type slowData struct {
	pause time.Duration
	err   error
}

func (slowData) DataLists() []leaderboard.DataList { return (*storetest.Model)(nil).DataLists() }

func (s slowData) MemberData(_ context.Context, _ string, tell func(leaderboard.MemberRecord) error) error {
	const friends = 1100 // more than one part
	for i := range friends {
		if err := tell(leaderboard.MemberRecord{List: "friends", Record: fmt.Sprintf("f%063d", i)}); err != nil {
			return err
		}
	}
	if time.Sleep(s.pause); s.err != nil {
		return s.err
	}
	for i := range friends {
		if err := tell(leaderboard.MemberRecord{List: "friend_of", Record: fmt.Sprintf("f%063d", i)}); err != nil {
			return err
		}
	}
	return nil
}

// TestMemberDataInParts: the time of the database between two parts is not the client's time, and a failure after the first part
// breaks the answer off.
func TestMemberDataInParts(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]slowData{"slow": {pause: 2500 * time.Millisecond}, "failing": {err: leaderboard.ErrUnavailable}} {
		e := newEnv(t)
		e.handlers.stall, e.handlers.members = 500*time.Millisecond, data
		body, err := io.ReadAll(e.opener(nil)(apitest.AdminKey, "/v1/members/x/data").Body)
		if whole := json.Valid(body) && err == nil; whole != (data.err == nil) {
			t.Errorf("%s: %d bytes, %v", name, len(body), err)
		}
	}
}

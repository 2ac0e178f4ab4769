package httpapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// standingsOf returns the standings of an answer as text, one of each result: before, after, and who was passed.
func standingsOf(r apitest.Reply) string {
	r.T.Helper()
	var out struct {
		Results []struct {
			Standing *struct {
				Seq, Rank, Total int64
				PreviousRank     *int64    `json:"previous_rank"`
				Passed           *[]string `json:"passed"`
			}
			Status string
		}
	}
	r.Want(200).Decode(&out)
	var parts []string
	for _, res := range out.Results {
		s := res.Standing
		switch {
		case s == nil:
			parts = append(parts, res.Status+" null")
			continue
		case s.PreviousRank == nil:
			parts = append(parts, fmt.Sprintf("new %d/%d@%d", s.Rank, s.Total, s.Seq))
		default:
			parts = append(parts, fmt.Sprintf("%d>%d/%d@%d", *s.PreviousRank, s.Rank, s.Total, s.Seq))
		}
		if s.Passed != nil {
			parts[len(parts)-1] += " " + strings.Join(*s.Passed, ",")
		}
	}
	return strings.Join(parts, "; ")
}

func wantStandings(r apitest.Reply, want string) {
	r.T.Helper()
	if got := standingsOf(r); got != want {
		r.T.Errorf("standings are %q, want %q", got, want)
	}
}

// TestStandings: each result has both ranks in one state; without the parameter it has no standing.
func TestStandings(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{Mode: leaderboard.ModeTied})
	const path = "/v1/boards/b/scores"
	e.Post(apitest.WriteKey, path, `{"entries":[{"member":"a","score":10},{"member":"b","score":20},{"member":"c","score":20},{"member":"d","score":5}]}`).Want(200)
	if body := string(e.Post(apitest.WriteKey, path, `{"entries":[{"member":"a","score":11}]}`).Want(200).Body); strings.Contains(body, "standing") {
		t.Errorf("standings that were not asked for: %s", body)
	}
	wantStandings(e.Post(apitest.WriteKey, path+"?standings=true", `{"entries":[{"member":"d","score":15},{"member":"d","score":20},{"member":"e","score":1},{"member":"b","score":3}]}`), "4>3/5@8; 3>1/5@8; new 5/5@8; 1>1/5@8")
	wantStandings(e.Post(apitest.WriteKey, path+"?standings=true&mode=strict", `{"entries":[{"member":"c","score":21}]}`), "2>1/5@9")
	wantStandings(e.Post(apitest.WriteKey, path+"?standings=true&mode=dense", `{"entries":[{"member":"e","score":15}]}`), "4>3/5@10")
	rejected := string(e.Do(apitest.Ask{Method: "POST", Path: path + "?standings=true", Key: apitest.WriteKey, Body: `{"entries":[{"member":"","score":1}]}`, Off: true}).Want(200).Body)
	if strings.Contains(rejected, "standing") {
		t.Errorf("a standing of what is rejected: %s", rejected)
	}
	wide := string(e.Post(apitest.WriteKey, path+"?standings=true&numbers=string", `{"entries":[{"member":"e","score":16}]}`).Want(200).Body)
	if !strings.Contains(wide, `"standing":{"seq":"11","rank":"4","previous_rank":"4","total":"5"}`) {
		t.Errorf("wide numbers: %s", wide)
	}
	for _, bad := range []string{"?standings=yes", "?mode=tied", "?friends=true", "?standings=true&mode=all", "?standings=true&mode=best"} {
		seq := e.Get(apitest.ReadKey, "/v1/boards/b/top").Want(200).Header.Get("ETag")
		e.Do(apitest.Ask{Method: "POST", Path: path + bad, Key: apitest.WriteKey, Body: `{"entries":[{"member":"z","score":1}]}`, Off: true}).WantProblem(400, wire.CodeMalformed)
		if now := e.Get(apitest.ReadKey, "/v1/boards/b/top").Want(200).Header.Get("ETag"); now != seq {
			t.Errorf("%s was refused and has changed the board", bad)
		}
	}
}

// TestStandingsOfSeveralBoards: each result has the standing on its own board.
func TestStandingsOfSeveralBoards(t *testing.T) {
	e := newEnv(t)
	e.Board("x", leaderboard.Rules{})
	e.Board("y", leaderboard.Rules{Mode: leaderboard.ModeDense, Order: leaderboard.OrderAsc})
	e.Post(apitest.WriteKey, "/v1/boards/y/scores", `{"entries":[{"member":"b","score":3},{"member":"c","score":3},{"member":"a","score":9}]}`).Want(200)
	wantStandings(e.Post(apitest.WriteKey, "/v1/scores?standings=true", `{"entries":[{"board":"x","member":"a","score":3},{"board":"y","member":"a","score":5},{"board":"none","member":"a","score":5},{"board":"y","member":"d","score":1}]}`), "new 1/1@1; 3>3/4@5; rejected null; new 1/4@5")
}

// TestStandingsReplayed: the repetition of a request gets the present standing, without values that are not known for the time of
// the first answer.
func TestStandingsReplayed(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[{"member":"a","score":10},{"member":"b","score":20}]}`).Want(200)
	again := apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores?standings=true&friends=true", Key: apitest.WriteKey, Body: `{"entries":[{"member":"a","score":30}]}`}
	again.Header = map[string][]string{"Idempotency-Key": {"k"}}
	wantStandings(e.Do(again), "2>1/2@3 ")
	e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[{"member":"b","score":40},{"member":"c","score":50}]}`).Want(200)
	got := e.Do(again)
	wantStandings(got, "new 3/3@5")
	if !strings.Contains(string(got.Body), `"passed":null`) || !strings.Contains(string(got.Body), `"previous_score":10`) {
		t.Errorf("repeated: %s", got.Body)
	}
	again.Path = "/v1/boards/b/scores" // the key does not cover the parameter
	if body := string(e.Do(again).Want(200).Body); strings.Contains(body, "standing") {
		t.Errorf("repeated without: %s", body)
	}
}

// TestStandingsPassed: friends between both keys, best first, the first ten; no hidden friends.
func TestStandingsPassed(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	var entries, friends []string
	for i := range 14 {
		entries = append(entries, fmt.Sprintf(`{"member":"f%02d","score":%d}`, i, 100-i))
		if i != 3 {
			friends = append(friends, fmt.Sprintf("f%02d", i))
		}
	}
	const path = "/v1/boards/b/scores?standings=true&friends=true"
	e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[`+strings.Join(entries, ",")+`]}`).Want(200)
	e.befriend("a", friends...)
	wantStandings(e.Post(apitest.WriteKey, path, `{"entries":[{"member":"a","score":90},{"member":"f13","score":1},{"member":"n","score":99}]}`), "new 13/16@16 ; 16>16/16@16 ; new 3/16@16 ")
	e.Put(apitest.AdminKey, "/v1/boards/b/members/f01/hidden", `{"reason":"bot"}`).Want(200)
	wantStandings(e.Post(apitest.WriteKey, path, `{"entries":[{"member":"a","score":96}]}`), "12>6/15@18 f05,f06,f07,f08,f09,f10")
	wantStandings(e.Post(apitest.WriteKey, path, `{"entries":[{"member":"a","score":1000}]}`), "6>1/15@19 f00,f02,f04")
	many := make([]string, leaderboard.MaxFriends-1)
	for i := range many {
		many[i] = fmt.Sprintf("x%d", i)
	}
	e.befriend("f13", many...)
	// f13 has 4,999 friends and a has 13: together too many.
	both := string(e.Post(apitest.WriteKey, path, `{"entries":[{"member":"f13","score":88},{"member":"a","score":1001}]}`).Want(200).Body)
	if strings.Count(both, `"passed":[]`) != 1 || strings.Count(both, `"passed":null`) != 1 {
		t.Errorf("more friends than are looked at: %s", both)
	}
	e.fake.Fails["KeptFriends"] = leaderboard.ErrUnavailable
	if got := string(e.Post(apitest.WriteKey, path, `{"entries":[{"member":"a","score":1002}]}`).Want(200).Body); !strings.Contains(got, `"passed":null`) {
		t.Errorf("friends that are not known: %s", got)
	}
}

// TestStandingsWithoutFriends: without lists of friends the parameter is not known.
func TestStandingsWithoutFriends(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Friends = nil })
	e.Board("b", leaderboard.Rules{})
	const path, body = "/v1/boards/b/scores?standings=true", `{"entries":[{"member":"a","score":10}]}`
	wantStandings(e.Post(apitest.WriteKey, path, body), "new 1/1@1")
	if p := e.Post(apitest.WriteKey, path+"&friends=true", body).WantProblem(400, wire.CodeMalformed); p.Errors[0].Parameter != "friends" {
		t.Errorf("%+v", p.Errors)
	}
}

// TestStandingsHidden: the standing of a hidden member is null.
func TestStandingsHidden(t *testing.T) {
	var counts StandingCounts
	e := newEnv(t, func(c *Config) { c.Observer = observed{standings: func(n StandingCounts) { counts = n }} })
	e.Board("b", leaderboard.Rules{})
	e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[{"member":"a","score":10},{"member":"b","score":20}]}`).Want(200)
	e.Put(apitest.AdminKey, "/v1/members/a/hidden", `{"reason":"bot"}`).Want(200)
	wantStandings(e.Post(apitest.WriteKey, "/v1/boards/b/scores?standings=true", `{"entries":[{"member":"a","score":30},{"member":"b","score":25}]}`), "applied null; 1>1/1@4")
	if counts != (StandingCounts{Told: 1, None: 1}) {
		t.Errorf("counted %+v", counts)
	}
}

// overtakenMoves takes in other submissions on a board before it answers.
type overtakenMoves struct {
	*fake
	board string
	by    *[]leaderboard.Submission
}

func (o overtakenMoves) Moves(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MovesQuery) (*leaderboard.Moves, error) {
	if _, err := o.fake.Submit(ctx, leaderboard.SubmitRequest{Board: o.board, Entries: *o.by}); err != nil {
		return nil, err
	}
	return o.fake.Moves(ctx, p, q)
}

// TestStandingsReplaced: a member whose entry another submit has replaced gets no rank of the old entry.
func TestStandingsReplaced(t *testing.T) {
	var counts StandingCounts
	var by []leaderboard.Submission
	e := newEnv(t, func(c *Config) {
		c.Rankings, c.Observer = overtakenMoves{c.Rankings.(*fake), "b", &by}, observed{standings: func(n StandingCounts) { counts = n }}
	})
	e.Board("b", leaderboard.Rules{})
	const path = "/v1/boards/b/scores"
	e.Post(apitest.WriteKey, path, `{"entries":[{"member":"a","score":10},{"member":"b","score":20},{"member":"c","score":30}]}`).Want(200)
	by = []leaderboard.Submission{{Member: "a", Score: 90}}
	wantStandings(e.Post(apitest.WriteKey, path+"?standings=true", `{"entries":[{"member":"a","score":25},{"member":"b","score":27},{"member":"a","score":35}]}`), "applied null; 3>3/3@7; applied null")
	if counts != (StandingCounts{Told: 1, None: 2}) {
		t.Errorf("counted %+v", counts)
	}
	by = []leaderboard.Submission{{Member: "a", Score: 5}} // no better, so it replaces nothing
	wantStandings(e.Post(apitest.WriteKey, path+"?standings=true", `{"entries":[{"member":"a","score":95},{"member":"b","score":1}]}`), "1>1/3@8; 3>3/3@8")
}

// TestStandingsAskNothing: a submit that does not want standings asks about no ranks and no friends, and nothing is counted.
func TestStandingsAskNothing(t *testing.T) {
	counted := 0
	e := newEnv(t, func(c *Config) { c.Observer = observed{standings: func(StandingCounts) { counted++ }} })
	e.Board("b", leaderboard.Rules{})
	e.fake.Fails["KeptFriends"] = leaderboard.ErrUnavailable
	for _, query := range []string{"", "?standings=false"} {
		e.Post(apitest.WriteKey, "/v1/boards/b/scores"+query, `{"entries":[{"member":"a","score":10}]}`).Want(200)
		e.Post(apitest.WriteKey, "/v1/scores"+query, `{"entries":[{"board":"b","member":"a","score":20}]}`).Want(200)
	}
	if asked := e.fake.Calls("Moves"); asked != 0 || counted != 0 {
		t.Errorf("asked %d times, counted %d times", asked, counted)
	}
	e.Post(apitest.WriteKey, "/v1/boards/b/scores?standings=true", `{"entries":[{"member":"a","score":30}]}`).Want(200)
	if asked := e.fake.Calls("Moves"); asked != 1 || counted != 1 {
		t.Errorf("with standings asked %d times, counted %d times", asked, counted)
	}
}

// slowMoves answers when its question is given up, or with a state that lacks the commit.
type slowMoves struct {
	*fake
	old bool
}

func (s slowMoves) Moves(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MovesQuery) (*leaderboard.Moves, error) {
	if s.old {
		m, err := s.Model.Moves(ctx, p, q)
		if err == nil {
			m.Seq = q.MinSeq - 1
		}
		return m, err
	}
	<-ctx.Done()
	return nil, errors.Join(leaderboard.ErrUnavailable, ctx.Err())
}

// TestStandingsTooLate: a standing that does not come in time, or is of a state without the commit, is null; the rest of the
// answer is complete.
func TestStandingsTooLate(t *testing.T) {
	for _, old := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var counts StandingCounts
			e := newEnv(t, func(c *Config) {
				c.Limits.StandingWait = 0 // the default
				c.Rankings, c.Observer = slowMoves{c.Rankings.(*fake), old}, observed{standings: func(n StandingCounts) { counts = n }}
			})
			e.Board("b", leaderboard.Rules{})
			sent := time.Now()
			got := e.Post(apitest.WriteKey, "/v1/boards/b/scores?standings=true", `{"entries":[{"member":"a","score":30}]}`)
			if took := time.Since(sent); !old && took != 50*time.Millisecond {
				t.Errorf("waited %s", took)
			}
			if wantStandings(got, "applied null"); !strings.Contains(string(got.Body), `"score":30`) {
				t.Errorf("the rest: %s", got.Body)
			}
			if counts != (StandingCounts{Late: 1}) {
				t.Errorf("counted %+v", counts)
			}
		})
	}
}

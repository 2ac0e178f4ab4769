package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// standingsAnswer is an answer about a member's standings.
type standingsAnswer struct {
	Member, Source string
	Stale          bool
	Standings      []struct {
		Board, Window, Period, Mode string
		Rank                        int64
		StrictRank                  int64 `json:"strict_rank"`
		TiedRank                    int64 `json:"tied_rank"`
		Score, Total, Seq           int64
		Percentile                  float64
	}
	NotRanked []string `json:"not_ranked"`
	Absent    []string
}

func (a *standingsAnswer) String() string {
	var out []string
	for _, s := range a.Standings {
		rank := fmt.Sprint(s.Rank)
		if s.Mode == "all" {
			rank = fmt.Sprintf("%d/%d", s.StrictRank, s.TiedRank)
		}
		out = append(out, fmt.Sprintf("%s %s %s=%d of %d at %d", s.Board, s.Mode, rank, s.Score, s.Total, s.Seq))
	}
	text := strings.Join(out, ", ")
	for what, names := range map[string][]string{"; not ranked: ": a.NotRanked, "; absent: ": a.Absent} {
		if len(names) > 0 {
			text += what + strings.Join(names, ",")
		}
	}
	return text
}

// TestMemberStandings: each board by its own rules, in the order of names; boards without an entry or without such a period, and
// boards that the caller may not read.
func TestMemberStandings(t *testing.T) {
	e := games(t)
	e.Board("golf", leaderboard.Rules{Labels: leaderboard.Labels{"type": "game"}, Order: leaderboard.OrderAsc, Mode: leaderboard.ModeDense, Tiebreak: leaderboard.Tiebreak{
		Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 4, Order: leaderboard.OrderDesc}},
	}}, leaderboard.Submission{Member: "ada", Score: 71, Fields: map[string]int64{"level": 3}}, leaderboard.Submission{Member: "bob", Score: 71, Fields: map[string]int64{"level": 3}})
	const moba, card, golf = "moba strict 2=80 of 2 at 2", "card strict 2=80 of 2 at 2", "golf tied 1=71 of 2 at 2"
	for query, want := range map[string]string{
		"bob/standings?boards=moba,card,golf":            card + ", " + golf + ", " + moba,
		"bob/standings?labels=type:game":                 card + ", " + golf + ", " + moba,
		"bob/standings?boards=moba,card&mode=tied":       "card tied 1=80 of 2 at 2, moba tied 2=80 of 2 at 2",
		"bob/standings?boards=card&mode=all":             "card all 2/1=80 of 2 at 2",
		"bob/standings?labels=type:game&window=day":      "card strict 2=80 of 2 at 2; absent: golf,moba",
		"cid/standings?labels=type:game":                 "; not ranked: card,golf,moba",
		"nobody/standings?boards=moba":                   "; not ranked: moba",
		"ada/standings?boards=moba,card&min_seq=moba:2":  "card strict 1=80 of 2 at 2, moba strict 1=90 of 2 at 2",
		"ada/standings?boards=card,golf&numbers=string#": "",
	} {
		if query, ok := strings.CutSuffix(query, "#"); ok {
			if body := string(e.Get(apitest.NoKey, "/v1/members/"+query).Want(200).Body); !strings.Contains(body, `"score":"71"`) || !strings.Contains(body, `"seq":"2"`) {
				t.Errorf("%s: %s", query, body)
			}
			continue
		}
		var got standingsAnswer
		r := e.Get(apitest.NoKey, "/v1/members/"+query).Want(200)
		if r.Decode(&got); sortedParts(got.String()) != sortedParts(want) || got.Source != "local" || got.Stale || !strings.HasPrefix(query, got.Member) {
			t.Errorf("%s: %s %+v\nwant %s", query, &got, got, want)
		}
		e.Do(apitest.Ask{Method: "GET", Path: "/v1/members/" + query, Header: http.Header{"If-None-Match": {r.Header.Get("Etag")}}}).Want(304)
	}
	var got standingsAnswer
	r := e.Get(apitest.ReadKey, "/v1/members/cid/standings?boards=moba,rpg").Want(200)
	if r.Decode(&got); got.String() != "rpg strict 1=95 of 1 at 1; not ranked: moba" || !strings.Contains(r.Header.Get("Cache-Control"), "private") {
		t.Errorf("with a key: %s, %v", &got, r.Header)
	}
	etag := e.Get(apitest.NoKey, "/v1/members/cid/standings?boards=moba").Header.Get("Etag")
	e.Post(apitest.WriteKey, "/v1/boards/moba/scores", `{"entries":[{"member":"cid","score":4}]}`).Want(200)
	e.Do(apitest.Ask{Method: "GET", Path: "/v1/members/cid/standings?boards=moba", Header: http.Header{"If-None-Match": {etag}}}).Want(200)
	e.fake.Stale = true
	if e.Get(apitest.NoKey, "/v1/members/cid/standings?boards=moba,card").Want(200).Decode(&got); !got.Stale {
		t.Errorf("stale: %+v", got)
	}
}

// sortedParts brings what a map has put in some order into one.
func sortedParts(text string) string {
	parts := strings.Split(text, "; ")
	if len(parts) == 3 && parts[1] > parts[2] {
		parts[1], parts[2] = parts[2], parts[1]
	}
	return strings.Join(parts, "; ")
}

// TestMemberStandingsRejected asks for standings that do not exist, or that the caller may not see.
func TestMemberStandingsRejected(t *testing.T) {
	e := games(t)
	const path = "/v1/members/ada/standings"
	many := strings.Repeat("b,", leaderboard.MaxStandings)
	for query, want := range map[string]struct {
		status int
		code   string
	}{
		"":                                 {400, "malformed-request"},
		"?boards=moba&labels=type:game":    {400, "malformed-request"},
		"?boards=moba,moba":                {400, "malformed-request"},
		"?boards=" + many + "c":            {400, "malformed-request"},
		"?boards=moba&profiles=true":       {400, "malformed-request"},
		"?boards=moba&min_seq=card:1":      {400, "malformed-request"},
		"?boards=moba&mode=x":              {400, "malformed-request"},
		"?boards=moba&mode=dense":          {422, "mode-not-available"},
		"?boards=moba&window=day":          {404, "period-not-found"},
		"?boards=moba,nothing":             {404, "board-not-found"},
		"?boards=moba,rpg":                 {404, "board-not-found"},
		"?labels=type:x":                   {404, "board-not-found"},
		"?boards=moba,card&min_seq=card:9": {409, "seq-ahead"},
	} {
		e.Do(apitest.Ask{Method: "GET", Path: path + query, Off: want.status == 400}).WantProblem(want.status, want.code)
	}
	var names []string
	for i := range leaderboard.MaxStandings {
		names = append(names, fmt.Sprintf("b%d", i))
		e.Board(names[i], leaderboard.Rules{})
	}
	var got standingsAnswer
	e.Get(apitest.NoKey, path+"?boards="+strings.Join(names, ",")).Want(200).Decode(&got)
	if len(got.NotRanked) != leaderboard.MaxStandings {
		t.Errorf("%d boards: %s", leaderboard.MaxStandings, &got)
	}
}

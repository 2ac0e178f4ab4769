package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// combinedRows are the members of an answer about several boards that most tests look at.
type combinedRows struct {
	Boards []struct {
		Board, Window, Period string
		Total, Seq            int64
	}
	Absent       []string
	Mode, Source string
	Total        int64
	Stale        bool
	Entries      []struct {
		Rank          int64
		Board, Member string
		Score         int64
		Percentile    float64
		Profile       *struct {
			DisplayName string `json:"display_name"`
		}
	}
	Next string `json:"next_cursor"`
}

func combinedIn(r apitest.Reply) combinedRows {
	r.T.Helper()
	var out combinedRows
	r.Want(http.StatusOK).Decode(&out)
	return out
}

func (m combinedRows) lines() string {
	var out []string
	for _, e := range m.Entries {
		out = append(out, fmt.Sprintf("%d %s/%s %d", e.Rank, e.Board, e.Member, e.Score))
	}
	return strings.Join(out, ", ")
}

// games are three boards with ties between them; rpg is private.
func games(t *testing.T) *env {
	e := newEnv(t)
	at := func(member string, score int64, created leaderboard.Micros) leaderboard.Submission {
		return leaderboard.Submission{Member: member, Score: score, CreatedTime: &created}
	}
	label := func(aspect string) leaderboard.Labels { return leaderboard.Labels{"type": "game", "aspect": aspect} }
	e.Board("moba", leaderboard.Rules{Labels: label("sound")}, at("ada", 90, 1), at("bob", 80, 1))
	e.Board("card", leaderboard.Rules{Labels: label("fun"), Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}}, at("ada", 80, 1), at("bob", 80, 1))
	e.Board("rpg", leaderboard.Rules{Labels: label("sound"), Visibility: leaderboard.VisibilityPrivate}, at("cid", 95, 1))
	return e
}

func TestCombinedTop(t *testing.T) {
	e := games(t)
	for query, want := range map[string]string{
		"boards=moba,card":              "1 moba/ada 90, 2 card/ada 80, 3 card/bob 80, 4 moba/bob 80",
		"boards=card,moba&mode=tied":    "1 moba/ada 90, 2 card/ada 80, 2 card/bob 80, 2 moba/bob 80",
		"labels=type:game":              "1 moba/ada 90, 2 card/ada 80, 3 card/bob 80, 4 moba/bob 80",
		"labels=type:game,aspect:sound": "1 moba/ada 90, 2 moba/bob 80",
		"boards=card,moba&offset=3":     "4 moba/bob 80",
		"boards=card,moba&offset=9":     "",
		"boards=card,moba&window=day":   "1 card/ada 80, 2 card/bob 80",
	} {
		if got := combinedIn(e.Get(apitest.NoKey, "/v1/rankings/top?"+query)); got.lines() != want {
			t.Errorf("%s: %s, want %s", query, got.lines(), want)
		}
	}
	all := combinedIn(e.Get(apitest.ReadKey, "/v1/rankings/top?labels=type:game&limit=2"))
	if all.lines() != "1 rpg/cid 95, 2 moba/ada 90" || all.Total != 5 || len(all.Boards) != 3 || all.Boards[0].Board != "card" || all.Boards[0].Seq != 2 || all.Mode != "strict" || all.Stale {
		t.Errorf("with a key: %+v", all)
	}
	day := combinedIn(e.Get(apitest.NoKey, "/v1/rankings/top?boards=card,moba&window=day"))
	if len(day.Absent) != 1 || day.Absent[0] != "moba" || len(day.Boards) != 1 {
		t.Errorf("a window that one board lacks: %+v", day)
	}
}

func TestCombinedCursor(t *testing.T) {
	e := games(t)
	for _, query := range []string{"boards=card,moba,rpg", "labels=type:game&mode=tied"} {
		whole, walked, cursor := combinedIn(e.Get(apitest.ReadKey, "/v1/rankings/top?"+query)).lines(), []string{}, ""
		for range 6 {
			page := combinedIn(e.Get(apitest.ReadKey, "/v1/rankings/top?limit=1&"+query+cursor))
			walked = append(walked, page.lines())
			if cursor = "&cursor=" + page.Next; page.Next == "" {
				break
			}
		}
		if got := strings.Join(walked, ", "); got != whole {
			t.Errorf("%s: pages add up to %s, want %s", query, got, whole)
		}
	}
	next := combinedIn(e.Get(apitest.NoKey, "/v1/rankings/top?boards=card,moba&limit=2")).Next
	if got := combinedIn(e.Get(apitest.NoKey, "/v1/rankings/top?boards=moba&cursor="+next)).lines(); got != "2 moba/bob 80" {
		t.Errorf("the same place among fewer boards: %s", got)
	}
	e.Board("slow", leaderboard.Rules{Order: leaderboard.OrderAsc})
	for _, query := range []string{"boards=slow&cursor=" + next, "boards=moba&cursor=x", "boards=moba&offset=1&cursor=" + next} {
		if p := e.Get(apitest.NoKey, "/v1/rankings/top?"+query).WantProblem(400, wire.CodeMalformed); p.Errors[0].Parameter != "cursor" {
			t.Errorf("%s: %+v", query, p.Errors)
		}
	}
}

func TestCombinedMember(t *testing.T) {
	e := games(t)
	got := combinedIn(e.Get(apitest.ReadKey, "/v1/rankings/members/ada?boards=card,moba,rpg&mode=tied&profiles=true"))
	if got.lines() != "2 moba/ada 90, 3 card/ada 80" || got.Entries[0].Percentile != 80 || got.Entries[1].Percentile != 60 || got.Entries[1].Profile.DisplayName != "ada" {
		t.Errorf("%+v", got)
	}
	around := combinedIn(e.Get(apitest.ReadKey, "/v1/rankings/members/bob/around?boards=card,moba,rpg&before=1&after=1"))
	if around.lines() != "3 card/ada 80, 4 card/bob 80, 5 moba/bob 80" || around.Next != "" {
		t.Errorf("around bob: %+v", around)
	}
	e.Get(apitest.NoKey, "/v1/rankings/members/cid?boards=card,moba").WantProblem(404, "not-ranked")
	e.Get(apitest.NoKey, "/v1/rankings/members/cid/around?boards=card,moba").WantProblem(404, "not-ranked")
}

func TestCombinedRejections(t *testing.T) {
	e := games(t)
	e.Board("slow", leaderboard.Rules{Order: leaderboard.OrderAsc})
	e.Board("level", leaderboard.Rules{Tiebreak: leaderboard.Tiebreak{Order: leaderboard.OrderAsc}})
	for i := range 51 {
		e.Board(fmt.Sprintf("many%d", i), leaderboard.Rules{Labels: leaderboard.Labels{"many": "yes"}})
	}
	var names []string
	for i := range 51 {
		names = append(names, fmt.Sprintf("many%d", i))
	}
	for query, want := range map[string]string{
		"":                                       "400 malformed-request",
		"boards=":                                "400 malformed-request",
		"boards=moba&labels=type:game":           "400 malformed-request",
		"boards=moba,moba":                       "400 malformed-request",
		"boards=moba,":                           "400 malformed-request",
		"boards=Moba":                            "400 malformed-request",
		"boards=" + strings.Join(names, ","):     "400 malformed-request",
		"labels=game":                            "400 malformed-request",
		"boards=moba&mode=best":                  "400 malformed-request",
		"boards=moba&min_seq=1":                  "400 malformed-request",
		"boards=moba,nowhere":                    "404 board-not-found",
		"labels=type:chess":                      "404 board-not-found",
		"boards=card,moba&window=week":           "404 period-not-found",
		"boards=moba,rpg":                        "404 board-not-found",
		"boards=rpg&window=day":                  "404 board-not-found",
		"boards=moba,slow":                       "422 boards-differ",
		"boards=moba,level":                      "422 boards-differ",
		"boards=moba,card&mode=dense":            "422 mode-not-available",
		"labels=many:yes":                        "422 too-many-boards",
		"boards=" + strings.Join(names[1:], ","): "200",
	} {
		r := e.Get(apitest.NoKey, "/v1/rankings/top?"+query)
		got := fmt.Sprint(r.Status)
		if r.Status >= 400 {
			got += " " + strings.TrimPrefix(r.Problem().Type, "/problems/")
		}
		if got != want {
			t.Errorf("%s: %s, want %s\n%s", query, got, want, r.Body)
		}
	}
}

// TestCombinedETag: the tag depends on the states of all boards and the question, whatever the order of the boards.
func TestCombinedETag(t *testing.T) {
	e := games(t)
	tag := func(query string) string {
		t.Helper()
		return e.Get(apitest.ReadKey, "/v1/rankings/top?"+query).Want(200).Header.Get("ETag")
	}
	first := tag("boards=card,moba")
	if tag("boards=moba,card") != first || tag("boards=moba") == first || tag("boards=moba,card&limit=3") == first || tag("boards=moba,card&mode=tied") == first {
		t.Error("the tag is not that of the question")
	}
	match := apitest.Ask{Method: http.MethodGet, Path: "/v1/rankings/top?boards=card,moba", Header: http.Header{"If-None-Match": {first}}}
	e.Do(match).Want(304)
	if _, err := e.fake.Submit(t.Context(), leaderboard.SubmitRequest{Board: "moba", Entries: []leaderboard.Submission{{Member: "eve", Score: 1}}}); err != nil {
		t.Fatal(err)
	}
	e.Do(match).Want(200)
	e.fake.Source, e.fake.Stale = leaderboard.SourceMySQL, true
	r := e.Get(apitest.NoKey, "/v1/rankings/top?boards=card,moba")
	if got := combinedIn(r); !got.Stale || got.Source != "mysql" || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("stale: %+v, %s", got, r.Header.Get("Cache-Control"))
	}
	e.fake.Stale = false
	e.Board("zoo", leaderboard.Rules{})
	for query, want := range map[string]string{"boards=card": "public, no-cache", "boards=rpg,zoo": "private, no-cache"} {
		if got := e.Get(apitest.ReadKey, "/v1/rankings/top?"+query).Header.Get("Cache-Control"); got != want {
			t.Errorf("%s: Cache-Control is %s, want %s", query, got, want)
		}
	}
}

// TestCombinedClosed: a period that is over on all boards can be asked for by name.
func TestCombinedClosed(t *testing.T) {
	e := newEnv(t)
	day := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}, Labels: leaderboard.Labels{"type": "game"}}
	e.Board("a", day, leaderboard.Submission{Member: "ada", Score: 1})
	e.Board("b", day, leaderboard.Submission{Member: "bob", Score: 2})
	e.fake.SetNow(1_700_000_000_000_000 + 24*3600*1_000_000)
	e.Board("a", day, leaderboard.Submission{Member: "ada", Score: 3})
	if got := e.Get(apitest.NoKey, "/v1/rankings/top?boards=a,b&period=2023-11-14").Want(200).Header.Get("Cache-Control"); got != "public, no-cache" {
		t.Errorf("Cache-Control is %s", got)
	}
	if got := combinedIn(e.Get(apitest.NoKey, "/v1/rankings/top?boards=a,b&period=2023-11-14")).lines(); got != "1 b/bob 2, 2 a/ada 1" {
		t.Errorf("the day before: %s", got)
	}
}

// TestCombinedOutdated: a board that was created again elsewhere is found after one look.
func TestCombinedOutdated(t *testing.T) {
	e := games(t)
	ref, _, err := e.fake.Resolve(t.Context(), "moba", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.fake.Model.DeleteBoard(t.Context(), "moba"); err != nil {
		t.Fatal(err)
	}
	e.Board("moba", leaderboard.Rules{}, leaderboard.Submission{Member: "new", Score: 7})
	e.fake.Outdated = map[string]leaderboard.PeriodRef{"moba": ref}
	if got := combinedIn(e.Get(apitest.NoKey, "/v1/rankings/top?boards=moba,card&limit=3")).lines(); got != "1 card/ada 80, 2 card/bob 80, 3 moba/new 7" {
		t.Errorf("got %s", got)
	}
}

// TestCombinedMinSeq: a state that copies do not have yet is read from the database, and a state that the database does not have
// is seq-ahead.
func TestCombinedMinSeq(t *testing.T) {
	e := games(t)
	e.fake.Behind = 1
	for _, path := range []string{"/v1/rankings/top?", "/v1/rankings/members/bob?", "/v1/rankings/members/bob/around?"} {
		for query, want := range map[string]int64{"min_seq=moba:2": 2, "min_seq=card:1,moba:2": 2} {
			if got := combinedIn(e.Get(apitest.NoKey, path+"boards=card,moba&"+query)); got.Boards[1].Seq != want || len(got.Entries) == 0 {
				t.Errorf("%s%s: %+v", path, query, got)
			}
		}
		e.Get(apitest.NoKey, path+"boards=card,moba&min_seq=moba:3").WantProblem(409, "seq-ahead")
	}
	if got := combinedIn(e.Get(apitest.NoKey, "/v1/rankings/top?boards=card,moba&min_seq=moba:1,card:2")); got.Boards[1].Seq != 1 {
		t.Errorf("a state that was new enough was not taken: %+v", got)
	}
	for _, bad := range []string{"1", "moba", "moba:", "moba:-1", "moba:1,moba:2", "moba:1,", "Moba:1", "rpg:1", "moba:99999999999999999999"} {
		p := e.Get(apitest.NoKey, "/v1/rankings/top?boards=card,moba&min_seq="+bad).WantProblem(400, wire.CodeMalformed)
		if len(p.Errors) != 1 || p.Errors[0].Parameter != "min_seq" {
			t.Errorf("%s: %+v", bad, p.Errors)
		}
	}
}

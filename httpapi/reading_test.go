package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

func TestTopOfTheClassicTable(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	for mode, want := range map[string]string{
		"":       "5=1 4=2 1=3 3=4 8=5 2=6 7=7 6=8",
		"strict": "5=1 4=2 1=3 3=4 8=5 2=6 7=7 6=8",
		"tied":   "5=1 4=2 1=3 3=4 8=5 2=5 7=7 6=8",
		"dense":  "5=1 4=2 1=3 3=4 8=5 2=5 7=6 6=7",
	} {
		path := "/v1/boards/classic/top"
		if mode != "" {
			path += "?mode=" + mode
		}
		got := e.Get(apitest.NoKey, path).Rows()
		if ranksOf(got) != want {
			t.Errorf("mode %q: got %s, want %s", mode, ranksOf(got), want)
		}
		if got.Total != 8 || got.Seq != 8 || got.Window != "all_time" || got.Period != "all_time" || got.Next != "" {
			t.Errorf("mode %q: the common fields are %+v", mode, got)
		}
	}
}

// TestAllRanks: mode all shows every rank of every entry, wherever there are entries, and no member rank.
func TestAllRanks(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{Mode: leaderboard.ModeTied}, apitest.Classic()...)
	e.Board("other", leaderboard.Rules{}, apitest.Classic()[:2]...)
	const entries = `{"strict_rank":5,"tied_rank":5,"dense_rank":5,"member":"8","score":80,"tiebreak":0,"created_time":"2018-08-16T14:30:01.000000Z"`
	for path, want := range map[string]string{
		"GET /v1/boards/classic/top?mode=all":                                entries + `}`,
		"GET /v1/boards/classic/members/8/around?mode=all":                   entries + `}`,
		"GET /v1/boards/classic/members/8?mode=all":                          entries[1:] + `,"percentile":50}`,
		"GET /v1/boards/classic/members/6?mode=all":                          `"strict_rank":8,"tied_rank":8,"dense_rank":7,`,
		"POST /v1/boards/classic/ranks?mode=all":                             `"created_time":"2018-08-16T14:31:11.000000Z","position":1}`, // as the board does
		"GET /v1/boards/classic/scores/80/rank?mode=all":                     `"strict_rank":7,"tied_rank":5,"dense_rank":null}`,
		"GET /v1/rankings/top?boards=classic,other&mode=all":                 `{"strict_rank":4,"tied_rank":3,"dense_rank":null,"board":"other","member":"1",`,
		"GET /v1/rankings/members/2?boards=classic,other&mode=all":           `{"strict_rank":8,"tied_rank":6,"dense_rank":null,"board":"other","member":"2",`,
		"GET /v1/rankings/members/2/around?boards=classic,other&mode=all":    `{"strict_rank":7,"tied_rank":6,"dense_rank":null,"board":"classic","member":"2",`,
		"GET /v1/boards/classic/top?mode=all&offset=6&limit=1&profiles=true": `{"strict_rank":7,"tied_rank":7,"dense_rank":6,"member":"7"`,
	} {
		method, path, _ := strings.Cut(path, " ")
		var got apitest.Reply
		if method == "POST" {
			got = e.Post(apitest.ReadKey, path, `{"members":["2","8"]}`)
		} else {
			got = e.Get(apitest.ReadKey, path)
		}
		body := string(got.Want(200).Body)
		if !strings.Contains(body, want) || !strings.Contains(body, `"mode":"all"`) || strings.Contains(body, `"rank":`) {
			t.Errorf("%s: got %s\nwant %s", path, body, want)
		}
	}
	e.Put(apitest.AdminKey, "/v1/boards/new", `{"mode":"all"}`).WantProblem(422, "invalid-board")
	e.Get(apitest.NoKey, "/v1/boards/classic/top?mode=both").WantProblem(400, "malformed-request")
}

func ranksOf(r apitest.Rows) string {
	var parts []string
	for _, e := range r.Entries {
		parts = append(parts, fmt.Sprintf("%s=%d", e.Member, e.Rank))
	}
	return strings.Join(parts, " ")
}

func TestTopPages(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	for _, c := range []struct{ query, want string }{
		{"limit=3", "5=1 4=2 1=3"},
		{"limit=3&offset=2", "1=3 3=4 8=5"},
		{"limit=1000&offset=7", "6=8"},
		{"offset=8", ""},
		{"offset=9223372036854775807", ""},
	} {
		if got := ranksOf(e.Get(apitest.NoKey, "/v1/boards/classic/top?"+c.query).Rows()); got != c.want {
			t.Errorf("%s: got %q, want %q", c.query, got, c.want)
		}
	}
}

// TestCursorIsStableUnderWrites: a walk by cursor sees every entry that was there all the time exactly once, whatever
// comes and goes.
func TestCursorIsStableUnderWrites(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	var seen []string
	cursor := ""
	for page := 0; ; page++ {
		path := "/v1/boards/classic/top?limit=2"
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		got := e.Get(apitest.NoKey, path).Rows()
		for _, r := range got.Entries {
			seen = append(seen, r.Member)
		}
		if cursor = got.Next; cursor == "" {
			break
		}
		e.Post(apitest.WriteKey, "/v1/boards/classic/scores", fmt.Sprintf(`{"entries":[{"member":"new%d","score":1000}]}`, page)).Want(200)
	}
	if want := []string{"5", "4", "1", "3", "8", "2", "7", "6"}; !slices.Equal(seen, want) {
		t.Errorf("saw %v, want %v", seen, want)
	}
}

func TestMember(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{Mode: leaderboard.ModeTied}, apitest.Classic()...)
	var got struct {
		apitest.Row
		Percentile float64
		Mode       string
	}
	e.Get(apitest.NoKey, "/v1/boards/classic/members/2").Want(200).Decode(&got)
	if got.Rank != 5 || got.Member != "2" || got.Score != 80 || got.Percentile != 50 || got.Mode != "tied" {
		t.Errorf("got %+v", got)
	}
	// The percentile follows from the tied rank in every mode: 2 and 8 share it.
	if e.Get(apitest.NoKey, "/v1/boards/classic/members/2?mode=strict").Want(200).Decode(&got); got.Rank != 6 || got.Percentile != 50 {
		t.Errorf("strict: got %+v", got)
	}
	if got.CreatedTime != 1534429871_000000 {
		t.Errorf("created_time is %s", got.CreatedTime)
	}
	e.Get(apitest.NoKey, "/v1/boards/classic/members/nobody").WantProblem(404, "not-ranked")
	e.Get(apitest.NoKey, "/v1/boards/none/members/1").WantProblem(404, "board-not-found")
}

func TestAround(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	for _, c := range []struct{ path, want string }{
		{"members/3/around?before=1&after=1", "1=3 3=4 8=5"},
		{"members/3/around?before=0&after=0", "3=4"},
		{"members/5/around?before=1&after=1", "5=1 4=2 1=3"},
		{"members/6/around?before=1&after=2", "8=5 2=6 7=7 6=8"}, // filled up to four
		{"members/6/around?before=500&after=500&mode=dense", "5=1 4=2 1=3 3=4 8=5 2=5 7=6 6=7"},
	} {
		got := e.Get(apitest.NoKey, "/v1/boards/classic/"+c.path).Rows()
		if ranksOf(got) != c.want {
			t.Errorf("%s: got %s, want %s", c.path, ranksOf(got), c.want)
		}
	}
	e.Get(apitest.NoKey, "/v1/boards/classic/members/nobody/around").WantProblem(404, "not-ranked")
}

func TestRanks(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	for mode, want := range map[string]string{
		"strict": "5=1/1 8=5/2 2=6/3 6=8/4",
		"tied":   "5=1/1 8=5/2 2=5/2 6=8/4",
		"dense":  "5=1/1 8=5/2 2=5/2 6=7/3",
	} {
		got := e.Post(apitest.NoKey, "/v1/boards/classic/ranks?mode="+mode, `{"members":["zz","2","6","8","5","é\"\\"]}`).Rows()
		var parts []string
		for _, r := range got.Entries {
			parts = append(parts, fmt.Sprintf("%s=%d/%d", r.Member, r.Rank, r.Position))
		}
		if have := strings.Join(parts, " "); have != want {
			t.Errorf("%s: got %s, want %s", mode, have, want)
		}
		if !slices.Equal(got.NotRanked, []string{"zz", "é\"\\"}) {
			t.Errorf("%s: not_ranked is %q", mode, got.NotRanked)
		}
	}
	if got := e.Post(apitest.NoKey, "/v1/boards/classic/ranks", `{"members":[]}`).Rows(); len(got.Entries) != 0 || got.Total != 8 {
		t.Errorf("nobody asked for gets %+v", got)
	}
	r := e.Post(apitest.NoKey, "/v1/boards/classic/ranks", `{"members":["5"]}`).Want(200)
	if r.Header.Get("Etag") != "" || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a list of ranks can be cached: %v", r.Header)
	}
}

func TestScoreRank(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	for _, c := range []struct {
		path         string
		strict, tied int64
	}{
		{"scores/80/rank", 7, 5},
		{"scores/81/rank", 5, 5},
		{"scores/80/rank?tiebreak=1", 5, 5},
		{"scores/80/rank?tiebreak=-1", 7, 7},
		{"scores/9223372036854775807/rank", 1, 1},
		{"scores/-9223372036854775808/rank", 9, 9},
	} {
		var got struct {
			Score  int64
			Strict int64 `json:"strict_rank"`
			Tied   int64 `json:"tied_rank"`
		}
		e.Get(apitest.NoKey, "/v1/boards/classic/"+c.path).Want(200).Decode(&got)
		if got.Strict != c.strict || got.Tied != c.tied {
			t.Errorf("%s: got %+v", c.path, got)
		}
	}
}

func TestDistributionAndPeriods(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("empty", leaderboard.Rules{})
	var d struct{ Buckets []leaderboard.Bucket }
	e.Get(apitest.NoKey, "/v1/boards/classic/distribution?buckets=1").Want(200).Decode(&d)
	if !slices.Equal(d.Buckets, []leaderboard.Bucket{{From: 5, To: 100, Count: 8}}) {
		t.Errorf("got %+v", d)
	}
	e.Get(apitest.NoKey, "/v1/boards/empty/distribution").Want(200).Decode(&d)
	if len(d.Buckets) != 0 {
		t.Errorf("an empty board has buckets: %+v", d)
	}
	var p struct {
		Periods []struct {
			Period   string
			StartsAt *string `json:"starts_at"`
			EndsAt   *string `json:"ends_at"`
			Total    int64
		}
	}
	e.Get(apitest.NoKey, "/v1/boards/classic/periods?window=all_time").Want(200).Decode(&p)
	if len(p.Periods) != 1 || p.Periods[0].Period != "all_time" || p.Periods[0].Total != 8 || p.Periods[0].StartsAt != nil || p.Periods[0].EndsAt != nil {
		t.Errorf("got %+v", p)
	}
}

// TestShowPeriod: a period of a calendar has a start and an end, all_time has neither.
func TestShowPeriod(t *testing.T) {
	p := showPeriod(&leaderboard.Period{Window: "day", StartsAt: 1, EndsAt: 2})
	if p.StartsAt == nil || p.StartsAt.UnixMicro() != 1 || p.EndsAt == nil || p.EndsAt.UnixMicro() != 2 {
		t.Errorf("got %+v", p)
	}
	if p = showPeriod(&leaderboard.Period{Window: leaderboard.WindowAllTime, EndsAt: leaderboard.Forever}); p.StartsAt != nil || p.EndsAt != nil {
		t.Errorf("got %+v", p)
	}
}

// TestExactValues: every int64 and every member id arrives and leaves unchanged.
func TestExactValues(t *testing.T) {
	e := newEnv(t)
	e.Board("exact", leaderboard.Rules{Policy: leaderboard.PolicyLatest})
	for _, score := range []int64{math.MinInt64, math.MinInt64 + 1, -1<<53 - 1, -1 << 53, -1, 0, 1, 1<<53 - 1, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		body := fmt.Sprintf(`{"entries":[{"member":"m","score":%d,"tiebreak":%d}]}`, score, -(score + 1))
		text := string(e.Post(apitest.WriteKey, "/v1/boards/exact/scores", body).Want(200).Body)
		if !strings.Contains(text, fmt.Sprintf(`"score":%d,`, score)) {
			t.Errorf("score %d came back as %s", score, text)
		}
		got := e.Get(apitest.NoKey, "/v1/boards/exact/top").Rows()
		if got.Entries[0].Score != score || got.Entries[0].Tiebreak != -(score+1) {
			t.Errorf("score %d is shown as %+v", score, got.Entries[0])
		}
		if s := string(e.Get(apitest.NoKey, fmt.Sprintf("/v1/boards/exact/scores/%d/rank", score)).Want(200).Body); !strings.Contains(s, fmt.Sprintf(`"score":%d,`, score)) {
			t.Errorf("score %d is asked for as %s", score, s)
		}
	}
}

func TestSeqAhead(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	e.Get(apitest.NoKey, "/v1/boards/classic/top?min_seq=8").Want(200)
	for _, path := range []string{"top", "members/5", "members/5/around", "scores/1/rank", "distribution"} {
		e.Get(apitest.NoKey, "/v1/boards/classic/"+path+"?min_seq=9").WantProblem(http.StatusConflict, "seq-ahead")
	}
	e.Post(apitest.NoKey, "/v1/boards/classic/ranks?min_seq=9", `{"members":["5"]}`).WantProblem(http.StatusConflict, "seq-ahead")
}

func TestPrivateBoards(t *testing.T) {
	e := newEnv(t)
	e.Board("mine", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, apitest.Classic()...)
	e.Board("ours", leaderboard.Rules{}, apitest.Classic()...)
	for _, path := range []string{"", "/top", "/top?period=2020", "/members/5", "/members/5/around", "/scores/1/rank", "/distribution", "/periods"} {
		e.Get(apitest.NoKey, "/v1/boards/mine"+path).WantProblem(404, "board-not-found")
		e.Get("other", "/v1/boards/ours"+path).WantProblem(401, wire.CodeUnauthorized)
		if path != "/top?period=2020" {
			r := e.Get(apitest.ReadKey, "/v1/boards/mine"+path).Want(200)
			if cc := r.Header.Get("Cache-Control"); cc != "private, no-cache" {
				t.Errorf("%s may be kept by others: %s", path, cc)
			}
		}
	}
	e.Post(apitest.NoKey, "/v1/boards/mine/ranks", `{"members":["5"]}`).WantProblem(404, "board-not-found")
	e.Post(apitest.ReadKey, "/v1/boards/mine/ranks", `{"members":["5"]}`).Want(200)
	names := func(key string) string {
		var out struct{ Boards []struct{ Name string } }
		e.Get(key, "/v1/boards").Want(200).Decode(&out)
		return fmt.Sprint(out.Boards)
	}
	if got := names(apitest.NoKey); got != "[{ours}]" {
		t.Errorf("without a key the list is %s", got)
	}
	if got := names(apitest.ReadKey); got != "[{mine} {ours}]" {
		t.Errorf("with a key the list is %s", got)
	}
}

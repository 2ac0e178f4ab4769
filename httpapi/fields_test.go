package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

const gameRules = `{"mode":"tied","tiebreak":{"fields":[{"name":"level","bits":20},{"name":"paid","bits":1},{"name":"deaths","bits":16,"order":"asc"}]}}`

// newGame makes a board with fields through the API, with three members of one score.
func newGame(t *testing.T) *env {
	e := newEnv(t)
	board := string(e.Put(apitest.AdminKey, "/v1/boards/game", gameRules).Want(201).Body)
	const shown = `"tiebreak":{"order":"desc","fields":[{"name":"level","bits":20,"order":"desc"},{"name":"paid","bits":1,"order":"desc"},{"name":"deaths","bits":16,"order":"asc"}]},`
	if !strings.Contains(board, shown) {
		t.Fatalf("the board is %s\nwithout %s", board, shown)
	}
	e.Put(apitest.AdminKey, "/v1/boards/game", gameRules).Want(200)
	e.Post(apitest.WriteKey, "/v1/boards/game/scores", `{"entries":[`+
		`{"member":"free","score":5,"fields":{"deaths":0,"level":7,"paid":0}},`+
		`{"member":"dead","score":5,"fields":{"level":7,"paid":1,"deaths":65535}},`+
		`{"member":"paid","score":5,"fields":{"level":7,"paid":1,"deaths":3}}]}`).Want(200)
	return e
}

// TestFieldsAreShown: the entries are ordered field by field, and shown with their fields in declared order, by every
// route that shows entries.
func TestFieldsAreShown(t *testing.T) {
	e := newGame(t)
	entry := func(rank int, member string, tiebreak int64, fields string) string {
		return fmt.Sprintf(`"rank":%d,"member":%q,"score":5,"tiebreak":%d,"fields":{%s},"created_time":`, rank, member, tiebreak, fields)
	}
	paid := entry(1, "paid", 7<<17|1<<16|65532, `"level":7,"paid":1,"deaths":3`)
	dead := entry(2, "dead", 7<<17|1<<16, `"level":7,"paid":1,"deaths":65535`)
	free := entry(3, "free", 7<<17|65535, `"level":7,"paid":0,"deaths":0`)
	if got := string(e.Put(apitest.AdminKey, "/v1/boards/plain", `{"tiebreak":{"fields":[]}}`).Want(201).Body); !strings.Contains(got, `"tiebreak":{"order":"desc"},`) {
		t.Errorf("no fields are shown as %s", got)
	}
	for path, want := range map[string][]string{
		"top": {paid, dead, free}, "members/free": {free}, "members/dead/around?before=1&after=0": {paid, dead},
	} {
		body := string(e.Get(apitest.NoKey, "/v1/boards/game/"+path).Want(200).Body)
		for _, part := range want {
			if before, after, found := strings.Cut(body, part); !found {
				t.Errorf("%s: %s\nwithout %s", path, body, part)
			} else {
				body = before + after
			}
		}
	}
	body := string(e.Post(apitest.NoKey, "/v1/boards/game/ranks", `{"members":["free","paid"]}`).Want(200).Body)
	if !strings.Contains(body, paid) || !strings.Contains(body, free) {
		t.Errorf("ranks: %s", body)
	}
}

func TestFieldsAreRejected(t *testing.T) {
	e := newGame(t)
	const fields = "level (0 to 1048575), paid (0 to 1), deaths (0 to 65535)"
	for _, c := range []struct{ entry, detail string }{
		{`{"member":"m","score":1}`, "the fields are missing, want " + fields},
		{`{"member":"m","score":1,"fields":null}`, "the fields are missing, want " + fields},
		{`{"member":"m","score":1,"fields":{}}`, "level is missing; paid is missing; deaths is missing"},
		{`{"member":"m","score":1,"fields":{"level":7,"paid":2,"deaths":-1}}`, "paid 2 is out of range, want 0 to 1; deaths -1 is out of range, want 0 to 65535"},
		{`{"member":"m","score":1,"fields":{"level":7,"paid":1,"deaths":1,"speed":1}}`, `"speed" is none of the fields ` + fields},
		{`{"member":"m","score":1,"tiebreak":0,"fields":{"level":7,"paid":1,"deaths":1}}`, "give the tiebreak or its fields, not both"},
		{`{"member":"m","score":1,"tiebreak":137438953472}`, "tiebreak 137438953472 is not packed from the fields " + fields + ": it is out of range, want 0 to 137438953471"},
	} {
		got := resultsIn(e.Post(apitest.WriteKey, "/v1/boards/game/scores", `{"entries":[`+c.entry+`,{"member":"other","score":1,"tiebreak":9}]}`))
		if r := got.Results[0]; r.Status != "rejected" || r.Error.Type != "/problems/invalid-fields" || r.Error.Status != 422 || r.Error.Detail != c.detail {
			t.Errorf("%s: %s %+v, want %s", c.entry, r.Status, r.Error, c.detail)
		}
		if got.Results[1].Status == "rejected" {
			t.Errorf("%s: its neighbour: %+v", c.entry, got.Results[1].Error)
		}
	}
	e.Board("plain", leaderboard.Rules{})
	got := resultsIn(e.Post(apitest.WriteKey, "/v1/boards/plain/scores", `{"entries":[{"member":"m","score":1,"fields":{"level":7}}]}`))
	if r := got.Results[0]; r.Error == nil || r.Error.Detail != "the board's tiebreak has no fields" {
		t.Errorf("fields without fields: %+v", r)
	}
}

func TestScoreRankOfFields(t *testing.T) {
	e := newGame(t)
	for _, c := range []struct {
		query, want string
	}{
		{"fields=level:7,paid:1,deaths:65534", `"score":5,"tiebreak":983041,"fields":{"level":7,"paid":1,"deaths":65534},"strict_rank":2,"tied_rank":2`},
		{"fields=deaths:3,paid:1,level:7", `"score":5,"tiebreak":1048572,"fields":{"level":7,"paid":1,"deaths":3},"strict_rank":2,"tied_rank":1`},
		{"tiebreak=1048572", `"score":5,"tiebreak":1048572,"fields":{"level":7,"paid":1,"deaths":3},"strict_rank":2,"tied_rank":1`},
	} {
		if body := string(e.Get(apitest.NoKey, "/v1/boards/game/scores/5/rank?"+c.query).Want(200).Body); !strings.Contains(body, c.want) {
			t.Errorf("%s: %s\nwithout %s", c.query, body, c.want)
		}
	}
	for query, detail := range map[string]string{
		"": "the fields are missing", "?fields=level:7,paid:1": "deaths is missing", "?fields=level:-1,paid:1,deaths:0": "level -1 is out of range, want 0 to 1048575",
		"?tiebreak=0&fields=level:7,paid:1,deaths:0": "not both", "?tiebreak=-1": "out of range", "?fields=level:7,paid:1,deaths:0,x:1": `"x" is none of`,
	} {
		if p := e.Get(apitest.NoKey, "/v1/boards/game/scores/5/rank"+query).WantProblem(422, leaderboard.CodeInvalidFields); !strings.Contains(p.Detail, detail) {
			t.Errorf("%s: %s, want %s", query, p.Detail, detail)
		}
	}
}

// TestFieldsAreInTheETag: while a board is empty its fields can change: an answer of before is not the answer of now.
func TestFieldsAreInTheETag(t *testing.T) {
	e := newEnv(t)
	e.Put(apitest.AdminKey, "/v1/boards/b", gameRules).Want(201)
	const path = "/v1/boards/b/scores/5/rank?tiebreak=1"
	seen := map[string]bool{e.Get(apitest.NoKey, path).Want(200).Header.Get("Etag"): true}
	for _, rules := range []string{
		`{"mode":"tied"}`, `{"mode":"tied","tiebreak":{"fields":[{"name":"level","bits":20}]}}`,
		`{"mode":"tied","tiebreak":{"fields":[{"name":"level","bits":21}]}}`, `{"mode":"tied","tiebreak":{"fields":[{"name":"lives","bits":21}]}}`,
		`{"mode":"tied","tiebreak":{"fields":[{"name":"lives","bits":21,"order":"asc"}]}}`,
	} {
		e.Put(apitest.AdminKey, "/v1/boards/b", rules).Want(200)
		etag := e.Get(apitest.NoKey, path).Want(200).Header.Get("Etag")
		if seen[etag] {
			t.Errorf("%s has the ETag of other fields", rules)
		}
		seen[etag] = true
	}
}

// TestFieldsStay: an answer about a board can be sent back, and its fields stay when it has entries.
func TestFieldsStay(t *testing.T) {
	e := newGame(t)
	for _, rules := range []string{
		`{"mode":"tied"}`, strings.Replace(gameRules, `"level"`, `"lives"`, 1), strings.Replace(gameRules, `20`, `21`, 1),
		strings.Replace(gameRules, `"asc"`, `"desc"`, 1),
	} {
		e.Put(apitest.AdminKey, "/v1/boards/game", rules).WantProblem(409, "board-conflict")
	}
	e.Put(apitest.AdminKey, "/v1/boards/game", strings.Replace(gameRules, "tied", "strict", 1)).Want(200)
}

package cli

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// asked is a server that keeps the requests, with its answers by method, path and query; the last answer is repeated.
type asked struct {
	answers map[string][]http.HandlerFunc
	log     []string
}

func (a *asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := r.Method + " " + r.URL.RequestURI()
	a.log = append(a.log, what)
	answers := a.answers[what]
	if len(answers) == 0 {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if len(answers) > 1 {
		a.answers[what] = answers[1:]
	}
	answers[0](w, r)
}

// says returns an answer.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if status >= 400 {
			problemAnswer(status, body)(w, r)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

const (
	askedForBoards  = "GET /v1/boards?limit=1000"
	askedForRebuild = "POST /v1/boards/%/rebuild?wait=5m0s"
)

func rebuildOf(board string) string { return strings.Replace(askedForRebuild, "%", board, 1) }

// TestRefreshByURL: refresh waits for the end of a run, longer than one request may wait. It shows a failure and continues with
// the next board, and passes over boards that the key does not cover and seasons that have not begun.
func TestRefreshByURL(t *testing.T) {
	t.Parallel()
	run := func(id, board, state, more string) string {
		return `{"id":` + id + `,"board":"` + board + `","window":"all_time","period":"all_time","kind":"full","state":"` + state + `","to_seq":8,"took":"1s"` + more + `}`
	}
	server := &asked{answers: map[string][]http.HandlerFunc{
		"GET /v1/key":                        {says(200, `{"id":"k1","scope":"admin","boards":["a*","b","c","d"]}`)},
		askedForBoards:                       {says(200, `{"boards":[{"name":"a1","windows":["all_time"]},{"name":"b","windows":["all_time"]},{"name":"c","windows":["season"]}],"next_cursor":"x"}`)},
		"GET /v1/boards?cursor=x&limit=1000": {says(200, `{"boards":[{"name":"d","windows":["all_time"]},{"name":"other","windows":["all_time"]}]}`)},
		rebuildOf("a1"):                      {says(503, `{"type":"/problems/overloaded","title":"Busy"}`), says(202, run("7", "a1", "running", ""))},
		"GET /v1/runs/7":                     {says(200, run("7", "a1", "running", "")), says(200, run("7", "a1", "done", ""))},
		rebuildOf("b"):                       {says(503, `{"type":"/problems/run-failed","title":"Failed","run":`+run("8", "b", "failed", `,"error":"no room"`)+`}`)},
		rebuildOf("c"):                       {says(404, `{"type":"/problems/period-not-found","title":"None"}`)},
		rebuildOf("d"):                       {says(200, run("9", "d", "shared", ""))},
	}}
	url, _ := answering(t, server.ServeHTTP)
	status, out, errOut := runWith(t, nil, "refresh", "--all", "--url", url)
	if status != exitFailed || !strings.Contains(errOut, "1 of 3 refreshes failed") {
		t.Errorf("status %d, %s", status, errOut)
	}
	for _, want := range []string{`(?m)^a1 +all_time +full +done +0 +8 `, `(?m)^b +all_time +full +failed .* no room$`, `(?m)^d +all_time +full +shared `} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is missing in\n%s", want, out)
		}
	}
	if strings.Contains(out, "other") || slices.Contains(server.log, rebuildOf("other")) {
		t.Errorf("a board that is not the key's: %s, %q", out, server.log)
	}
	// A wrong key is wrong for all boards.
	server.answers[rebuildOf("a1")] = []http.HandlerFunc{says(403, `{"title":"No","detail":"This needs a key with scope admin."}`)}
	server.log = nil
	status, out, errOut = runWith(t, nil, "refresh", "--all", "--url", url)
	if status != exitFailed || out != "" || !strings.Contains(errOut, "needs a key with scope admin") || slices.Contains(server.log, rebuildOf("b")) {
		t.Errorf("status %d, %s%s, asked for %q", status, out, errOut, server.log)
	}
}

// TestVerifyByURL: the exit statuses are the same as of a comparison on the database.
func TestVerifyByURL(t *testing.T) {
	t.Parallel()
	server := &asked{answers: map[string][]http.HandlerFunc{
		"GET /v1/key":            {says(200, `{"scope":"admin","boards":null}`)},
		askedForBoards:           {says(200, `{"boards":[{"name":"a","windows":["day"]},{"name":"b","windows":["day"]}]}`)},
		"GET /v1/boards/a":       {says(200, `{"name":"a","windows":["day"]}`)},
		"GET /v1/boards/no-such": {says(404, `{"type":"/problems/board-not-found","status":404,"detail":"No board has the name no-such."}`)},
	}}
	url, _ := answering(t, server.ServeHTTP)
	const a, b = "GET /v1/boards/a/verify?window=day", "GET /v1/boards/b/verify?window=day"
	equal := says(200, `{"board":"a","window":"day","period":"2026-11-20","equal":true,"seq":3,"checked":2,"total":4}`)
	different := says(200, `{"board":"b","window":"day","period":"2026-11-20","equal":false,"seq":3,"checked":1,"total":4,"difference":{"rank":2,"copy":null,`+
		`"truth":{"member":"m","score":5,"tiebreak":0,"created_time":"2026-11-20T13:00:00.100000Z"}}}`)
	broken := says(500, `{"title":"Broken"}`)
	for _, c := range []struct {
		a, b http.HandlerFunc
		args []string
		exit int
		want string
	}{
		{equal, equal, []string{"--all"}, exitOK, "a      2026-11-20  true   3    2        4   -\n"},
		{equal, different, []string{"--all"}, exitFailed, "rank 2: Redis has nothing, MySQL has m=5 (2026-11-20T13:00:00.100000Z)"},
		{equal, different, []string{"--all", "--json"}, exitFailed, `"copy":null,"truth":{"member":"m","score":5,"tiebreak":0,"created_time":"2026-11-20T13:00:00.100000Z"}`},
		{equal, broken, []string{"--all"}, exitUnknown, "1 of 2 could not be compared"},
		{equal, broken, []string{"a"}, exitOK, "true"},
		{equal, equal, []string{"no-such"}, exitFailed, "no-such"},
		{says(401, `{"detail":"The key is not known."}`), equal, []string{"a"}, exitUnknown, "--key or LEADERBOARD_KEY"},
	} {
		server.answers[a], server.answers[b] = []http.HandlerFunc{c.a}, []http.HandlerFunc{c.b}
		status, out, errOut := runWith(t, map[string]string{"LEADERBOARD_URL": url}, append([]string{"verify"}, c.args...)...)
		if status != c.exit || !strings.Contains(out+errOut, c.want) {
			t.Errorf("%v: status %d, want %d:\n%s%s want %s", c.args, status, c.exit, out, errOut, c.want)
		}
	}
}

var (
	readmeLine = regexp.MustCompile(`(?m)^(?:    |[\d*]+ [\d*]+ [\d*]+ [\d*]+ [\d*]+  )leaderboard (.*?)(?: +#.*)?$`)
	readmeSpan = regexp.MustCompile("`leaderboard ([a-z]+)[^`]*`")
)

// TestReadmeCommands runs the lines of the README and of docs/install.md next to `make run`, where only the address and the key
// are known, and looks for every command that they name.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	var readme []byte
	for _, file := range []string{"../../README.md", "../../docs/install.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		readme = append(readme, text...)
	}
	s := serving(t, testenv.Redis(t))
	d := &document{transferring: &transferring{s, t.TempDir()}, env: map[string]string{}}
	env := map[string]string{"LEADERBOARD_URL": s.URL, "LEADERBOARD_KEY": apptest.AdminKey}
	if status, _, errOut := runWith(t, env, "board", "put", "demo"); status != exitOK {
		t.Fatal(errOut)
	}
	id, ran := "ID", 0
	for _, line := range readmeLine.FindAllStringSubmatch(string(readme), -1) {
		args := d.words(strings.ReplaceAll(line[1], "ID", id))
		if args[1] == "revoke" {
			args = append(args, "--yes")
		}
		status, out, errOut := runWith(t, env, args...)
		if status != exitOK {
			t.Errorf("leaderboard %s: status %d, %s%s", line[1], status, out, errOut)
		}
		if made := regexp.MustCompile(`Its id is (\S+)\.`).FindStringSubmatch(out); made != nil {
			id = made[1]
		}
		if strings.Contains(line[1], "--all") && !strings.Contains(out, "\ndemo ") {
			t.Errorf("leaderboard %s: %s", line[1], out)
		}
		ran++
	}
	for _, span := range readmeSpan.FindAllStringSubmatch(string(readme), -1) {
		if span[1] != "help" && (&program{}).root().Command(span[1]) == nil {
			t.Errorf("there is no command %s", span[0])
		}
	}
	if ran < 5 {
		t.Errorf("the documents have %d commands", ran)
	}
}

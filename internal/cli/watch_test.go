package cli

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"leaderboard/internal/terminal"
)

// TestWatch: each page is printed, as a table or as a line of JSON. The command ends with the stream.
func TestWatch(t *testing.T) {
	t.Parallel()
	var asked []string
	url, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("event: page\ndata: {\"board\":\"b\",\"mode\":\"strict\",\"entries\":[]}\n\n"))
		for _, member := range []string{"ada", "bob"} {
			_, _ = w.Write([]byte("event: page\ndata: {\"board\":\"b\",\"mode\":\"strict\",\"entries\":[{\"rank\":1,\"member\":\"" + member + "\",\"score\":7}]}\n\n"))
		}
		if r.URL.Query().Get("passed") == "true" {
			_, _ = w.Write([]byte("id: evt_1\nevent: passed\ndata: {\"member\":\"m\",\"score\":2,\"by\":{\"member\":\"ada\",\"previous_score\":1,\"score\":3}}\n\n"))
		}
		_, _ = w.Write([]byte("event: gone\ndata: {\"type\":\"/problems/board-not-found\",\"status\":404,\"title\":\"No such board\",\"detail\":\"It is gone.\"}\n\n"))
	})
	for _, c := range []struct {
		args []string
		url  string
		want []string
	}{
		{[]string{"watch", "b", "--limit", "3"}, "/v1/boards/b/stream?limit=3", []string{"RANK", "ada", "bob"}},
		{[]string{"watch", "b", "m", "--around", "2", "--mode", "tied"}, "/v1/boards/b/stream?after=2&before=2&member=m&mode=tied", []string{"m is not ranked.", "ada", "bob"}},
		{[]string{"watch", "b", "m", "--notices"}, "/v1/boards/b/stream?after=5&before=5&member=m&passed=true", []string{"m is not ranked.", "ada passed m: from 1 to 3, ahead of 2."}},
		{[]string{"watch", "b", "m", "--notices", "--json"}, "/v1/boards/b/stream?after=5&before=5&member=m&passed=true", []string{`"member":"ada"`, `{"passed":{"member":"m",`}},
		{[]string{"watch", "b", "--json"}, "/v1/boards/b/stream?limit=10", []string{`"member":"ada"`, "\n", `"member":"bob"`}},
	} {
		asked = nil
		status, out, errOut := runWith(t, nil, append(c.args, "--url", url)...)
		if status != exitFailed || !strings.Contains(errOut, "It is gone.") || len(asked) != 1 || asked[0] != c.url {
			t.Errorf("%v: status %d, asked for %v, %q", c.args, status, asked, errOut)
		}
		for _, want := range c.want {
			at := strings.Index(out, want)
			if at < 0 {
				t.Fatalf("%v prints %q, without %q", c.args, out, want)
			}
			out = out[at:]
		}
	}
	if status, _, errOut := runWith(t, nil, "watch"); status != exitUsage || !strings.Contains(errOut, "want a board") {
		t.Errorf("without a board: %d, %q", status, errOut)
	}
	if status, _, errOut := runWith(t, nil, "watch", "b", "--notices"); status != exitUsage || !strings.Contains(errOut, "--notices needs a MEMBER") {
		t.Errorf("--notices without a member: %d, %q", status, errOut)
	}
}

// TestWatchOnTerminal: on a terminal each page is drawn over the one before, as wide as the terminal, and shows which members have
// moved. Watching continues when the server comes back.
func TestWatchOnTerminal(t *testing.T) {
	t.Parallel()
	const problem = `{"title":"The server is busy","detail":"It has too much to do.","status":503}`
	page := func(first, second string) string {
		return `event: page` + "\n" + `data: {"board":"b","period":"all_time","mode":"strict","entries":[{"rank":1,"member":"` + first +
			`","score":7},{"rank":2,"member":"` + second + `","score":7}]}` + "\nretry: 1\n\n"
	}
	streams := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(text))
		}
	}
	url, _ := answering(t, streams(page("ada", "日本語")), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(problem))
	}, streams(page("日本語", "ada")+"event: gone\ndata: {\"type\":\"/problems/board-not-found\",\"status\":404,\"detail\":\"It is gone.\"}\n\n"))
	var out, errOut bytes.Buffer
	screen := &terminal.Screen{Writer: &out, Size: func() (int, int) { return 74, 10 }, Colour: true}
	status := run(t.Context(), []string{"leaderboard", "watch", "b", "--url", url}, stdio{strings.NewReader(""), screen, &errOut}, func(string) string { return "" })
	if status != exitFailed || !strings.Contains(errOut.String(), "It is gone.") || strings.Contains(errOut.String(), "again") {
		t.Fatalf("status %d, %q", status, &errOut)
	}
	drawings := strings.Split(out.String(), "\x1b[H")
	if len(drawings) != 4 {
		t.Fatalf("%d drawings: %q", len(drawings)-1, &out)
	}
	for i, want := range [][]string{
		nil,
		{"MOVED\x1b[0m", "1     ada     7", "0001-01-01T00:00:00.000000Z  -\x1b[K", "strict, seq 0 as of 0001-01-01T00:00:00.000000Z, f…"},
		{"the server answered 503: It has too much to do; asking again in "},
		{"\x1b[32m1     日本語  7", "▲1\x1b[0m\x1b[K", "\x1b[31m2     ada     7", "▼1"},
	} {
		for _, text := range want {
			if !strings.Contains(drawings[i], text) {
				t.Errorf("drawing %d is without %q: %q", i, text, drawings[i])
			}
		}
	}
	if strings.Contains(drawings[3], "503") || !strings.Contains(drawings[3], "\x1b[?1049l") {
		t.Errorf("the last one is %q", drawings[3])
	}
}

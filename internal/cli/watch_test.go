package cli

import (
	"net/http"
	"strings"
	"testing"
)

// TestWatch: each page is printed, as a table or as a line of JSON, and the end of the stream is the end of the command.
func TestWatch(t *testing.T) {
	t.Parallel()
	var asked []string
	url, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		w.Header().Set("Content-Type", "text/event-stream")
		for _, member := range []string{"ada", "bob"} {
			_, _ = w.Write([]byte("event: page\ndata: {\"board\":\"b\",\"mode\":\"strict\",\"entries\":[{\"rank\":1,\"member\":\"" + member + "\",\"score\":7}]}\n\n"))
		}
		_, _ = w.Write([]byte("event: gone\ndata: {\"type\":\"/problems/board-not-found\",\"status\":404,\"title\":\"No such board\",\"detail\":\"It is gone.\"}\n\n"))
	})
	for _, c := range []struct {
		args []string
		url  string
		want []string
	}{
		{[]string{"watch", "b", "--limit", "3"}, "/v1/boards/b/stream?limit=3", []string{"RANK", "ada", "bob"}},
		{[]string{"watch", "b", "m", "--around", "2", "--mode", "tied"}, "/v1/boards/b/stream?after=2&before=2&member=m&mode=tied", []string{"ada", "bob"}},
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
}

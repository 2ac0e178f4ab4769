package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leaderboard/client"
	"leaderboard/internal/transfer"
)

const exportHead = "strict_rank,tied_rank,member,score,tiebreak,created_time\n"

// exporting answers with the state of an export of total entries, then with body; cut breaks the connection off.
func exporting(total, body string, cut bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Leaderboard-Total", total)
		w.Header().Set("Leaderboard-Seq", "7")
		w.Header().Set("Leaderboard-As-Of", "2026-11-20T11:00:00.000000Z")
		_, _ = w.Write([]byte(body))
		if cut {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}
}

func TestExportWritesWholeFilesOnly(t *testing.T) {
	body := exportHead + "1,1,\"line\nfeed \"\" quote\",5,0,2026-11-20T11:00:00.000000Z\n2,2,b,4,0,2026-11-20T11:00:00.000000Z\n"
	file := filepath.Join(t.TempDir(), "demo.csv")
	url, _ := answering(t, exporting("2", body, false))
	status, out, errOut := runWith(t, nil, "export", "--url", url, "--output", file, "b")
	if status != exitOK || !strings.HasPrefix(out, "2 entries of b at seq 7 are in "+file) {
		t.Fatalf("status %d, %q, %q", status, out, errOut)
	}
	for name, answer := range map[string]http.HandlerFunc{
		"broken off":      exporting("2", exportHead+"1,1,a,5,0,", true),
		"broken at a row": exporting("2", exportHead+"1,1,a,5,0,2026-11-20T11:00:00.000000Z\n", true),
		"short":           exporting("3", body, false),
		"long":            exporting("1", body, false),
		"not ours":        func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"a problem":       problemAnswer(503, `{"title":"The server is busy"}`),
	} {
		url, _ := answering(t, answer)
		if status, out, errOut := runWith(t, nil, "export", "--url", url, "--output", file, "b"); status != exitFailed || out != "" || errOut == "" {
			t.Errorf("%s: status %d, %q, %q", name, status, out, errOut)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != body {
			t.Errorf("%s: the file that was there is %q, %v", name, got, err)
		}
		if _, err := os.Stat(file + ".part"); !os.IsNotExist(err) {
			t.Errorf("%s: a part is left: %v", name, err)
		}
	}
	if status, out, _ := runWith(t, nil, "export", "--url", url, "b"); status != exitOK || out != body {
		t.Errorf("to standard output: status %d, %q", status, out)
	}
	if status, out, _ := runWith(t, nil, "export", "--url", url, "--output", file, "--json", "b"); status != exitOK ||
		!strings.HasPrefix(out, `{"board":"b","file":"`+file+`","format":"csv","entries":2,"seq":7,"as_of":"2026-11-20T11:00:00.000000Z"`) {
		t.Errorf("as JSON: status %d, %q", status, out)
	}
}

func TestExportStalls(t *testing.T) {
	url, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		exporting("2", exportHead, false)(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // until the client has had enough
	})
	status, _, errOut := runWith(t, nil, "export", "--url", url, "--timeout", "3s", "b")
	if status != exitFailed || !strings.Contains(errOut, "0 of 2 entries") || !strings.Contains(errOut, "--timeout") {
		t.Errorf("status %d, %q", status, errOut)
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct{ given, file, want string }{
		{"", "", client.FormatCSV},
		{"", "-", client.FormatCSV},
		{"", "a.csv", client.FormatCSV},
		{"", "a.txt", client.FormatCSV},
		{"", "a.JSONL", client.FormatJSONL},
		{"", "a.ndjson", client.FormatJSONL},
		{"csv", "a.jsonl", client.FormatCSV},
		{"jsonl", "a.csv", client.FormatJSONL},
	} {
		if got := transfer.FormatOf(c.given, c.file); got != c.want {
			t.Errorf("%q of %q is %s, want %s", c.given, c.file, got, c.want)
		}
	}
}

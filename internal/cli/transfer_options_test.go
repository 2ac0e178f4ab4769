package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leaderboard/client"
	"leaderboard/internal/transfer"
)

// TestEveryExportIsImported: an export in either format, with any options, is read by the import, and makes a board with the same entries. Rules
// with numbers in quotes, as the API shows them with numbers=string, are taken back by it.
func TestEveryExportIsImported(t *testing.T) {
	t.Parallel()
	tr := startTransferring(t)
	const rules = `{"metadata":{"max_bytes":100},"limits":{"max_score":9223372036854775807,"min_score":-9223372036854775808},"tiebreak":{"fields":[{"name":"level","bits":40},{"name":"score","bits":22}]}}`
	tr.Ask(201, "PUT", "/v1/boards/all", rules)
	tr.Ask(200, "POST", "/v1/boards/all/scores", `{"entries":[{"member":"\ufeffbom","score":9223372036854775807,"fields":{"level":1099511627775,"score":4194303},"metadata":{"score":1.50,"t":"a,\"b"}},
		{"member":"=1","score":-9223372036854775808,"fields":{"level":0,"score":1}},{"member":"'=1","score":9007199254740993,"fields":{"level":7,"score":2}},{"member":" a,\"b; ","score":0,"fields":{"level":7,"score":0}}]}`)
	_, shown := tr.Fresh("/v1/boards/all?numbers=string")
	tr.Ask(200, "PUT", "/v1/boards/all", string(shown))
	export := func(board, query string) string {
		_, body := tr.Fresh("/v1/boards/" + board + "/export?" + query)
		return string(body)
	}
	n := 0
	for _, format := range []string{client.FormatCSV, client.FormatJSONL} {
		for _, raw := range []string{"false", "true"} {
			for _, metadata := range []string{"false", "true"} {
				for _, numbers := range []string{"number", "string"} {
					n++
					board, query := fmt.Sprint("copy-", n), fmt.Sprintf("format=%s&raw=%s&metadata=%s&numbers=%s", format, raw, metadata, numbers)
					tr.Ask(201, "PUT", "/v1/boards/"+board, rules)
					args := []string{board, tr.file(board+"."+format, export("all", query))}
					if raw == "true" {
						args = append(args, "--raw")
					}
					if done := tr.imported(exitOK, args...); done.Applied != 4 || done.New != 4 || done.Refused != 0 {
						t.Errorf("%s: %+v", query, done)
					}
					same := "format=jsonl&metadata=" + metadata
					if got, want := export(board, same), export("all", same); got != want {
						t.Errorf("%s: got\n%swant\n%s", query, got, want)
					}
				}
			}
		}
	}
}

// TestImportTellsReplays: entries that an earlier request counted are reported separately: for another file with the same content,
// and for a file that begins with the same lines.
func TestImportTellsReplays(t *testing.T) {
	t.Parallel()
	tr := startTransferring(t)
	tr.Ask(201, "PUT", "/v1/boards/sums", `{"policy":"sum","limits":{"max_delta":100}}`)
	content := "member,score\nada,1\nbob,2\nada,3\ncyd,1000\n"
	batch := []string{"--batch", "3"}
	type counts struct{ applied, replayed, refused, fresh int64 }
	steps := []struct {
		file, content, line string
		want                counts
	}{
		{"one.csv", content, "3 applied, 0 unchanged, 1 refused", counts{3, 0, 1, 2}},
		{"two.csv", content, "0 applied, 0 unchanged, 1 refused, 3 counted before by an earlier request", counts{0, 3, 1, 0}},
		{"longer.csv", content + "dan,5\n", "1 applied, 0 unchanged, 1 refused, 3 counted before by an earlier request", counts{1, 3, 1, 1}},
	}
	for _, s := range steps {
		args := slices.Concat([]string{"sums", tr.file(s.file, s.content)}, batch)
		done := tr.imported(exitRefused, args...)
		if got := (counts{done.Applied, done.Replayed, done.Refused, done.New}); got != s.want || done.Entries != int64(strings.Count(s.content, "\n"))-1 {
			t.Errorf("%s: %+v, want %+v", s.file, done, s.want)
		}
		if again := tr.imported(exitRefused, args...); again.Sent != 0 || again.Replayed != done.Replayed || again.Applied != done.Applied {
			t.Errorf("%s once more: %+v", s.file, again)
		}
		if line := (&transfer.Imported{File: s.file, Board: "sums", Applied: done.Applied, Refused: done.Refused, Replayed: done.Replayed}).Line(); !strings.Contains(line, s.line) {
			t.Errorf("%s: %s", filepath.Base(s.file), line)
		}
	}
	if got := tr.Ask(200, "GET", "/v1/boards/sums/members/ada", "").Text("score"); got != "4" {
		t.Errorf("ada has %s", got)
	}
}

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/internal/transfer"
	"leaderboard/leaderboard"
)

// transferring is an app and a folder for files, with the command line pointed at both.
type transferring struct {
	*apptest.Server
	dir string
}

func startTransferring(t *testing.T, redisURL ...string) *transferring {
	t.Helper()
	return &transferring{serving(t, redisURL...), t.TempDir()}
}

// file returns the path of a file in the folder, with this content unless it is "".
func (tr *transferring) file(name, content string) string {
	tr.T.Helper()
	path := filepath.Join(tr.dir, name)
	if content != "" {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			tr.T.Fatal(err)
		}
	}
	return path
}

// read returns the content of a file in the folder, "" without one.
func (tr *transferring) read(name string) string {
	tr.T.Helper()
	content, err := os.ReadFile(filepath.Join(tr.dir, name))
	if err != nil && !os.IsNotExist(err) {
		tr.T.Fatal(err)
	}
	return string(content)
}

// run runs a command as an admin and checks its exit status.
func (tr *transferring) run(want int, args ...string) (out, errOut string) {
	tr.T.Helper()
	status, out, errOut := runWith(tr.T, map[string]string{"LEADERBOARD_URL": tr.URL, "LEADERBOARD_KEY": apptest.AdminKey}, args...)
	if status != want {
		tr.T.Fatalf("%v: status %d, want %d: %s%s", args, status, want, out, errOut)
	}
	return out, errOut
}

// imported runs an import and returns its output.
func (tr *transferring) imported(want int, args ...string) transfer.Imported {
	tr.T.Helper()
	out, _ := tr.run(want, append([]string{"import", "--json"}, args...)...)
	var view transfer.Imported
	if err := json.Unmarshal([]byte(out), &view); err != nil {
		tr.T.Fatal(err)
	}
	return view
}

// scores returns the entries of a board in MySQL, best first.
func (tr *transferring) scores(board string) string {
	tr.T.Helper()
	out, _ := tr.run(exitOK, "export", board)
	var all []string
	for _, line := range strings.Split(strings.TrimSpace(out), "\n")[1:] {
		columns := strings.Split(line, ",")
		all = append(all, columns[2]+"="+columns[3])
	}
	return strings.Join(all, " ")
}

// importedEntry is an entry of a file.
type importedEntry struct {
	Member   string           `json:"member"`
	Score    int64            `json:"score"`
	Tiebreak *int64           `json:"tiebreak,omitempty"`
	Fields   map[string]int64 `json:"fields,omitempty"`
}

// TestExportImportExport: a board is exported, imported into a new board and exported from there. Both files have the same bytes,
// in both formats, with members that need quoting, ties, tiebreaks and fields.
func TestExportImportExport(t *testing.T) {
	t.Parallel()
	tr := startTransferring(t)
	for name, rules := range map[string]string{
		"plain":  `{"order":"asc","policy":"sum","tiebreak":{"order":"asc"}}`,
		"fields": `{"tiebreak":{"fields":[{"name":"level","bits":20},{"name":"deaths","bits":16,"order":"asc"}]}}`,
	} {
		tr.Ask(http.StatusCreated, "PUT", "/v1/boards/"+name, rules)
		var in bytes.Buffer
		encoder := json.NewEncoder(&in)
		odd := []string{"a,b", `"`, `""`, " ", "\ufeff", "日本", "\u200d", strings.Repeat(`\`, 64), "=1", "<&>", "'=1", "''=1", "'", "'a", "+1", "-1", "@SUM(1)", "'-", "＝1", "=1,2\""}
		for i := range 2500 {
			e := importedEntry{Member: fmt.Sprintf("m%04d", i), Score: int64(i * 7919 % 100)}
			if i < len(odd) {
				e.Member, e.Score = odd[i], -e.Score<<40
			}
			if name == "fields" {
				e.Fields = map[string]int64{"level": int64(i % 5), "deaths": int64(i % 7)}
			} else {
				tiebreak := int64(-i % 3)
				e.Tiebreak = &tiebreak
			}
			if err := encoder.Encode(e); err != nil {
				t.Fatal(err)
			}
		}
		if v := tr.imported(exitOK, name, tr.file(name+".jsonl", in.String())); v.Applied != 2500 || v.Entries != 2500 || v.Sent != 2500 {
			t.Fatalf("%+v", v)
		}
		for _, format := range []string{client.FormatCSV, client.FormatJSONL} {
			again := name + "-" + format
			tr.Ask(http.StatusCreated, "PUT", "/v1/boards/"+again, rules)
			first, second := tr.file("1."+again+"."+format, ""), tr.file("2."+again+"."+format, "")
			tr.run(exitOK, "export", name, "--output", first)
			if v := tr.imported(exitOK, again, first); v.Applied != 2500 {
				t.Errorf("%+v", v)
			}
			if format == client.FormatCSV {
				tr.rawRoundTrip(name, again, rules)
			}
			tr.run(exitOK, "export", again, "--output", second)
			one, two := tr.read(filepath.Base(first)), tr.read(filepath.Base(second))
			if one != two || strings.Count(one, "\n") < 2500 {
				t.Errorf("%s: exported\n%.500s\nand again\n%.500s", again, one, two)
			}
		}
	}
}

// rawRoundTrip moves a board by a file in which formulas are not quoted.
func (tr *transferring) rawRoundTrip(name, quoted, rules string) {
	tr.T.Helper()
	tr.Ask(http.StatusCreated, "PUT", "/v1/boards/"+name+"-raw", rules)
	file := tr.file("raw."+name+".csv", "")
	tr.run(exitOK, "export", name, "--raw", "--output", file)
	tr.run(exitOK, "import", name+"-raw", file, "--raw")
	var at [2]string
	for i, board := range []string{name + "-raw", quoted} {
		raw := tr.file(board+".out", "")
		tr.run(exitOK, "export", board, "--raw", "--format", "csv", "--output", raw)
		at[i] = tr.read(filepath.Base(raw))
	}
	if raw := tr.read(filepath.Base(file)); at[0] != raw || at[1] != raw || !strings.Contains(raw, ",=1,") || strings.Contains(tr.read("1."+quoted+".csv"), ",=1,") {
		tr.T.Errorf("%s: exported\n%.500s\nand again\n%.500s\nand from the quoted file\n%.500s", name, raw, at[0], at[1])
	}
}

// TestImportTwice: an import that is repeated changes nothing, with its progress and without it.
func TestImportTwice(t *testing.T) {
	t.Parallel()
	tr := startTransferring(t)
	tr.Ask(http.StatusCreated, "PUT", "/v1/boards/sums", `{"policy":"sum","limits":{"max_score":50}}`)
	content := "member,score\na,1\nb,2\na,3\nbad,x\nc,51\na,5\n"
	file := tr.file("scores.csv", content)
	sums := func(want string) {
		t.Helper()
		if got := tr.scores("sums"); got != want {
			t.Fatalf("%v, want %s", got, want)
		}
	}
	report := "line,code,detail\n5,malformed-line,\"score \"\"x\"\": want a whole number from -9223372036854775808 to 9223372036854775807\"\n" +
		"6,score-out-of-range,score 51 is above the board's max_score 50\n"
	first := tr.imported(exitRefused, "sums", file, "--batch", "2")
	if first.Applied != 4 || first.Refused != 2 || first.Sent != 6 || first.Report != file+".refused" || tr.read("scores.csv.refused") != report {
		t.Fatalf("%+v\n%s", first, tr.read("scores.csv.refused"))
	}
	sums("a=9 b=2")
	// With its progress: nothing is sent, and the batches have the sizes of the first run.
	if v := tr.imported(exitRefused, "sums", file); v.Sent != 0 || v.Applied != 4 || tr.read("scores.csv.refused") != report {
		t.Errorf("%+v", v)
	}
	// Without it everything is sent again, under the same keys.
	if err := os.Remove(file + ".progress"); err != nil {
		t.Fatal(err)
	}
	if v := tr.imported(exitRefused, "sums", file, "--batch", "2"); v.Sent != 6 || v.Applied != 0 || v.Replayed != 4 || v.Seq != first.Seq || tr.read("scores.csv.refused") != report {
		t.Errorf("%+v", v)
	}
	if v := tr.imported(exitRefused, "sums", file, "--batch", "2", "--restart"); v.Sent != 6 {
		t.Errorf("%+v", v)
	}
	sums("a=9 b=2")
	// From standard input it is the same.
	for range 2 {
		var out, errOut bytes.Buffer
		env := map[string]string{"LEADERBOARD_URL": tr.URL, "LEADERBOARD_KEY": apptest.AdminKey}
		status := run(t.Context(), []string{"leaderboard", "import", "--batch", "2", "sums", "-"},
			stdio{strings.NewReader(content), &out, &errOut}, func(name string) string { return env[name] })
		if status != exitRefused || !strings.Contains(errOut.String(), "line 6: score 51") {
			t.Errorf("%d %s", status, &errOut)
		}
	}
	sums("a=9 b=2")
	// Under another key it is another import, on purpose.
	if v := tr.imported(exitRefused, "sums", file, "--restart", "--idempotency-key", "again"); v.Sent != 6 {
		t.Errorf("%+v", v)
	}
	sums("a=18 b=4")
}

// TestImportGoesOn: lines that are added after a complete import are imported alone.
func TestImportGoesOn(t *testing.T) {
	t.Parallel()
	tr := startTransferring(t)
	tr.Ask(http.StatusCreated, "PUT", "/v1/boards/sums", `{"policy":"sum"}`)
	content := "member,score\na,1\nb,x\n"
	file := tr.file("scores.csv", content)
	tr.imported(exitRefused, "sums", file)
	tr.file("scores.csv", content+"a,2\nb,y\n")
	if v := tr.imported(exitRefused, "sums", file); v.Sent != 2 || v.Applied != 2 || v.Refused != 2 || strings.Count(tr.read("scores.csv.refused"), "\n") != 3 {
		t.Errorf("%+v\n%s", v, tr.read("scores.csv.refused"))
	}
	if got := tr.scores("sums"); got != "a=3" {
		t.Error(got)
	}
	// A last line without its end may be a line that is not finished.
	tr.file("scores.csv", content+"a,2\nb,y\na,5")
	tr.imported(exitRefused, "sums", file)
	tr.file("scores.csv", content+"a,2\nb,y\na,50\n")
	_, errOut := tr.run(exitFailed, "import", "sums", file)
	if !strings.Contains(errOut, "has changed in the part that was imported, ahead of line 6") || !strings.Contains(errOut, "--restart") {
		t.Errorf("%s", errOut)
	}
}

// TestImportRefusesToGoOn: an import fails if it would count an entry twice or not at all.
func TestImportRefusesToGoOn(t *testing.T) {
	t.Parallel()
	tr := startTransferring(t)
	for _, board := range []string{"one", "two"} {
		tr.Ask(http.StatusCreated, "PUT", "/v1/boards/"+board, `{"policy":"sum"}`)
	}
	content := "member,score\na,1\nb,2\n"
	file := tr.file("scores.csv", content)
	tr.imported(exitOK, "one", file)
	refused := func(want string, args ...string) {
		t.Helper()
		if _, errOut := tr.run(exitFailed, append([]string{"import"}, args...)...); !strings.Contains(errOut, want) {
			t.Errorf("%v: %s", args, errOut)
		}
	}
	refused("is the progress of an import into one; name another file with --progress", "two", file)
	tr.imported(exitOK, "two", file, "--progress", tr.file("two.progress", ""))
	refused("under the API key env:admin, and this is env:write", "one", file, "--key", apptest.WriteKey)
	refused("another --format or --idempotency-key", "one", file, "--idempotency-key", "k")
	refused("another --format or --idempotency-key", "one", file, "--format", "jsonl")
	for name, changed := range map[string]string{"changed": "member,score\na,2\nb,2\n", "shorter": "member,score\na,1\n", "other columns": "score,member\na,1\nb,2\n"} {
		tr.file("scores.csv", changed)
		refused("has changed in the part that was imported", "one", file)
		if got := tr.scores("one"); got != "b=2 a=1" {
			t.Errorf("%s: %s", name, got)
		}
	}
	tr.file("scores.csv", content)
	tr.Ask(http.StatusNoContent, "DELETE", "/v1/boards/one", "")
	refused("no board is called one", "one", file)
	tr.Ask(http.StatusCreated, "PUT", "/v1/boards/one", `{"policy":"sum"}`)
	refused("into a board one that was made at", "one", file)
	if v := tr.imported(exitOK, "one", file, "--restart"); v.Applied != 2 {
		t.Errorf("%+v", v)
	}
	for _, broken := range []string{"{", "{}", `{"version":1}`} {
		tr.file("scores.csv.progress", broken)
		refused("is not the progress of an import", "one", file)
	}
	refused("is no report of refused lines", "two", file, "--progress", tr.file("p", ""), "--refused", file)
	if tr.read("scores.csv") != content {
		t.Error("the file was taken for a report")
	}
	refused("open the file", "one", tr.file("nowhere.csv", ""))
	refused("it is empty", "one", "--progress", tr.file("p", ""), os.DevNull)
}

// TestExportUnderWrites: an export is exact at the seq that it names, while the board is written to. Every change adds one to a
// score, so the sum of the scores is the seq.
func TestExportUnderWrites(t *testing.T) {
	t.Parallel()
	tr := startTransferring(t)
	tr.Ask(http.StatusCreated, "PUT", "/v1/boards/sums", `{"policy":"sum"}`)
	writer, err := client.New(tr.URL, client.WithKey(apptest.WriteKey))
	if err != nil {
		t.Fatal(err)
	}
	const members, per = 3000, 500
	round := func(r int) error {
		entries := make([]leaderboard.Submission, per)
		for i := range entries {
			entries[i] = leaderboard.Submission{Member: fmt.Sprintf("m%d", (r*per*7+i*13)%members), Score: 1}
		}
		_, err := writer.Submit(t.Context(), "sums", entries)
		return err
	}
	for r := range 12 {
		if err := round(r); err != nil {
			t.Fatal(err)
		}
	}
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for r := 12; ; r++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
				if err := round(r); err != nil {
					done <- err
					return
				}
			}
		}
	}()
	seqs := map[int64]bool{}
	for range 12 {
		file := tr.file("sums.csv", "")
		out, _ := tr.run(exitOK, "export", "sums", "--output", file, "--json")
		var view transfer.Exported
		if err := json.Unmarshal([]byte(out), &view); err != nil {
			t.Fatal(err)
		}
		seqs[view.Seq] = true
		checkStandings(t, tr.read("sums.csv"), view)
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(seqs) < 3 {
		t.Errorf("the exports are of %d states only: nothing was written meanwhile", len(seqs))
	}
}

// checkStandings compares an export of increments by one with the state that it names.
func checkStandings(t *testing.T, csv string, view transfer.Exported) {
	t.Helper()
	lines, sum := strings.Split(strings.TrimSuffix(csv, "\n"), "\n")[1:], int64(0)
	var score, tied int64
	var created string
	for i, line := range lines {
		f := strings.Split(line, ",")
		n, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if n != score {
			tied = int64(i + 1)
		}
		if ordered := i == 0 || n < score || n == score && created < f[5]; !ordered || f[0] != fmt.Sprint(i+1) || f[1] != fmt.Sprint(tied) {
			t.Fatalf("line %d, after score %d of %s: %s", i+2, score, created, line)
		}
		score, created, sum = n, f[5], sum+n
	}
	if sum != view.Seq || int64(len(lines)) != view.Entries {
		t.Errorf("%d entries with the sum %d, the export says %+v", len(lines), sum, view)
	}
}

// TestExportLeavesOutHidden: the ranks below a hidden member close up in the file too.
func TestExportLeavesOutHidden(t *testing.T) {
	t.Parallel()
	tr := startTransferring(t)
	tr.Ask(http.StatusCreated, "PUT", "/v1/boards/demo", `{}`)
	tr.imported(exitOK, "demo", tr.file("scores.csv", "member,score\na,3\ncheat,2\nb,1\n"))
	tr.Ask(http.StatusOK, "PUT", "/v1/boards/demo/members/cheat/hidden", `{"reason":"a script"}`)
	if out, _ := tr.run(exitOK, "export", "demo"); strings.Contains(out, "cheat") || !strings.Contains(out, "\n2,2,b,1,") {
		t.Error(out)
	}
}

// TestImportGoesOnBehindALine: a last line without a line end is imported like one with it. A file whose last line gets its line
// end later counts as the same file.
func TestImportGoesOnBehindALine(t *testing.T) {
	t.Parallel()
	tr := startTransferring(t)
	for i, step := range []struct{ head, first, then string }{
		{"member,score\n", "a,1", "\nb,2\n"},
		{"member,score\r\n", "a,1", "\r\nb,2\r\n"},
		{"member,score\r\n", "a,1\r", "\nb,2"},
		{"member,score", "", "\na,1\nb,2\n"},
		{"", `{"member":"a","score":1}`, "\n" + `{"member":"b","score":2}`},
	} {
		board := fmt.Sprint("sums", i)
		tr.Ask(http.StatusCreated, "PUT", "/v1/boards/"+board, `{"policy":"sum"}`)
		format := client.FormatCSV
		if step.head == "" {
			format = client.FormatJSONL
		}
		name := board + "." + format
		file := tr.file(name, step.head+step.first)
		before := tr.imported(exitOK, board, file)
		tr.file(name, step.head+step.first+step.then)
		v := tr.imported(exitOK, board, file)
		if got := tr.scores(board); got != "b=2 a=1" || before.Applied+v.Sent != 2 {
			t.Errorf("%d: %s, %+v", i, got, v)
		}
		// The line end alone changes nothing either, though it is all sent again.
		whole := tr.file("whole-"+name, step.head+step.first)
		tr.imported(exitOK, board, whole, "--idempotency-key", "whole")
		want := tr.scores(board)
		tr.file("whole-"+name, step.head+step.first+"\n")
		tr.imported(exitOK, board, whole, "--restart", "--idempotency-key", "whole")
		if got := tr.scores(board); got != want {
			t.Errorf("%d: %s after the line end, want %s", i, got, want)
		}
	}
	file := tr.file("returns.csv", "member,score\r\na,1\r")
	tr.imported(exitOK, "sums0", file)
	tr.file("returns.csv", "member,score\r\na,1\r\r\nb,2\r\n")
	if _, errOut := tr.run(exitFailed, "import", "sums0", file); !strings.Contains(errOut, "has changed") {
		t.Error(errOut)
	}
}

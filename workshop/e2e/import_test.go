package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// importJob is a file of amounts to add, with lines that must be refused, and the expected sums.
type importJob struct {
	file   string
	sums   map[string]int64
	lines  int64 // that count
	report string
}

const importBatch = 100

func newImportJob(t *testing.T, lines int) *importJob {
	t.Helper()
	job := &importJob{file: filepath.Join(t.TempDir(), "amounts.csv"), sums: map[string]int64{}, report: "line,code,detail\n"}
	var b strings.Builder
	b.WriteString("member,score\n")
	for i := range lines {
		if i%50 == 7 {
			b.WriteString("m00\n")
			job.report += fmt.Sprintf("%d,malformed-line,\"has 1 fields, want 2\"\n", i+2)
			continue
		}
		amount := int64(1 + i%97)
		if i%50 == 9 {
			amount = 1000
			job.report += fmt.Sprintf("%d,delta-out-of-range,a change by 1000 is above the board's max_delta 100\n", i+2)
		} else {
			job.sums[fmt.Sprintf("m%02d", i%16)] += amount
			job.lines++
		}
		fmt.Fprintf(&b, "m%02d,%d\n", i%16, amount)
	}
	if err := os.WriteFile(job.file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return job
}

// start begins to import.
func (job *importJob) start(t *testing.T, name string, r *relay) *process {
	t.Helper()
	return start(t, name, []string{"LEADERBOARD_URL=" + r.url, "LEADERBOARD_KEY=" + adminKey},
		"import", "sums", job.file, "--json", "--batch", fmt.Sprint(importBatch))
}

// check compares the board with the expected sums, in which each line counts exactly once.
func (job *importJob) check(t *testing.T, w *world, p *process) {
	t.Helper()
	if status := p.awaitExit(t); status.ExitStatus() != 3 {
		t.Fatalf("the import ended with %d: %s", status.ExitStatus(), p.err.text())
	}
	var view struct{ Applied, Replayed, Refused int64 }
	said := p.out.awaitEnd(t)
	if err := json.Unmarshal([]byte(said), &view); err != nil || view.Applied+view.Replayed != job.lines {
		t.Errorf("%v: %s, want %d applied", err, said, job.lines)
	}
	if got := w.scores(t, "sums"); !maps.Equal(got, job.sums) {
		t.Errorf("the sums in MySQL are %v, the file makes %v", got, job.sums)
	}
	var seq int64
	w.queryRow(t, "SELECT last_seq FROM periods", &seq)
	if seq != job.lines {
		t.Errorf("MySQL is at seq %d, want %d", seq, job.lines)
	}
	if report, err := os.ReadFile(job.file + ".refused"); err != nil || string(report) != job.report {
		t.Errorf("the report of refused lines is\n%s%v, want\n%s", report, err, job.report)
	}
}

func serveSums(t *testing.T, w *world, name string) *server {
	t.Helper()
	s := w.serve(t, name)
	if name == "server 0" {
		s.putBoard(t, "sums", leaderboard.Rules{Policy: leaderboard.PolicySum, Limits: leaderboard.Limits{MaxDelta: new(int64(100))}})
	}
	return s
}

// TestImportKilled kills the import with -9 again and again: before the server gets a batch, and after the server has
// counted one, before the import gets the answer. The next run continues, and each line counts once, also when the progress
// is lost at the end.
func TestImportKilled(t *testing.T) {
	t.Parallel()
	w := worldOn(t, newWorld(t).dsn, "")
	r := newRelay(t, serveSums(t, w, "server 0"))
	job := newImportJob(t, 1500)
	runs := 0
	next := func() *process {
		runs++
		return job.start(t, fmt.Sprintf("import %d", runs), r)
	}
	for i := range int64(6) {
		if i%2 == 0 {
			r.holdAnswer.Store(r.answers.Load() + 1 + i)
		} else {
			r.holdRequest.Store(r.requests.Load() + 1 + i%3)
		}
		p := next()
		await(t, r.held, "a batch is held back")
		p.kill9(t)
	}
	job.check(t, w, next())
	sent := r.requests.Load()
	job.check(t, w, next())
	if r.requests.Load() != sent {
		t.Error("an import that is complete was sent again")
	}
	if err := os.Remove(job.file + ".progress"); err != nil {
		t.Fatal(err)
	}
	job.check(t, w, next())
	if r.requests.Load() == sent {
		t.Error("an import without progress was not sent again")
	}
}

// TestImportOutlivesServers kills servers with -9 under one import, after they have counted a batch and before they answer.
// The import continues at the next server, and each line counts once.
func TestImportOutlivesServers(t *testing.T) {
	t.Parallel()
	w := worldOn(t, newWorld(t).dsn, "")
	s := serveSums(t, w, "server 0")
	r := newRelay(t, s)
	job := newImportJob(t, 1500)
	r.holdAnswer.Store(2)
	p := job.start(t, "import", r)
	for i := range 3 {
		await(t, r.held, "an answer is held back")
		s.kill9(t)
		s = serveSums(t, w, fmt.Sprintf("server %d", i+1))
		r.to(t, s)
		if i < 2 {
			r.holdAnswer.Store(r.answers.Load() + 3)
		}
		r.lose <- struct{}{}
	}
	job.check(t, w, p)
}

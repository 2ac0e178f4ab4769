package transfer

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReportIsPutRight: after a kill the report may be shorter than the progress says, or longer. The next run corrects it.
func TestReportIsPutRight(t *testing.T) {
	file := filepath.Join(t.TempDir(), "refused")
	r := importReport{name: file}
	if err := r.add([]rejectedLine{{2, "a", "one"}, {3, "b", "two, \"three\""}}); err != nil {
		t.Fatal(err)
	}
	size := r.size
	if err := r.add([]rejectedLine{{5, "c", "not in the progress"}}); err != nil {
		t.Fatal(err)
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	again := importReport{name: file}
	if err := again.open(size); err != nil {
		t.Fatal(err)
	}
	if err := again.add([]rejectedLine{{5, "c", "again"}}); err != nil {
		t.Fatal(err)
	}
	if err := again.close(); err != nil {
		t.Fatal(err)
	}
	want := "line,code,detail\n2,a,one\n3,b,\"two, \"\"three\"\"\"\n5,c,again\n"
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	empty := importReport{name: file}
	if err := empty.open(0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("a new import leaves the old report: %v", err)
	}
}

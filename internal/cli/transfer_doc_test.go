package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"leaderboard/internal/apptest"
)

var (
	docFile = regexp.MustCompile(`^<!-- file: (\S+) -->$`)
	docRate = regexp.MustCompile(`\(\d+ per second\)`)
)

// TestTransferDocument runs every command of docs/transfer.md from top to bottom, in a folder with the files that it shows,
// and compares the output.
func TestTransferDocument(t *testing.T) {
	doc, err := os.ReadFile("../../docs/transfer.md")
	if err != nil {
		t.Fatal(err)
	}
	tr := startTransferring(t)
	t.Chdir(tr.dir)
	lines, ran := strings.Split(string(doc), "\n"), 0
	for i, line := range lines {
		if file := docFile.FindStringSubmatch(line); file != nil {
			content, _, _ := strings.Cut(strings.Join(lines[i+3:], "\n"), "```") // after an empty line and the fence
			tr.file(file[1], content)
		}
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		ran++
		want := ""
		for _, l := range lines[i+1:] {
			if l == "" || l == "```" {
				break
			}
			want += l + "\n"
		}
		got := tr.shell(command)
		if docRate.ReplaceAllString(got, "") != docRate.ReplaceAllString(want, "") {
			t.Errorf("line %d: %s\n prints\n%s want\n%s", i+1, line, got, want)
		}
	}
	if ran < 8 {
		t.Errorf("the document has %d commands", ran)
	}
}

// shell runs commands with the part of a shell that the document needs.
func (tr *transferring) shell(command string) string {
	tr.T.Helper()
	command, echo := strings.CutSuffix(command, "; echo $?")
	words := strings.Fields(command)
	switch words[0] {
	case "cat":
		return tr.read(words[1])
	case "leaderboard":
		status, out, errOut := runWith(tr.T, map[string]string{"LEADERBOARD_URL": tr.URL, "LEADERBOARD_KEY": apptest.AdminKey}, words[1:]...)
		if echo {
			out += fmt.Sprintln(status)
		} else if status != exitOK {
			tr.T.Errorf("%s: status %d: %s", command, status, errOut)
		}
		return out
	}
	tr.T.Fatalf("unknown command: %s", command)
	return ""
}

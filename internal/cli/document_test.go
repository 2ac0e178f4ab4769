package cli

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// document is a page of docs whose commands are run, from top to bottom. With -update their output is written into the page.
type document struct {
	*transferring
	page string
	env  map[string]string // of its commands
	game *sql.Conn         // to the database that `mysql` asks
	ran  int
}

// startDocument reads a page and starts a server for it. Its commands run in a separate folder.
func startDocument(t *testing.T, file string, redisURL ...string) (*document, []string) {
	t.Helper()
	file, err := filepath.Abs(file) // the test may go elsewhere
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tr := startTransferring(t, redisURL...)
	return &document{transferring: tr, page: file, env: map[string]string{"LEADERBOARD_URL": tr.URL, "LEADERBOARD_KEY": apptest.AdminKey}}, strings.Split(string(content), "\n")
}

// run runs the commands and compares their output with the page.
func (d *document) run(lines []string) {
	d.T.Helper()
	var page []string
	for at := 0; at < len(lines); at++ {
		page = append(page, lines[at])
		if file := docFile.FindStringSubmatch(lines[at]); file != nil {
			content, _, _ := strings.Cut(strings.Join(lines[at+3:], "\n"), "```") // after an empty line and the fence
			d.file(file[1], content)
		}
		command, ok := strings.CutPrefix(lines[at], "$ ")
		if !ok {
			continue
		}
		d.ran++
		from := at + 1
		for at+1 < len(lines) && lines[at+1] != "" && lines[at+1] != "```" {
			at++
		}
		want := strings.Join(lines[from:at+1], "\n")
		got := d.await(command, want)
		if *update {
			want = got
		}
		if want != "" {
			page = append(page, want)
		}
		if !d.same(got, want) {
			d.T.Errorf("line %d: %s\n prints\n%s\n want\n%s", from, command, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(d.page, []byte(strings.Join(page, "\n")), 0o644); err != nil {
			d.T.Fatal(err)
		}
	}
}

// await runs a command. A reading command is repeated until it prints the page's answer, or that takes too long: an answer may be
// a moment old.
func (d *document) await(command, want string) string {
	d.T.Helper()
	reads := strings.HasPrefix(command, "leaderboard top ") || strings.HasPrefix(command, "leaderboard rank ") || strings.HasPrefix(command, "curl ") && !strings.Contains(command, " -d ")
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(50 * time.Millisecond) {
		got := d.do(command)
		if !reads || *update || d.same(got, want) || time.Now().After(deadline) {
			return got
		}
	}
}

// docDay matches the parts of output that differ from one run to the next.
var docDay = regexp.MustCompile(`\d{4}-\d\d-\d\d(T[\d:.]+Z)?|\d{4}-W\d\d|\(\d+ per second\)|, from (mysql|redis|local)`)

// same compares output with a page, except for the parts that depend on the day.
func (d *document) same(got, want string) bool {
	d.T.Helper()
	got, want = docDay.ReplaceAllString(got, "…"), docDay.ReplaceAllString(want, "…")
	if strings.HasPrefix(got, "{\"") && strings.HasPrefix(want, "{") && !strings.Contains(got, "\n") {
		return reflect.DeepEqual(apptest.Comparable(d.T, []byte(got)), apptest.Comparable(d.T, []byte(want)))
	}
	return got == want
}

// do does the part of a shell that the pages need, and returns the output without its last line end.
func (d *document) do(command string) string {
	d.T.Helper()
	command, echo := strings.CutSuffix(command, "; echo $?")
	words := d.words(command)
	switch words[0] {
	case "cat":
		return strings.TrimSuffix(d.read(words[1]), "\n")
	case "redis-cli":
		answer, err := redisAt(d.T, d.env["REDIS"]).Do(d.T.Context(), asAny(words[1:])...).Result()
		if err != nil {
			d.T.Fatal(err)
		}
		if score, ok := answer.(float64); ok {
			return strconv.FormatFloat(score, 'f', -1, 64) // as redis-cli shows it
		}
		return fmt.Sprint(answer)
	case "mysql":
		return d.mysql(words[1:])
	case "curl":
		return strings.TrimSuffix(d.curl(words[1:]), "\n")
	case "while":
		return d.eachLine(command)
	case "leaderboard":
		status, out, errOut := runWith(d.T, d.env, words[1:]...)
		if echo {
			out += fmt.Sprintln(status)
		} else if status != exitOK {
			d.T.Errorf("%s: status %d: %s", command, status, errOut)
		}
		return strings.TrimSuffix(out, "\n")
	}
	d.T.Fatalf("unknown command: %s", command)
	return ""
}

// eachLine does a command for each line of a file, as `while read -r id profile; do …; done < FILE` does.
func (d *document) eachLine(command string) string {
	d.T.Helper()
	loop := regexp.MustCompile(`^while read -r (\w+) (\w+); do (.*); done < (\S+)$`).FindStringSubmatch(command)
	var out []string
	for line := range strings.Lines(d.read(loop[4])) {
		d.env[loop[1]], d.env[loop[2]], _ = strings.Cut(strings.TrimSpace(line), " ")
		out = append(out, d.do(loop[3]))
	}
	return strings.Join(out, "\n")
}

func asAny(words []string) []any {
	var out []any
	for _, w := range words {
		out = append(out, w)
	}
	return out
}

// mysql runs the statements of the file after <, and writes the first column of their rows into the file after >.
func (d *document) mysql(args []string) string {
	d.T.Helper()
	in, out := slices.Index(args, "<"), slices.Index(args, ">")
	var answer []byte
	for statement := range strings.SplitSeq(d.read(args[in+1]), ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		rows, err := d.game.QueryContext(d.T.Context(), statement)
		if err != nil {
			d.T.Fatalf("%s: %s", statement, err)
		}
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				d.T.Fatal(err)
			}
			answer = append(answer, line+"\n"...)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			d.T.Fatal(err)
		}
	}
	if out >= 0 {
		d.file(args[out+1], string(answer))
	}
	return ""
}

// words splits a command as a shell does, with both kinds of quotes, and variables outside of single ones.
func (d *document) words(command string) []string {
	var words []string
	for _, m := range regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`).FindAllString(command, -1) {
		word := regexp.MustCompile(`'[^']*'|"[^"]*"|[^'"]+`).ReplaceAllStringFunc(m, func(part string) string {
			if part[0] == '\'' {
				return strings.Trim(part, "'")
			}
			return os.Expand(strings.Trim(part, `"`), func(name string) string { return d.env[name] })
		})
		words = append(words, word)
	}
	return words
}

// curl acts like curl with -s, -X, -H and -d.
func (d *document) curl(args []string) string {
	d.T.Helper()
	method, url, body, header := http.MethodGet, "", "", http.Header{}
	for len(args) > 0 {
		flag := args[0]
		args = args[1:]
		if flag == "-s" {
			continue
		}
		if flag[0] != '-' {
			url = flag
			continue
		}
		value := args[0]
		args = args[1:]
		switch flag {
		case "-X":
			method = value
		case "-H":
			name, text, _ := strings.Cut(value, ": ")
			header.Set(name, text)
		case "-d":
			body = value
			if method == http.MethodGet {
				method = http.MethodPost
			}
		default:
			d.T.Fatalf("unknown option of curl: %s", flag)
		}
	}
	req, err := http.NewRequestWithContext(d.T.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		d.T.Fatal(err)
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.T.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 400 {
		d.T.Errorf("%s %s: %d %s %v", method, url, resp.StatusCode, answer, err)
	}
	return string(answer)
}

// TestTutorial runs every command of docs/tutorial.md.
func TestTutorial(t *testing.T) {
	d, lines := startDocument(t, "../../docs/tutorial.md")
	d.run(lines)
	if d.ran < 20 {
		t.Errorf("the page has %d commands", d.ran)
	}
}

// TestWhyDocument runs every command of docs/why.md, on the Redis that the service has too.
func TestWhyDocument(t *testing.T) {
	redisURL := testenv.Redis(t)
	d, lines := startDocument(t, "../../docs/why.md", redisURL)
	d.env["REDIS"] = redisURL
	d.run(lines)
	if d.ran < 11 {
		t.Errorf("the page has %d commands", d.ran)
	}
}

// TestMigratingDocument runs every command of docs/migrating.md, on sets that are in a Redis and a table that is in a MySQL.
func TestMigratingDocument(t *testing.T) {
	d, lines := startDocument(t, "../../docs/migrating.md")
	t.Chdir(d.dir)
	d.env["REDIS"] = testenv.Redis(t)
	db, err := sql.Open("mysql", testenv.MySQL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if d.game, err = db.Conn(t.Context()); err != nil { // one connection: variables that are SET stay for the next statements
		t.Fatal(err)
	}
	defer d.game.Close()
	d.run(lines)
	if d.ran < 15 {
		t.Errorf("the page has %d commands", d.ran)
	}
}

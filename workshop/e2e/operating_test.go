package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard/client"
	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// operatingPage is the document whose commands are run. UPDATE_DOCS writes their output into it.
const operatingPage = "../../docs/operating.md"

// operator runs the commands of a page in a shell.
type operator struct {
	*world
	a, b     *server
	page     string              // its file
	part     string              // a section of the file that alone is run, by subsections; "" is the whole file
	dir      string              // where commands run: HOME too
	env      map[string]string   // of commands
	rewrite  *strings.Replacer   // replaces names of programs on the page by the names of this database's programs
	sections map[string][]string // of the page, what of them is from the first command on
	ran      int
}

// TestOperatingDocument runs every command of docs/operating.md, section by section, under two live servers, on MySQL and
// MariaDB: a backup is restored, MySQL is lost, Redis is lost. Readers see the restored state on every server in the
// promised time and never a part of it; lost scores do not come back from any copy.
func TestOperatingDocument(t *testing.T) {
	t.Parallel()
	t.Run("mysql", func(t *testing.T) {
		t.Parallel()
		operate(t, testenv.PrivateMySQL(t), strings.NewReplacer(), map[string]string{"mysql": "mysql-client-core", "mysqldump": "mysql-client-core", "mysqlbinlog": "mysql-server-core"})
	})
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		database := testenv.PrivateMariaDB(t, func(c *devserver.Config) { c.BinaryLog = true })
		operate(t, database, strings.NewReplacer("mysqldump", "mariadb-dump", "mysqlbinlog --skip-gtids", "mariadb-binlog", "mysql ", "mariadb ", "| mysql", "| mariadb",
			" --set-gtid-purged=OFF", "", "--source-data", "--master-data", "--database=restored", "--database=leaderboard"),
			map[string]string{"mariadb": "mariadb-client-core", "mariadb-dump": "mariadb-client", "mariadb-binlog": "mariadb-client"})
	})
}

// operate runs the page's sections on a database server, each with its preparation and its checks.
func operate(t *testing.T, database *devserver.Server, rewrite *strings.Replacer, tools map[string]string) {
	o := startOperator(t, database, rewrite, tools)
	o.mustSubmit(t, scored("ada", 70))
	o.mustSubmit(t, scored("bob", 90))
	o.mustSubmit(t, scored("cyd", 70))
	o.a.mustRebuild(t, "race")
	o.section(t, "Backup")

	lost, err := o.a.submit(t.Context(), "race", "key", scored("late", 500), scored("later", 600))
	if err != nil {
		t.Fatal(err)
	}
	o.eventuallyTop(t, "later", false)
	o.a.mustRebuild(t, "race")
	stop := o.readers(t, "later", "bob")
	o.section(t, "Restore")
	o.eventuallyTop(t, "bob", false)
	if took := stop(); took > promised() {
		t.Errorf("what was lost is shown for %s, promised are %s", took, promised())
	}
	for _, s := range []*server{o.a, o.b} {
		if _, err := s.Top(t.Context(), "race", client.TopQuery{ReadQuery: client.ReadQuery{MinSeq: lost.Seq}}); status(err) != http.StatusConflict || !errors.Is(err, leaderboard.ErrSeqAhead) {
			t.Errorf("%s: min_seq %d of a lost write: %v", s.name, lost.Seq, err)
		}
	}
	o.goBack(t)
	o.loseDatabase(t)
	if err := o.redis.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	o.section(t, "Losing Redis")
	for _, s := range []*server{o.a, o.b} {
		if _, err := s.verify(t.Context(), "race"); err != nil {
			t.Errorf("%s: %s", s.name, err)
		}
	}
	o.section(t, "Upgrade and rollback")
	o.section(t, "Moving a board")
	o.section(t, "Rotating keys")
	if o.ran < 20 || len(o.sections) > 0 {
		t.Errorf("%d commands were run, these sections not at all: %v", o.ran, o.sections)
	}
	if again, err := o.a.submit(t.Context(), "race", "key", scored("late", 500), scored("later", 600)); err != nil || again.Results[0].Status != "applied" || again.Seq != lost.Seq {
		t.Errorf("what was lost is submitted again under its key: %+v, %v", again, err)
	}
	o.mustSubmit(t, scored("new", 1000))
	o.eventuallyTop(t, "new", false)
}

// goBack runs the section about going back to a second: all scores written between the dump and that second are there
// again, and no later ones, including scores that others wrote on the same server.
func (o *operator) goBack(t *testing.T) {
	t.Helper()
	const name = "Restore to a moment"
	commands := o.sections[name]
	restore := slices.IndexFunc(commands, func(line string) bool { return strings.HasPrefix(line, "$ since=") })
	if restore < 1 {
		t.Fatal("the section has no dump ahead of what is since")
	}
	o.execute(t, "CREATE TABLE other.t (id INT PRIMARY KEY)")
	o.sections[name] = commands[:restore]
	o.section(t, name)
	o.execute(t, "INSERT INTO other.t VALUES (1)") // twice it would fail
	for i := range 20 {
		o.mustSubmit(t, scored(fmt.Sprintf("m%d", i%10), int64(1000+i)))
	}
	last := o.mustSubmit(t, scored("best", 2000))
	before, err := o.a.Top(t.Context(), "race", client.TopQuery{Limit: 100, ReadQuery: client.ReadQuery{MinSeq: last.Seq}})
	if err != nil {
		t.Fatal(err)
	}
	o.env["MOMENT"], o.env["TZ"] = o.nextSecond(t), "UTC"
	o.mustSubmit(t, scored("worse", 3000))
	o.eventuallyTop(t, "worse", false)
	o.sections[name] = commands[restore:]
	o.section(t, name)
	o.eventuallyTop(t, "best", false)
	for _, s := range []*server{o.a, o.b} {
		after, err := s.top(t.Context(), "race", 0, 100)
		if err != nil || !reflect.DeepEqual(after.Entries, before.Entries) || after.Seq != before.Seq {
			t.Errorf("%s shows seq %d %+v, %v, before the moment it was seq %d %+v", s.name, after.Seq, after.Entries, err, before.Seq, before.Entries)
		}
	}
}

func (o *operator) execute(t *testing.T, statement string) {
	t.Helper()
	if _, err := o.db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// nextSecond waits for the next second of the database's clock, and returns it.
func (o *operator) nextSecond(t *testing.T) (moment string) {
	t.Helper()
	now := func() (second string) {
		if err := o.db.QueryRowContext(t.Context(), "SELECT DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%d %H:%i:%s')").Scan(&second); err != nil {
			t.Fatal(err)
		}
		return second
	}
	was := now()
	eventually(t, "the next second", func() error {
		if moment = now(); moment == was {
			return errors.New("it is still " + was)
		}
		return nil
	})
	return moment
}

// loseDatabase drops the database under the servers, and runs the section about it. Readers still get the last pages.
func (o *operator) loseDatabase(t *testing.T) {
	t.Helper()
	o.execute(t, "DROP DATABASE leaderboard")
	o.eventuallyTop(t, "best", true)
	if _, err := o.a.submit(t.Context(), "race", "", scored("nobody", 1)); status(err) != http.StatusServiceUnavailable {
		t.Errorf("a submission without a database: %v, want 503", err)
	}
	o.section(t, "Losing MySQL")
	o.eventuallyTop(t, "bob", false)
}

// promised is the greatest delay until the state after a restore is shown: two seconds, on an idle machine.
func promised() time.Duration { return testenv.Size(10*time.Second, 2*time.Second) }

// mustSubmit submits to the board of the page through the first server.
func (o *operator) mustSubmit(t *testing.T, entries ...leaderboard.Submission) client.Receipt {
	t.Helper()
	return o.a.mustSubmit(t, "race", entries...)
}

// eventuallyTop waits until both servers show this member first, within what the page promises.
func (o *operator) eventuallyTop(t *testing.T, member string, stale bool) {
	t.Helper()
	began := time.Now()
	for _, s := range []*server{o.a, o.b} {
		eventually(t, s.name+" shows "+member, func() error {
			p, err := s.top(t.Context(), "race", 0, 1)
			if err == nil && (p.Stale != stale || p.Entries[0].Member != member) {
				err = fmt.Errorf("it shows %+v", p)
			}
			return err
		})
	}
	if took := time.Since(began); took > promised() {
		t.Errorf("%s is first after %s, promised are %s", member, took, promised())
	}
}

// readers read at both servers until stop is called: each answer is one of two states, and none fails. stop returns how
// long after the swap of the tables the first state was still reported as current.
func (o *operator) readers(t *testing.T, first, second string) (stop func() time.Duration) {
	t.Helper()
	var last [2]time.Time
	var swapped time.Time
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	errs := make([]error, 2)
	for i, s := range []*server{o.a, o.b} {
		all.Go(func() {
			for ctx.Err() == nil && errs[i] == nil {
				sent := time.Now()
				p, err := s.top(t.Context(), "race", 0, 10)
				if err == nil && !p.Stale && p.Entries[0].Member == first {
					last[i] = sent
				}
				if err == nil && (p.Total != int64(len(p.Entries)) || p.Entries[0].Member != first && p.Entries[0].Member != second) {
					err = fmt.Errorf("it shows %+v", p)
				}
				if err != nil {
					errs[i] = fmt.Errorf("%s: %w", s.name, err)
				}
			}
		})
	}
	all.Go(func() {
		const look = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'replaced' AND table_name = 'entries'"
		for n := 0; n == 0 && ctx.Err() == nil; {
			if sent := time.Now(); o.db.QueryRowContext(ctx, look).Scan(&n) == nil && n > 0 {
				swapped = sent
			}
		}
	})
	return func() time.Duration {
		cancel()
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		if swapped.IsZero() {
			t.Error("no reader has seen the swap")
		}
		took := slices.MaxFunc(last[:], time.Time.Compare).Sub(swapped)
		t.Logf("the lost state was told for %s after the swap", took)
		return took
	}
}

func startOperator(t *testing.T, database *devserver.Server, rewrite *strings.Replacer, tools map[string]string) *operator {
	t.Helper()
	cfg, err := mysql.ParseDSN(database.DSN)
	if err != nil {
		t.Fatal(err)
	}
	create(t, database.DSN, "leaderboard", "other")
	dsn := func(name string) string { c := cfg.Clone(); c.DBName = name; return c.FormatDSN() }
	redis := testenv.PrivateRedis(t)
	o := &operator{world: worldOn(t, dsn("leaderboard"), redis.URL), page: operatingPage, dir: t.TempDir(), rewrite: rewrite}
	o.a, o.b = o.serve(t, "server a"), o.serve(t, "server b")
	other := worldOn(t, dsn("other"), "").serve(t, "other installation")
	o.a.putBoard(t, "race", leaderboard.Rules{})
	host, port, _ := strings.Cut(cfg.Addr, ":")
	write(t, filepath.Join(o.dir, ".my.cnf"), fmt.Sprintf("[client]\nhost=%s\nport=%s\nuser=%s\npassword=%s\nprotocol=tcp\n", host, port, cfg.User, cfg.Passwd))
	o.env = map[string]string{
		"HOME": o.dir, "PATH": o.programs(t, tools) + ":/usr/bin:/bin", "LEADERBOARD_URL": o.a.url, "LEADERBOARD_KEY": adminKey,
		"LEADERBOARD_MYSQL_DSN": o.dsn, "LEADERBOARD_REDIS_URL": o.redisURL, "LEADERBOARD_LOG": "json",
		"NEW_URL": other.url, "NEW_KEY": adminKey,
	}
	o.read(t)
	return o
}

// read reads the sections of the page, and writes the files that it shows.
func (o *operator) read(t *testing.T) {
	t.Helper()
	page, err := os.ReadFile(o.page)
	if err != nil {
		t.Fatal(err)
	}
	o.sections = map[string][]string{}
	text, level, name := string(page), "## ", ""
	if o.part != "" {
		_, text, _ = strings.Cut(text, "\n## "+o.part+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
		level = "### "
	}
	for line := range strings.SplitSeq(text, "\n") {
		if heading, ok := strings.CutPrefix(line, level); ok {
			name = heading
		}
		if file := pageFile.FindStringSubmatch(line); file != nil {
			_, after, _ := strings.Cut(text, line+"\n\n```")
			_, content, _ := strings.Cut(after, "\n")
			content, _, _ = strings.Cut(content, "```")
			write(t, filepath.Join(o.dir, file[1]), content)
		}
		if strings.HasPrefix(line, "$ ") || len(o.sections[name]) > 0 {
			o.sections[name] = append(o.sections[name], line)
		}
	}
}

// create makes databases.
func create(t *testing.T, dsn string, names ...string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, name := range names {
		if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
	}
}

// programs returns a folder with the programs of the page: the database's, fetched if the machine lacks them, and ours.
func (o *operator) programs(t *testing.T, tools map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, pkg := range tools {
		tool, err := devserver.FindTool(t.Context(), "", pkg, name, t.Logf)
		if err != nil {
			t.Fatalf("%s\nThis test runs the commands of docs/operating.md: install the client programs of MySQL and MariaDB.", err)
		}
		cmd, err := tool.Command()
		if err != nil {
			t.Fatal(err)
		}
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", strings.Join(cmd.Args, "' '"))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, err := filepath.Abs(os.Getenv(programVariable))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(dir, "leaderboard")); err != nil {
		t.Fatal(err)
	}
	return dir
}

var (
	pageFile = regexp.MustCompile(`^<!-- file: (\S+) -->$`)
	keyID    = regexp.MustCompile(`Its id is (\S+)\.`)
	// pageVaries matches the parts of output that differ from one run to the next.
	pageVaries = regexp.MustCompile(`\d{4}-\d\d-\d\d(T[\d:.]+Z)?|\(\d+ per second\)|[\d.]+(ms|µs|s)\b|from (mysql|redis|local)|(done|shared) +\d+ +\d+ +\d+|lbk_\S+|\b[a-z2-7]{13}\b| +`)
)

// section runs the commands of a section and compares their output with the page.
func (o *operator) section(t *testing.T, name string) {
	t.Helper()
	lines := o.sections[name]
	delete(o.sections, name)
	for at := 0; at < len(lines); at++ {
		command, ok := strings.CutPrefix(lines[at], "$ ")
		if !ok {
			continue
		}
		o.ran++
		from := at + 1
		for at+1 < len(lines) && lines[at+1] != "" && lines[at+1] != "```" {
			at++
		}
		want := strings.Join(lines[from:at+1], "\n")
		got := o.shell(t, o.rewrite.Replace(command))
		if m := keyID.FindStringSubmatch(got); m != nil {
			o.env["KEY_ID"] = m[1]
		}
		if pageVaries.ReplaceAllString(got, " ") != pageVaries.ReplaceAllString(want, " ") {
			t.Errorf("%s: %s\n prints\n%s\n want\n%s", name, command, got, want)
			o.update(t, command, want, got)
		}
	}
}

// update writes the output of a command into the page, with UPDATE_DOCS.
func (o *operator) update(t *testing.T, command, was, is string) {
	t.Helper()
	if os.Getenv("UPDATE_DOCS") == "" {
		return
	}
	page, err := os.ReadFile(o.page)
	if err != nil {
		t.Fatal(err)
	}
	before, after := strings.TrimSuffix("$ "+command+"\n"+was, "\n"), strings.TrimSuffix("$ "+command+"\n"+is, "\n")
	if err := os.WriteFile(o.page, []byte(strings.Replace(string(page), before, after, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shell runs a command and returns its output without the last line end.
func (o *operator) shell(t *testing.T, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 6*maxWait, errors.New("it does not end"))
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.WaitDelay = time.Second // processes of the shell may still run
	cmd.Dir = o.dir
	for name, value := range o.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if ctx.Err() != nil {
		t.Fatalf("%s: %s: %s%s", command, context.Cause(ctx), out, errOut.String())
	}
	if err != nil {
		t.Errorf("%s: %s: %s", command, err, errOut.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

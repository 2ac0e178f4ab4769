// Command engines runs the tests of storage on one server program after another, several versions of MySQL, MariaDB, Redis and
// their replacements, and writes the results into a table of a document:
//
//	make test KIND=engines ARGS='-only valkey'
//
// The programs are fetched like the programs of any test. A machine knows its distribution's archive; -ubuntu and -debian give
// the other's address. Notes of the runs are in a folder: a second call continues where the first stopped, and runs failed tests
// again; the table names them. After a change of a test program its suite runs from the start.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
	"leaderboard/workshop/program"
)

// options are the options of the command line.
type options struct {
	only     *regexp.Regexp // names engines
	tests    string         // in place of the tests that the suites name; "" for the suites' tests
	quick    bool           // the tests that the suites name for quick runs
	slice    time.Duration  // 0: until all is done
	timeout  time.Duration  // of one suite
	dir      string         // of notes and output
	doc      string         // with the table
	archives map[string]string
}

func main() {
	o := options{only: new(regexp.Regexp), archives: map[string]string{}}
	flag.TextVar(o.only, "only", regexp.MustCompile(""), "regular expression that names some of the engines")
	flag.StringVar(&o.tests, "run", "", "regular expression that names the tests to run in place of those that each suite names")
	flag.BoolVar(&o.quick, "quick", false, "of large suites only the tests of conformance, of properties and of faults")
	flag.DurationVar(&o.slice, "for", 0, "start no suite after this time; the next call goes on (default: until all is done)")
	flag.DurationVar(&o.timeout, "timeout", 10*time.Minute, "limit of one suite")
	flag.StringVar(&o.dir, "dir", ".engines", "folder of the notes and of the suites' output; delete it to start anew")
	flag.StringVar(&o.doc, "doc", "docs/engines.md", "document with the table")
	for _, distribution := range []string{"debian", "ubuntu"} {
		flag.Func(distribution, "address of an archive of "+distribution+", where this machine is of another distribution", func(address string) error {
			o.archives[distribution] = address
			return nil
		})
	}
	flag.Parse()
	program.Main(func(ctx context.Context) (int, error) { return run(ctx, o, engines(), os.Stdout) })
}

// runner runs suites and notes the results.
type runner struct {
	options
	fetch  fetcher
	notes  *program.Notes
	built  map[suite]*program.Program
	when   string
	end    time.Time
	stdout io.Writer
}

// errLater means that the time limit has passed.
var errLater = errors.New("the time is over, the next call goes on")

// run runs the engines that are named, each with its row of the table, and returns the number of suites that failed and
// of engines that could not be run.
func run(ctx context.Context, o options, list []engine, stdout io.Writer) (failures int, err error) {
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return 0, err
	}
	notes, err := program.OpenNotes(filepath.Join(o.dir, "runs.tsv"))
	if err != nil {
		return 0, err
	}
	defer notes.Close()
	r := &runner{options: o, notes: notes, built: map[suite]*program.Program{}, when: today(ctx, o.doc), end: time.Now().Add(o.slice), stdout: stdout}
	r.fetch = func(ctx context.Context, release devserver.Release) (string, error) {
		return devserver.Fetch(ctx, "", release, o.archives, r.log)
	}
	for _, e := range list {
		if !o.only.MatchString(e.name) {
			continue
		}
		line, failed, err := r.engine(ctx, e)
		if errors.Is(err, errLater) || ctx.Err() != nil {
			r.log("%s: %s", e.name, errLater)
			return failures, nil
		}
		missing := err != nil
		if missing {
			r.log("%s: %s", e.name, err)
			line, failed = absent(e, err), 1
		}
		failures += failed
		// If the engine cannot be fetched today, its row of an earlier day stays; a row with more tests than this run had
		// stays too.
		some := (o.quick || o.tests != "") && failed == 0
		kept, err := writeRow(o.doc, line, list, func(old row) bool { return missing || some && old.saysMore(line) })
		if err != nil {
			return failures, err
		}
		if kept && !missing {
			r.log("%s: %s keeps the row of a run of more tests of this version", e.name, o.doc)
		}
	}
	return failures, nil
}

func (r *runner) log(format string, args ...any) {
	fmt.Fprintf(r.stdout, time.Now().Format(time.TimeOnly)+"  "+format+"\n", args...)
}

// today is the day and the revision of the tree, with a mark for changes outside of the document.
func today(ctx context.Context, doc string) string {
	day := time.Now().UTC().Format(time.DateOnly)
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return day
	}
	day += " at " + strings.TrimSpace(string(out))
	if exec.CommandContext(ctx, "git", "diff", "--quiet", "HEAD", "--", ".", ":!"+doc).Run() != nil {
		day += ", changed"
	}
	return day
}

// engine runs the suites of e and returns its row and how many failed. An error means that it could not be run.
func (r *runner) engine(ctx context.Context, e engine) (line row, failed int, err error) {
	env, version := []string{}, ""
	if e.program != nil {
		path, err := e.program(ctx, r.fetch)
		if err != nil {
			return nil, 0, err
		}
		if version, err = devserver.Version(ctx, path); err != nil {
			return nil, 0, err
		}
		env = variables(e, path)
	}
	var results []result
	var once []string
	for _, s := range e.suites {
		s.tests = r.testsOf(s)
		got, earlier, err := r.suite(ctx, e, s, version, env)
		if err != nil {
			return nil, 0, err
		}
		if len(got.Failed) > 0 {
			failed++
		}
		results, once = append(results, got), append(once, earlier...)
	}
	return rowOf(e, version, r.when, results, once), failed, nil
}

// testsOf is the regular expression of the tests to run of a suite.
func (o *options) testsOf(s suite) string {
	switch {
	case o.tests != "":
		return o.tests
	case o.quick && s.quick != "":
		return s.quick
	default:
		return s.tests
	}
}

// variables returns the environment in which the servers that e replaces are started from the program at path.
func variables(e engine, path string) []string {
	var env []string
	for _, kind := range e.as {
		env = append(env, testenv.ProgramVariable(kind)+"="+path, testenv.Variable(kind)+"=")
	}
	if e.galera {
		env = append(env, testenv.GaleraVariable+"=1")
	}
	return env
}

// suite returns the result of a suite: of the run that is noted, unless that failed, else of a new one. once are tests that
// failed in an earlier run of the same programs.
func (r *runner) suite(ctx context.Context, e engine, s suite, version string, env []string) (got result, once []string, err error) {
	p, err := r.build(ctx, s)
	if err != nil {
		return result{}, nil, err
	}
	id := identify(e.name, version, s, p.ID)
	for _, note := range r.notes.Of(id) {
		if err := json.Unmarshal([]byte(note.Said), &got); err != nil {
			return result{}, nil, fmt.Errorf("notes in %s: %w", r.dir, err)
		}
		if len(got.Failed) == 0 {
			return got, once, nil
		}
		for _, test := range got.Failed {
			once = append(once, s.pkg+" "+test)
		}
		got = result{}
	}
	if ctx.Err() != nil || (r.slice > 0 && time.Now().After(r.end)) {
		return result{}, nil, errLater
	}
	r.log("%s (%s): %s …", e.name, version, s.pkg)
	got, took, err := r.test(ctx, e, s, p, env)
	if err != nil {
		return result{}, nil, err
	}
	r.log("%s (%s): %s: %d of %d tests in %s, failed: %s", e.name, version, s.pkg, got.Ran, got.Of, took.Round(time.Second), cmp.Or(strings.Join(got.Failed, ", "), "none"))
	once = slices.DeleteFunc(once, func(test string) bool { return slices.Contains(got.Failed, strings.TrimPrefix(test, s.pkg+" ")) })
	slices.Sort(once)
	said, err := json.Marshal(got)
	if err != nil {
		return result{}, nil, err
	}
	return got, slices.Compact(once), r.notes.Add(program.Note{ID: id, Name: e.name + " " + s.pkg, Took: took, Said: string(said)})
}

// test runs a suite's test program, keeps its output, and counts.
func (r *runner) test(ctx context.Context, e engine, s suite, p *program.Program, env []string) (result, time.Duration, error) {
	own := *p
	own.Env = slices.Concat(p.Env, env)
	list, _, err := own.Run(ctx, ".", r.timeout, []string{"-test.list=."}, nil)
	if err != nil {
		return result{}, 0, fmt.Errorf("tests of %s: %w", s.pkg, err)
	}
	said, took, ended := own.Run(ctx, s.tests, r.timeout, []string{"-test.v=test2json"}, nil)
	if ctx.Err() != nil {
		return result{}, 0, errLater
	}
	output := filepath.Join(r.dir, e.name+"-"+strings.ReplaceAll(s.pkg, "/", "-")+".txt")
	if err := os.WriteFile(output, []byte(said), 0o644); err != nil {
		return result{}, 0, err
	}
	events, err := parse(ctx, said)
	if err != nil {
		return result{}, 0, err
	}
	return count(s, named(list), events, ended), took, nil
}

// build makes the test program of a suite, unless this call has made it already.
func (r *runner) build(ctx context.Context, s suite) (*program.Program, error) {
	if p := r.built[s]; p != nil {
		return p, nil
	}
	dir, err := filepath.Abs(s.dir())
	if err != nil {
		return nil, err
	}
	var flags []string
	name := strings.ReplaceAll(s.pkg, "/", "-")
	if s.tag != "" {
		name, flags = name+"-"+s.tag, []string{"-tags", s.tag}
	}
	p, err := program.Build(ctx, dir, filepath.Join(r.dir, name+".test"), s.tests, flags...)
	if err != nil {
		return nil, err
	}
	r.built[s] = &p
	return &p, nil
}

// identify returns the key of a run's notes. It depends on everything that takes part in the run.
func identify(engine, version string, s suite, programID string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{engine, version, s.pkg, s.tests, programID}))
	return hex.EncodeToString(sum[:6])
}

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// serverVariable names the program that the tests of e2e start; without it each run would build its own.
const serverVariable = "LEADERBOARD_E2E_PROGRAM"

// stopLimit is how long a test program may take to end when it is interrupted.
const stopLimit = 40 * time.Second

// program is the test program of a package.
type program struct {
	name string // the package, without the module
	dir  string // where it is run
	path string
	id   string // changes with what it does
}

// build builds the test programs, and the server for e2e, which it names in the environment that it returns.
func build(ctx context.Context, o options) ([]program, []string, error) {
	list := []string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Module.Path}}\t{{.Dir}}{{end}}"}
	out, err := goTool(ctx, append(list, o.packages...)...)
	if err != nil {
		return nil, nil, err
	}
	race := []string{"-race"}
	if o.days {
		race = nil // that is another question
	}
	var programs []program
	env := os.Environ()
	for line := range strings.Lines(out) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		if len(field) != 3 {
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(field[0], field[1]), "/")
		if name == "" {
			name = "."
		}
		file := strings.NewReplacer("/", "_", ".", "root").Replace(name)
		p := program{name: name, dir: field[2], path: filepath.Join(o.dir, "bin", file+".test")}
		if _, err := goTool(ctx, slices.Concat([]string{"test", "-c"}, race, []string{"-o", p.path, field[0]})...); err != nil {
			return nil, nil, err
		}
		made := []string{p.path}
		if name == "e2e" {
			server := filepath.Join(o.dir, "bin", "server")
			if _, err := goTool(ctx, slices.Concat([]string{"build", "-buildvcs=false"}, race, []string{"-o", server, field[1] + "/cmd/leaderboard"})...); err != nil {
				return nil, nil, err
			}
			made, env = append(made, server), append(env, serverVariable+"="+server)
		}
		if p.id, err = identify(o.tests, made); err != nil {
			return nil, nil, err
		}
		programs = append(programs, p)
	}
	return programs, env, nil
}

func goTool(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out, said.Bytes())
	}
	return string(out), nil
}

// identify hashes which tests are run and the programs that take part.
func identify(tests string, programs []string) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q", tests)
	for _, path := range programs {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), nil
}

// run runs all tests once beside busy threads, through the command wrap if there is one. Only the output of a failure
// is kept.
func (p program) run(ctx context.Context, o options, env []string, number int, wrap ...string) (note, error) {
	args := append(wrap, p.path, "-test.timeout="+o.timeout.String())
	if o.tests != "" {
		args = append(args, "-test.run="+o.tests)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopLimit
	cmd.Dir, cmd.Env = p.dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	idle := keepBusy(o.threads)
	began := time.Now()
	err := cmd.Run()
	n := note{program: p.id, name: p.name, took: time.Since(began)}
	idle()
	if err == nil {
		return n, nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return note{}, err
	}
	n.failed = failing(out.String())
	log := filepath.Join(o.dir, fmt.Sprintf("%s-%s-%d.log", strings.TrimSuffix(filepath.Base(p.path), ".test"), p.id, number))
	return n, os.WriteFile(log, out.Bytes(), 0o644)
}

// failing names the tests that failed, without those that failed because of their subtests, or says why there are none.
func failing(out string) []string {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`).FindAllStringSubmatch(out, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	names = slices.Compact(names)
	leaves := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	})
	for sign, name := range map[string]string{"panic: test timed out": "(timeout)", "WARNING: DATA RACE": "(race)"} {
		if strings.Contains(out, sign) {
			leaves = append(leaves, name)
		}
	}
	if len(leaves) == 0 {
		leaves = []string{"(no test)"}
	}
	return leaves
}

// keepBusy keeps n threads at work, at normal priority, until the returned function is called. They are threads of this
// process, so nothing is left of them when it ends, however it ends.
func keepBusy(n int) (idle func()) {
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			var block [4096]byte
			for !stop.Load() {
				sum := sha256.Sum256(block[:])
				copy(block[:], sum[:])
			}
		})
	}
	return func() { stop.Store(true); wg.Wait() }
}

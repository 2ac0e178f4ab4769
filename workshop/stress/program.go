package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"leaderboard/workshop/program"
)

// pkg is a package with its test program.
type pkg struct {
	program.Program
	name string // without the module
}

// build builds the test programs.
func build(ctx context.Context, o options) ([]pkg, error) {
	list := []string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Module.Path}}\t{{.Dir}}{{end}}"}
	out, err := program.GoTool(ctx, o.in, append(list, o.packages...)...)
	if err != nil {
		return nil, err
	}
	race := []string{"-race"}
	if o.days {
		race = nil // that is another question
	}
	var programs []pkg
	for line := range strings.Lines(out) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		if len(field) != 3 {
			continue
		}
		p := pkg{name: strings.TrimPrefix(strings.TrimPrefix(field[0], field[1]), "/")}
		if p.name == "" {
			p.name = "."
		}
		file := strings.NewReplacer("/", "_", ".", "root").Replace(p.name)
		if p.Program, err = program.Build(ctx, field[2], filepath.Join(o.dir, "bin", file+".test"), o.tests, race...); err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	return programs, nil
}

// run runs all tests once next to busy threads, through the command wrap unless it is empty. The note names the failed tests;
// only the output of a failure is kept.
func (p pkg) run(ctx context.Context, o options, number int, wrap ...string) (program.Note, error) {
	idle := keepBusy(o.threads)
	out, took, err := p.Run(ctx, o.tests, o.timeout, nil, wrap)
	idle()
	n := program.Note{ID: p.ID, Name: p.name, Took: took}
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		return n, err
	}
	n.Said = strings.Join(failing(out), " ")
	log := filepath.Join(o.dir, fmt.Sprintf("%s-%s-%d.log", strings.TrimSuffix(filepath.Base(p.Path), ".test"), p.ID, number))
	return n, os.WriteFile(log, []byte(out), 0o644)
}

// failing names the failed tests, without tests that failed because of their subtests. Without failed tests it gives the reason.
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

//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// children returns the processes whose parent is pid.
func children(t *testing.T, pid int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, file := range stats {
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		if _, parent := processState(child); parent == pid {
			found = append(found, child)
		}
	}
	return found
}

// processState returns the letter that /proc has for the state of a process and its parent; "" when it is gone.
func processState(pid int) (state string, parent int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	parent, _ = strconv.Atoi(fields[1])
	return fields[0], parent
}

// dev starts `leaderboard dev` on a folder and waits until it is up.
func dev(t *testing.T, dir string) (*process, *api) {
	t.Helper()
	p := start(t, "dev", []string{"LEADERBOARD_KEYS=admin:" + adminKey}, "dev", "--dir", dir, "--listen", "127.0.0.1:0", "--members", "200", "--quiet-demo", "--log", "json", "--log-level", "info")
	url := p.err.awaitLog(t, "serving", "addr")
	p.out.awaitLine(t, "the welcome", func(line string) bool { return strings.Contains(line, url) }, false)
	return p, newAPI(t, url)
}

// TestChildrenDieWithDev kills `leaderboard dev` with -9: its MySQL and its Redis end with it. When it is started again,
// acknowledged scores are there.
func TestChildrenDieWithDev(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, c := dev(t, dir)
	servers := children(t, p.pid)
	if len(servers) != 2 {
		t.Fatalf("dev has the children %v, want its MySQL and its Redis", servers)
	}
	r := c.mustSubmit(t, "demo", scored("you", 1_000_000))
	defer func() {
		for _, pid := range servers {
			if t.Failed() { // they may have outlived dev
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}()
	p.kill9(t)
	for _, pid := range servers {
		eventually(t, fmt.Sprintf("child %d is gone", pid), func() error {
			if state, _ := processState(pid); state != "" && state != "Z" {
				return errors.New("its state is " + state)
			}
			return nil
		})
	}

	p, c = dev(t, dir)
	top, err := c.top(t.Context(), "demo", 0, 1)
	if err != nil || top.Seq != r.Seq || !slices.Equal(entriesOf(top.Entries), []entry{{1, "you", 1_000_000}}) {
		t.Errorf("after the next start the top is %+v, %v, want the write of seq %d", top, err, r.Seq)
	}
	servers = children(t, p.pid)
	p.signal(syscall.SIGINT)
	if status := p.awaitExit(t); status.ExitStatus() != 0 {
		t.Errorf("exit status %d after Ctrl-C, want 0", status.ExitStatus())
	}
	for _, pid := range servers {
		if state, _ := processState(pid); state != "" && state != "Z" {
			t.Errorf("child %d runs on after Ctrl-C", pid)
		}
	}
}

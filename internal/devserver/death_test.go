//go:build linux

package devserver

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"leaderboard/internal/leaks"
)

// parentDir makes the test program, run again, a parent of servers in the
// folder it names instead of a test.
const parentDir = "DEVSERVER_TEST_PARENT_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentDir); dir != "" {
		os.Exit(beParent(dir))
	}
	os.Exit(leaks.Main(m))
}

// beParent starts servers, prints their process ids, and waits to be killed.
func beParent(dir string) int {
	cfg := Config{Dir: dir, Ephemeral: true, MySQLOnly: true}
	for _, start := range []startFunc{StartRedis, StartMySQL} {
		s, err := start(context.Background(), cfg)
		if err != nil {
			fmt.Println("failed:", err)
			return 1
		}
		fmt.Println(s.PID)
	}
	fmt.Println("ready")
	select {} // no deadlock: others wait for the children in system calls
}

// gone reports whether a process has ended. A process that ended but was not yet reaped by its new parent is gone too.
func gone(t *testing.T, pid string) bool {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if os.IsNotExist(err) {
		return true
	}
	if err != nil { // it vanished while we read
		return strings.Contains(err.Error(), syscall.ESRCH.Error())
	}
	after := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
	return strings.HasPrefix(strings.TrimSpace(after), "Z")
}

// waitFor polls until ok or the deadline.
func waitFor(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(limit)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after %s still not: %s", limit, what)
		}
	}
}

// endAll ends the servers that a failed test leaves behind. Without their parent it is unknown whether a number still means
// the same process, but the parent died only seconds ago.
func endAll(pids []string) {
	for _, pid := range pids {
		if n, err := strconv.Atoi(pid); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
}

// TestServersDieWithTheirParent: servers die with a parent that was killed with -9, a stopped one too.
func TestServersDieWithTheirParent(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), parentDir+"="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	var pids []string
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		pids = append(pids, lines.Text())
	}
	if len(pids) != 2 {
		t.Fatalf("the parent said %q", pids)
	}
	defer func() {
		if t.Failed() {
			endAll(pids)
		}
	}()
	for _, pid := range pids {
		if gone(t, pid) {
			t.Fatalf("server %s is gone before its parent", pid)
		}
	}
	redisPID, err := strconv.Atoi(pids[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(redisPID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // says that it was killed
	for _, pid := range pids {
		waitFor(t, 10*time.Second, "server "+pid+" is gone", func() bool { return gone(t, pid) })
	}
}

// onDyingThread runs f on a thread that ends when f has returned.
func onDyingThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if syscall.Gettid() == os.Getpid() {
			// The main thread never ends. While we hold it, another is taken.
			onDyingThread(f)
			runtime.UnlockOSThread()
			return
		}
		f() // still locked at the end: the thread goes with the goroutine
	}()
	<-done
}

// TestServerOutlivesTheStartingThread: the end of the thread that asked for a server is not the end of a parent.
func TestServerOutlivesTheStartingThread(t *testing.T) {
	var s *Server
	var err error
	var thread int
	cfg := Config{Dir: t.TempDir(), Ephemeral: true}
	onDyingThread(func() {
		thread = syscall.Gettid()
		s, err = StartRedis(context.Background(), cfg)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop(context.Background()) }()
	waitFor(t, 10*time.Second, "the thread has ended", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", thread))
		return os.IsNotExist(err)
	})
	if _, err := redisInfo(t.Context(), s.Addr, nil); err != nil {
		t.Errorf("the server died with the thread: %s", err)
	}
}

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// maxWait bounds what a healthy machine does at once, with room for a busy one and for the race detector.
const maxWait = 60 * time.Second

// process is a run of the program, killed at the end of its test at the latest.
type process struct {
	name     string
	pid      int
	out, err output
	stopped  chan struct{} // receives when the process was stopped by a signal
	exited   chan struct{} // closed when it has ended and was reaped
	status   syscall.WaitStatus
}

// start runs the program with the given variables, and without the variables of this environment that configure it.
func start(t *testing.T, name string, env []string, args ...string) *process {
	t.Helper()
	return startProgram(t, os.Getenv(programVariable), name, env, args...)
}

// startProgram is start with another program, such as an earlier version.
func startProgram(t *testing.T, program, name string, env []string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(program, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "LEADERBOARD_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	cmd.SysProcAttr = childAttr()
	cmd.Dir = t.TempDir()
	p := &process{name: name, stopped: make(chan struct{}, 1), exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out.open(t), p.err.open(t)
	started := make(chan error)
	go p.live(cmd, started)
	if err := <-started; err != nil {
		t.Fatalf("%s: %s", name, err)
	}
	t.Cleanup(func() { p.finish(t) })
	return p
}

// live starts the child and reaps it. On Linux a child is killed when the thread that started it ends, so this goroutine keeps
// its thread.
func (p *process) live(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	err := cmd.Start()
	p.out.follow()
	p.err.follow()
	if err == nil {
		p.pid = cmd.Process.Pid
		err = cmd.Process.Release() // this goroutine waits for it, to hear of stops too
	}
	started <- err
	if err != nil {
		return
	}
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(p.pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err == nil && status.Stopped():
			select {
			case p.stopped <- struct{}{}:
			default:
			}
		default:
			p.status = status
			close(p.exited)
			return
		}
	}
}

// finish kills the process, if it still runs, and checks its output.
func (p *process) finish(t *testing.T) {
	p.kill()
	select {
	case <-p.exited:
	case <-time.After(maxWait):
		t.Errorf("%s: no end after SIGKILL", p.name)
		return
	}
	said := p.err.text()
	for _, sign := range []string{"WARNING: DATA RACE", "\npanic: ", "fatal error: "} {
		if strings.Contains("\n"+said, sign) {
			t.Errorf("%s: %s", p.name, strings.TrimSpace(sign))
		}
	}
	if t.Failed() {
		t.Logf("%s said:\n%s", p.name, brief(said))
	}
}

// signal sends sig unless the process has ended.
func (p *process) signal(sig syscall.Signal) {
	select {
	case <-p.exited:
	default:
		_ = syscall.Kill(p.pid, sig)
	}
}

func (p *process) kill() { p.signal(syscall.SIGKILL) }

// kill9 kills the process and waits until it is gone.
func (p *process) kill9(t *testing.T) {
	t.Helper()
	p.kill()
	p.awaitExit(t)
}

func (p *process) awaitExit(t *testing.T) syscall.WaitStatus {
	t.Helper()
	await(t, p.exited, p.name+" has ended")
	return p.status
}

// awaitKilled waits for the end of a process that kills itself.
func (p *process) awaitKilled(t *testing.T) {
	t.Helper()
	if status := p.awaitExit(t); !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("%s: exit status %d, want it killed", p.name, status.ExitStatus())
	}
}

// await waits for a signal.
func await[T any](t *testing.T, signal <-chan T, what string) T {
	t.Helper()
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case v := <-signal:
		return v
	case <-timer.C:
		t.Fatalf("after %s still not: %s", maxWait, what)
	}
	var none T
	return none
}

// eventually polls until check returns nil.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(maxWait)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s still not: %s: %s", maxWait, what, err)
		}
		<-tick.C
	}
}

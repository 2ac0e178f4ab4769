package devserver

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
)

var errEnded = errors.New("the server is not running")

// process is a child that somebody waits for.
type process struct {
	pid  int
	done chan struct{} // closed when the child has ended and was reaped
	err  error         // how it ended; read after done
}

// spawn starts cmd as a child that is killed when this process ends, even by
// SIGKILL, and in a process group of its own so that a Ctrl-C at the terminal
// reaches only us, who then stop it in order.
//
// The kernel ties "parent death" to the thread that forked. So the goroutine
// that starts the child keeps its thread for itself until the child has ended.
func spawn(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = childAttr()
	p := &process{done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for life: the thread ends with this goroutine
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		p.pid = cmd.Process.Pid
		started <- nil
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// ended tells whether the child is gone already.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// signal sends sig to the child unless it has ended.
func (p *process) signal(sig syscall.Signal) error {
	if p.ended() {
		return errEnded
	}
	return syscall.Kill(p.pid, sig)
}

// kill ends the child for sure, a stopped one too.
func (p *process) kill() { _ = p.signal(syscall.SIGKILL) }

// Package child runs programs that do not outlive this one.
package child

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Process is a child of this process, which is always reaped. All methods may be called concurrently.
type Process struct {
	PID int

	process *os.Process
	done    chan struct{} // closed when the child has ended and was reaped
	err     error         // how it ended; read after done
}

// Start starts cmd. On Linux the kernel sends the child a signal when this process ends, even by SIGKILL; elsewhere the child
// outlives a parent that is killed by SIGKILL.
//
// To the kernel the parent ends with the thread that started the child, and a thread ends with a goroutine that is locked to it.
// So the goroutine that starts the child keeps a thread for itself until the child has ended.
func Start(cmd *exec.Cmd, death syscall.Signal) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	onDeathOfParent(cmd.SysProcAttr, death)
	p := &Process{done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for life: the thread ends with this goroutine
		err := cmd.Start()
		if err == nil {
			p.PID, p.process = cmd.Process.Pid, cmd.Process
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// Done returns a channel that is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the end of the child. The error is the error of exec.Cmd.Wait, nil for exit status 0.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Signal sends a signal to the child. The error is os.ErrProcessDone when it has ended.
func (p *Process) Signal(s os.Signal) error { return p.process.Signal(s) }

// Kill ends the child, also a stopped one, and waits for its end.
func (p *Process) Kill() {
	_ = p.process.Kill() // or it has ended
	<-p.done
}

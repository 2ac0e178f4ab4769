package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"leaderboard/internal/child"
)

var errGiven = errors.New("not our process: the server was given by its address")

// Server is a running server. Its methods may be called concurrently; PID
// changes at Restart, so read it when no Restart is under way.
type Server struct {
	Kind    Kind
	Version string // of the program; empty for a Redis that was given
	Addr    string // host:port
	DSN     string // MySQL, MariaDB: root without a database, "root@tcp(127.0.0.1:port)/"
	URL     string // Redis: "redis://127.0.0.1:port/0"
	PID     int    // 0 for a server that was given by its address
	LogFile string // the server's output; empty for a given server

	run *instance // nil when given
	mu  sync.Mutex
	// proc is the current process; guarded by mu.
	proc *child.Process
}

// Stop ends the server for good. A server with lasting data is shut down in order, with SIGKILL when ctx ends or it takes
// longer than 20 s; an ephemeral server is killed and its data are deleted. Stopping a given server, or a server that has
// ended, is not an error.
func (s *Server) Stop(ctx context.Context) error {
	if s.run == nil {
		return nil
	}
	if !s.run.cfg.Ephemeral {
		return s.Shutdown(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.Kill()
	if err := errors.Join(os.RemoveAll(s.run.dir), os.RemoveAll(tmpDir(s.run.dir))); err != nil {
		return fmt.Errorf("data of %s: %w", s.Kind, err)
	}
	return nil
}

// Shutdown ends the server in order, as an operator would, with SIGKILL when
// ctx ends or it takes longer than 20 s. The data stay; Restart is possible.
func (s *Server) Shutdown(ctx context.Context) error {
	if s.run == nil {
		return errGiven
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stopProcess(ctx, s.proc)
	return nil
}

func stopProcess(ctx context.Context, p *child.Process) {
	if p.Signal(syscall.SIGTERM) != nil {
		return // it has ended
	}
	_ = p.Signal(syscall.SIGCONT) // a paused server handles no other signal
	limit := time.NewTimer(stopLimit)
	defer limit.Stop()
	select {
	case <-p.Done():
		return
	case <-limit.C:
	case <-ctx.Done():
	}
	p.Kill()
}

// Kill ends the server at once, as a crash would, and waits until it is gone.
func (s *Server) Kill() error {
	if err := s.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-s.Exited()
	return nil
}

// Pause stops the process where it stands: connections stay open and nothing answers. It returns when no thread of it runs
// any longer, where the system reports this (Linux). Resume lets it continue.
func (s *Server) Pause() error {
	if err := s.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for late := time.Now().Add(pauseLimit); s.runs(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			return fmt.Errorf("pause of %s: it still runs after %s", s.Kind, pauseLimit)
		}
	}
	return nil
}

// pauseLimit is how long the threads of a process may take to stop, while the machine does other work.
const pauseLimit = 10 * time.Second

// runs reports whether a thread of the process is not stopped.
func (s *Server) runs() bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", s.PID))
	for _, path := range threads {
		stat, err := os.ReadFile(path)
		_, state, found := strings.Cut(string(stat), ") ")
		if err == nil && found && !strings.HasPrefix(state, "T") {
			return true
		}
	}
	return false
}

// Resume ends a Pause.
func (s *Server) Resume() error { return s.signal(syscall.SIGCONT) }

// Restart starts a stopped or killed server again, with the same data (unless
// Stop deleted them) at the same address.
func (s *Server) Restart(ctx context.Context) error {
	if s.run == nil {
		return errGiven
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.proc.Done():
	default:
		return fmt.Errorf("restart of %s: it is still running", s.Kind)
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	proc, err := s.run.start(ctx)
	if err != nil {
		return fmt.Errorf("restart of %s: %w", s.Kind, err)
	}
	s.proc, s.PID = proc, proc.PID
	return nil
}

// Exited returns a channel that is closed when the server's present process has ended, for whatever
// reason. It is nil, which blocks forever, for a server that was given.
func (s *Server) Exited() <-chan struct{} {
	if s.run == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc.Done()
}

func (s *Server) signal(sig syscall.Signal) error {
	if s.run == nil {
		return errGiven
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.proc.Signal(sig); err != nil {
		return fmt.Errorf("%s to %s: %w", sig, s.Kind, err)
	}
	return nil
}

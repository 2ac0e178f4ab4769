package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"leaderboard/internal/child"
)

// service is the part that differs between the kinds.
type service interface {
	// prepare fills the absent data folder dir.
	prepare(ctx context.Context, prog program, c cache, dir string) error
	// args are the program's arguments.
	args(prog program, cfg Config, dir string, port int) []string
	// ready reports whether the server of this process answers at addr. An answer
	// by another server, which took the port first, is errForeign.
	ready(ctx context.Context, addr, dir string, pid int) error
}

func serviceOf(kind Kind) service {
	switch kind {
	case KindMySQL:
		return mysqlService{}
	case KindMariaDB:
		return mariadbService{}
	default:
		return redisService{}
	}
}

// instance is a program with its data and address, for Restart.
type instance struct {
	prog program
	svc  service
	cfg  Config
	dir  string // data
	log  string // file
	port int

	more func(ctx context.Context, in *instance) ([]string, error) // returns additional arguments for each start; nil: no more
}

func (in *instance) addr() string { return fmt.Sprintf("127.0.0.1:%d", in.port) }

// launch prepares the data folder and starts prog on a free port. The folder has the name of the kind that was asked
// for: a program may stand in for two of them.
func launch(ctx context.Context, asked Kind, prog program, c cache, cfg Config) (*Server, error) {
	in := &instance{prog: prog, svc: serviceOf(prog.kind), cfg: cfg}
	in.dir = filepath.Join(cfg.Dir, string(asked))
	in.log = in.dir + ".log"
	lock, err := in.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if _, err := os.Stat(in.dir); errors.Is(err, os.ErrNotExist) {
		if err := in.svc.prepare(ctx, prog, c, in.dir); err != nil {
			return nil, fmt.Errorf("data folder for %s: %w", prog.kind, err)
		}
	}
	var proc *child.Process
	for range portAttempts {
		if in.port, err = freePort(); err != nil {
			return nil, err
		}
		if proc, err = in.startLocked(ctx, lock); !errors.Is(err, errForeign) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return in.server(proc), nil
}

func (in *instance) args() []string { return in.svc.args(in.prog, in.cfg, in.dir, in.port) }

func (in *instance) server(proc *child.Process) *Server {
	s := &Server{
		Kind: in.prog.kind, Version: in.prog.version, Addr: in.addr(),
		PID: proc.PID, LogFile: in.log, run: in, proc: proc,
	}
	if in.prog.kind == KindRedis {
		s.URL = "redis://" + s.Addr + "/0"
	} else {
		s.DSN = "root@tcp(" + s.Addr + ")/"
	}
	return s
}

// lock takes the data folder for us. The server inherits the lock and holds it for as long as it lives, so a next start
// waits for a server that is still ending.
func (in *instance) lock(ctx context.Context) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	f, err := lockFile(ctx, in.dir+".lock")
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%w: %s", errInUse, in.dir)
	}
	return f, err
}

// start runs the server at its address.
func (in *instance) start(ctx context.Context) (*child.Process, error) {
	lock, err := in.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	return in.startLocked(ctx, lock)
}

func (in *instance) startLocked(ctx context.Context, lock *os.File) (*child.Process, error) {
	// MySQL leaves the lock of its socket behind when it is killed, and does not start while any process has the id in it:
	// another program after a reboot, or its own zombie. We hold the folder, so it is stale.
	if err := os.Remove(filepath.Join(in.dir, socketName+".lock")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("lock of the socket of %s: %w", in.prog.kind, err)
	}
	if in.prog.kind != KindRedis {
		if err := os.MkdirAll(tmpDir(in.dir), 0o755); err != nil {
			return nil, fmt.Errorf("temporary folder of %s: %w", in.prog.kind, err)
		}
	}
	args := in.args()
	if in.more != nil {
		more, err := in.more(ctx, in)
		if err != nil {
			return nil, err
		}
		args = append(args, more...)
	}
	cmd, err := in.prog.command(args...)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(in.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", in.prog.kind, err)
	}
	defer out.Close()
	from, err := out.Seek(0, 2)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", in.prog.kind, err)
	}
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, in.cfg.Dir
	cmd.ExtraFiles = []*os.File{lock}
	if in.prog.kind != KindRedis {
		cmd.Env = append(cmd.Env, in.cfg.Env...)
	}
	proc, err := spawn(cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", in.prog.path, err)
	}
	if err := in.await(ctx, proc); err != nil {
		proc.Kill()
		tail := logTail(in.log, from)
		if portTaken(tail) {
			err = fmt.Errorf("%w: %w", errForeign, err)
		}
		return nil, fmt.Errorf("start %s: %w; the end of %s:\n%s", in.prog.path, err, in.log, tail)
	}
	return proc, nil
}

// await polls until the server answers, has ended, or ctx is done.
func (in *instance) await(ctx context.Context, proc *child.Process) error {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		err := in.svc.ready(ctx, in.addr(), in.dir, proc.PID)
		if err == nil || errors.Is(err, errForeign) {
			return err
		}
		select {
		case <-proc.Done():
			return fmt.Errorf("the program ended: %w", endOf(proc))
		case <-ctx.Done():
			return fmt.Errorf("%w; last answer: %w", ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// endOf returns how an ended process ended, never nil.
func endOf(p *child.Process) error {
	if err := p.Wait(); err != nil {
		return err
	}
	return errors.New("exit status 0")
}

// portTaken recognises the complaint of a server whose port was taken between
// our choice and its start.
func portTaken(log string) bool {
	return strings.Contains(strings.ToLower(log), "address already in use")
}

// logTail returns the last lines that were written to the file after from, and before them the error lines: a long text may
// follow an error.
func logTail(path string, from int64) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Sprintf("(no log: %s)", err)
	}
	if from < int64(len(text)) {
		text = text[from:]
	}
	var errs []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "[ERROR]") {
			errs = append(errs, line)
		}
	}
	return lastLines(strings.Join(errs, ""), 5) + "\n" + lastLines(string(text), 15)
}

package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"leaderboard/internal/devserver"
	"leaderboard/internal/leaks"
)

// pool is the servers of a process, each started at its first use.
type pool struct {
	mu      sync.Mutex // held while one starts, so that no other starts
	dir     string
	servers map[devserver.Kind]Provided
	failed  map[devserver.Kind]error // a start that failed is not tried again
}

// process is the pool of this process. It is a package variable because tests receive nothing but a testing.TB.
var process = newPool()

func newPool() *pool {
	return &pool{servers: map[devserver.Kind]Provided{}, failed: map[devserver.Kind]error{}}
}

// shared returns the address of the server of kind that this run shares.
func shared(t testing.TB, kind devserver.Kind) string {
	t.Helper()
	return process.forTest(t, kind)
}

func (p *pool) forTest(t testing.TB, kind devserver.Kind) string {
	t.Helper()
	if address := os.Getenv(Variable(kind)); address != "" {
		return address
	}
	address, err := p.address(kind)
	if err != nil {
		t.Fatalf("this test needs a %s server: %s", kind, err)
	}
	return address
}

func (p *pool) address(kind devserver.Kind) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.failed[kind]; err != nil {
		return "", err
	}
	if s, ok := p.servers[kind]; ok {
		return s.Address, nil
	}
	s, err := p.start(kind)
	if err != nil {
		p.failed[kind] = err
		return "", err
	}
	p.servers[kind] = s
	return s.Address, nil
}

func (p *pool) start(kind devserver.Kind) (Provided, error) {
	if p.dir == "" {
		dir, err := NewRunDir()
		if err != nil {
			return Provided{}, err
		}
		p.dir = dir
	}
	// Not a test's context: the server outlives the test that asks first.
	return Provide(context.Background(), kind, p.dir, nil)
}

// stop ends all servers.
func (p *pool) stop(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for kind, s := range p.servers {
		if err := s.Stop(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", kind, err))
		}
		delete(p.servers, kind)
	}
	return errors.Join(append(errs, os.RemoveAll(p.dir))...)
}

// Main runs a package's tests, stops their servers, and fails when goroutines are left. TestMain must call it. Without it the
// servers are killed with the process, the next run sweeps their folder, and Ryuk removes containers.
func Main(m *testing.M) int {
	code := m.Run()
	if err := process.stop(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		return max(code, 1)
	}
	return leaks.Check(code, os.Stderr)
}

package app

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
)

// Fault is a testing aid (the hidden setting fault): the process sends a signal to itself the first time that it reaches a named
// point of a rebuild, so that a test can kill or pause a builder exactly there. The zero value does nothing.
//
//	kill:POINT  SIGKILL, as if the machine had died
//	stop:POINT  SIGSTOP, a builder that is paused past its lease; SIGCONT resumes it
//
// leave:copies is for measurements: no commit is written to the copies in Redis; a copy is brought up to date when a reader finds
// it old.
type Fault struct {
	point  string
	leaves bool // no commit is written through: see leaveCopies
	signal syscall.Signal
}

// leaveCopies is the fault by which no commit is written to the copies in Redis before a reader finds them old.
const leaveCopies = "leave:copies"

// ParseFault reads kill:POINT, stop:POINT or leave:copies.
func ParseFault(v string) (Fault, error) {
	how, point, ok := strings.Cut(v, ":")
	if v == leaveCopies {
		return Fault{leaves: true}, nil
	}
	if ok && point != "" {
		switch how {
		case "kill":
			return Fault{point: point, signal: syscall.SIGKILL}, nil
		case "stop":
			return Fault{point: point, signal: syscall.SIGSTOP}, nil
		}
	}
	return Fault{}, fmt.Errorf("want kill:POINT, stop:POINT or leave:copies, not %q", v)
}

// hook returns the function that a builder calls at each of its points, nil without a fault.
func (f Fault) hook() func(point string) {
	if f.point == "" {
		return nil
	}
	var once sync.Once // a builder that SIGCONT continues reaches a chunk again
	return func(point string) {
		if point == f.point {
			once.Do(func() { signalSelf(f.signal) })
		}
	}
}

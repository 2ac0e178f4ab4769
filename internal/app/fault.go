package app

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
)

// Fault is a testing aid (the hidden setting fault): the first time it is at a named point of a rebuild, the process sends a signal
// to itself, so that a test can kill or pause a builder exactly there. The zero value does nothing.
//
//	kill:POINT  SIGKILL, as if the machine had died
//	stop:POINT  SIGSTOP, a builder that is paused past its lease; SIGCONT resumes it
type Fault struct {
	point  string
	signal syscall.Signal
}

// ParseFault reads kill:POINT or stop:POINT.
func ParseFault(v string) (Fault, error) {
	how, point, ok := strings.Cut(v, ":")
	if ok && point != "" {
		switch how {
		case "kill":
			return Fault{point, syscall.SIGKILL}, nil
		case "stop":
			return Fault{point, syscall.SIGSTOP}, nil
		}
	}
	return Fault{}, fmt.Errorf("want kill:POINT or stop:POINT, not %q", v)
}

// hook returns what a builder calls at each of its points, nil without a fault.
func (f Fault) hook() func(point string) {
	if f.point == "" {
		return nil
	}
	var once sync.Once // a builder that goes on after SIGCONT is at a chunk again
	return func(point string) {
		if point == f.point {
			once.Do(func() { signalSelf(f.signal) })
		}
	}
}

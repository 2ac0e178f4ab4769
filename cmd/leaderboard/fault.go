package main

import (
	"fmt"
	"strings"
	"syscall"
)

// fault is a testing aid (the hidden setting fault): at a named point of a rebuild, the process sends a signal to
// itself, so that a test can kill or pause a builder exactly there. The zero value does nothing.
//
//	kill:POINT  SIGKILL, as if the machine had died
//	stop:POINT  SIGSTOP, a builder that is paused past its lease; SIGCONT resumes it
type fault struct {
	point  string
	signal syscall.Signal
}

func setFault(c *config, v string) error {
	how, point, ok := strings.Cut(v, ":")
	if ok && point != "" {
		switch how {
		case "kill":
			c.fault = fault{point, syscall.SIGKILL}
			return nil
		case "stop":
			c.fault = fault{point, syscall.SIGSTOP}
			return nil
		}
	}
	return fmt.Errorf("want kill:POINT or stop:POINT, not %q", v)
}

// hook is what a builder calls at each of its points, nil without a fault.
func (f fault) hook() func(point string) {
	if f.point == "" {
		return nil
	}
	return func(point string) {
		if point == f.point {
			signalSelf(f.signal)
		}
	}
}

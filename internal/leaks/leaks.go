// Package leaks finds goroutines that the tests of a package have left.
package leaks

import (
	"fmt"
	"io"
	"net/http"
	"os"

	"go.uber.org/goleak"
)

// looks is how often goleak looks, for half a second each: goroutines that are ending need their time on a busy machine.
const looks = 20

// Main runs a package's tests and returns the exit status: 1 when they succeed and leave goroutines. m is a *testing.M.
func Main(m interface{ Run() int }) int { return Check(m.Run(), os.Stderr) }

// Check returns the exit status of tests that have ended with code.
func Check(code int, stderr io.Writer) int {
	if code != 0 {
		return code // a failed test may have left anything
	}
	return checkFor(looks, stderr)
}

// checkFor looks a number of times for goroutines, and returns 1 if some are left at the last look.
func checkFor(looks int, stderr io.Writer) int {
	if transport, ok := http.DefaultTransport.(*http.Transport); ok {
		transport.CloseIdleConnections() // of tests that ask with the default client
	}
	var err error
	for range looks {
		if err = goleak.Find(ignored()...); err == nil {
			return 0
		}
	}
	fmt.Fprintln(stderr, "the tests have left goroutines:", err)
	return 1
}

// ignored are goroutines that no test can end: the goroutines of the connection through which testcontainers removes
// containers, which lives as long as the process.
func ignored() []goleak.Option {
	return []goleak.Option{goleak.IgnoreAnyFunction("github.com/testcontainers/testcontainers-go.(*Reaper).connect.func1")}
}

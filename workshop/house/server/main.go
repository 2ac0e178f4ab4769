// Command server is the program leaderboard with a door for the measures of make house. It listens on the unix socket that
// LEADERBOARD_HOUSE_SOCKET names: GET /clear forgets which code has run, GET /write?dir=D writes the coverage since then into D.
// It must be built with -cover -covermode=atomic.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/coverage"
	_ "time/tzdata" // as in cmd/leaderboard

	"leaderboard/internal/cli"
)

func main() {
	if _, err := listen(os.Getenv("LEADERBOARD_HOUSE_SOCKET")); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
	os.Exit(cli.Main())
}

// listen serves the door on a socket until the listener is closed.
func listen(socket string) (net.Listener, error) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /clear", func(w http.ResponseWriter, _ *http.Request) { reply(w, coverage.ClearCounters()) })
	mux.HandleFunc("GET /write", func(w http.ResponseWriter, r *http.Request) {
		dir := r.FormValue("dir")
		err := coverage.WriteMetaDir(dir)
		if err == nil {
			err = coverage.WriteCountersDir(dir)
		}
		reply(w, err)
	})
	go func() { _ = http.Serve(l, mux) }()
	return l, nil
}

// reply answers 200, or 500 with an error.
func reply(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

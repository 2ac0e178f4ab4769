package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// serveBare answers every request with the bytes of a file: the yardstick of the reads. It runs in a separate process, like
// the server, and ends when its standard input does.
func serveBare(file string) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	})}
	fmt.Println(listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	_ = server.Serve(listener)
	return nil
}

// bare is a process that runs serveBare.
type bare struct {
	addr string
	pid  int
	stop func()
}

// startBare starts serveBare with this body.
func startBare(ctx context.Context, dir string, body []byte) (*bare, error) {
	file := filepath.Join(dir, "bare-body")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-bare", file)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() { _ = stdin.Close(); _ = cmd.Wait() }
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		stop()
		return nil, fmt.Errorf("the bare handler did not start: %w", err)
	}
	return &bare{strings.TrimSpace(line), cmd.Process.Pid, stop}, nil
}

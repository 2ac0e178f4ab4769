package devserver

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	"leaderboard/internal/child"
)

// spawn starts a child in a separate process group, so that a Ctrl-C at the terminal reaches only us, who then stop it in
// order.
func spawn(cmd *exec.Cmd) (*child.Process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return child.Start(cmd, syscall.SIGKILL)
}

// runCommand runs cmd to its end, or kills it when ctx ends first, and returns its output. A failure carries the end of its
// output. Like servers, it dies with this process.
func runCommand(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	proc, err := spawn(cmd)
	if err != nil {
		return "", err
	}
	select {
	case <-proc.Done():
	case <-ctx.Done():
		proc.Kill()
		return "", fmt.Errorf("%s: %w", cmd.Path, ctx.Err())
	}
	if err := proc.Wait(); err != nil {
		return "", fmt.Errorf("%w: %s", err, lastLines(out.String(), 10))
	}
	return out.String(), nil
}

// lastLines returns the last n lines of s without surrounding space.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

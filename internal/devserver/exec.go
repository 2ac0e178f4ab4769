package devserver

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// runCommand runs cmd to its end, or kills it when ctx ends first, and returns
// what it wrote. A failure carries the end of its output. Like servers, it dies
// with this process.
func runCommand(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	proc, err := spawn(cmd)
	if err != nil {
		return "", err
	}
	select {
	case <-proc.done:
	case <-ctx.Done():
		proc.kill()
		<-proc.done
		return "", fmt.Errorf("%s: %w", cmd.Path, ctx.Err())
	}
	if proc.err != nil {
		return "", fmt.Errorf("%w: %s", proc.err, lastLines(out.String(), 10))
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

// Package e2e tests the program as processes: servers killed with -9, builders paused past their lease, Redis and MySQL
// that die, hang and come back, replies to COMMIT that get lost. The program is built once per run, unless it is given:
// make nightly gives a program with the race detector. When a process ends, its output is searched for reports of races and
// panics.
package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"leaderboard/internal/testenv"
)

// programVariable names the program under test. TestMain sets it, unless it is given.
const programVariable = "LEADERBOARD_E2E_PROGRAM"

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	registerToxics()
	if os.Getenv(programVariable) == "" {
		dir, err := buildProgram()
		if err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
			return 1
		}
		defer os.RemoveAll(dir)
	}
	return testenv.Main(m)
}

// buildProgram builds the program into a temporary folder, which it returns, and names it in the environment.
func buildProgram() (string, error) {
	dir, err := os.MkdirTemp("", "leaderboard-e2e-")
	if err != nil {
		return "", fmt.Errorf("folder for the program: %w", err)
	}
	program := filepath.Join(dir, "leaderboard")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "leaderboard/cmd/leaderboard").CombinedOutput()
	if err != nil {
		return "", errors.Join(fmt.Errorf("build the program: %w\n%s", err, out), os.RemoveAll(dir))
	}
	return dir, os.Setenv(programVariable, program)
}

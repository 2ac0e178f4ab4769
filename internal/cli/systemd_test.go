package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// systemdFolder has the unit and the settings that packages install.
const systemdFolder = "../../deploy/systemd"

// startOf returns the program and the arguments of a unit, with a folder in the place of the credentials.
func startOf(t *testing.T, unit, credentials string) []string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^ExecStart=(.+)$`).FindAllStringSubmatch(unit, -1)
	if len(m) != 1 {
		t.Fatalf("the unit has %d lines ExecStart", len(m))
	}
	return strings.Fields(strings.ReplaceAll(m[0][1], "${CREDENTIALS_DIRECTORY}", credentials))
}

// readText returns the content of a file.
func readText(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestPackagedSettings checks the start by the unit of the packages: with the settings as installed, which lack a database, and
// with every commented-out setting filled in for servers here.
func TestPackagedSettings(t *testing.T) {
	t.Parallel()
	unit, settings := readText(t, systemdFolder+"/leaderboard.service"), readText(t, systemdFolder+"/leaderboard.yaml")
	if !strings.Contains(unit, "\nLoadCredential=leaderboard.yaml:/etc/leaderboard/leaderboard.yaml\n") {
		t.Error("the unit does not hand over the settings where packages install them")
	}
	folder := t.TempDir()
	start := startOf(t, unit, folder)
	if start[0] != "/usr/bin/leaderboard" || start[1] != "serve" {
		t.Fatalf("the unit starts %q", start)
	}
	args := append(slices.Clone(start[1:]), "--check")
	file := filepath.Join(folder, "leaderboard.yaml")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, errOut := runWith(t, nil, args...); status != exitUsage || !strings.Contains(errOut, "--mysql-dsn") {
		t.Errorf("as they are installed: status %d, want %d and what is missing\n%s%s", status, exitUsage, out, errOut)
	}
	if !strings.Contains(unit, "\nRestartPreventExitStatus=2\n") || exitUsage != 2 {
		t.Error("the unit starts a server again and again whose settings are wrong")
	}

	filled := regexp.MustCompile(`(?m)^#([a-z-]+: )`).ReplaceAllString(settings, "$1")
	if n := strings.Count(settings, "\n#") - strings.Count(filled, "\n#"); n != 5 {
		t.Errorf("%d settings are comments, want the database, the cache, operators, proxies and keys", n)
	}
	dsn, redis := testenv.MySQL(t), testenv.Redis(t)
	for was, is := range map[string]string{
		"leaderboard:PASSWORD@tcp(127.0.0.1:3306)/leaderboard": dsn, "redis://127.0.0.1:6379/0": redis,
		"listen: 127.0.0.1:8080": "listen: " + apptest.FreeAddress(t), "ops-listen: 127.0.0.1:8081": "ops-listen: " + apptest.FreeAddress(t), "SECRET": strings.Repeat("s", 32),
	} {
		if !strings.Contains(filled, was) {
			t.Errorf("the settings have no %s", was)
		}
		filled = strings.ReplaceAll(filled, was, is)
	}
	if err := os.WriteFile(file, []byte(filled), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, errOut := runWith(t, nil, args...); status != exitOK {
		t.Errorf("filled in: status %d\n%s%s", status, out, errOut)
	}
}

// TestUnit: the unit of the packages denies the process all that it does not need, and systemd understands the unit, where there
// is systemd.
func TestUnit(t *testing.T) {
	t.Parallel()
	unit := readText(t, systemdFolder+"/leaderboard.service")
	for _, line := range []string{
		"Type=exec", // the program sends systemd no messages
		"Restart=on-failure", "DynamicUser=yes", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict", "ProtectHome=yes",
		"PrivateDevices=yes", "MemoryDenyWriteExecute=yes", "SystemCallFilter=@system-service", "WantedBy=multi-user.target",
	} {
		if !strings.Contains(unit, "\n"+line+"\n") {
			t.Errorf("the unit has no line %s", line)
		}
	}
	for line := range strings.Lines(unit) { // of a form that systemd reads
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !regexp.MustCompile(`^(\[\w+\]|[A-Z]\w+=.*)$`).MatchString(line) {
			t.Errorf("a line of the unit is no setting: %s", line)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if errors.Is(err, exec.ErrNotFound) {
		t.Log("there is no systemd-analyze here: the names of the settings of the unit were not looked at")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable() // in the place of the program that is not installed here
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "leaderboard.service")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(unit, "/usr/bin/leaderboard", program)), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput(); err != nil || strings.Contains(string(out), "leaderboard.service") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

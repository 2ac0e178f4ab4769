package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeGo stands in for go in workshop/tools/fuzz.sh: the test binaries that it builds fail as $SAID says the first $TIMES times.
const fakeGo = `#!/bin/sh
case "$1" in
test) cat >"$6" <<'END'
#!/bin/sh
echo try >>"$TRIES"
echo 'fuzz: elapsed: 5s, execs: 6056 (1893/sec), new interesting: 1 (total: 57)'
[ $(wc -l <"$TRIES") -gt "$TIMES" ] || { printf -- '--- FAIL: FuzzA (5.15s)\n%b\nFAIL\n' "$SAID"; exit 1; }
END
	chmod +x "$6" ;;
esac
`

// TestFuzzTriesAgain: a target that ended only because its time was up is tried again, but not for ever; after any other
// message it has failed.
func TestFuzzTriesAgain(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("../tools/fuzz.sh")
	if err != nil {
		t.Fatal(err)
	}
	const up = `    context deadline exceeded`
	for name, c := range map[string]struct {
		times, said string
		tries       int
		passes      bool
	}{
		"well":                {"0", up, 1, true},
		"time is up":          {"1", up, 2, true},
		"time is up again":    {"2", up, 3, true},
		"time is up always":   {"3", up, 3, false},
		"an input was kept":   {"1", up + `\n    Failing input written to testdata/fuzz/FuzzA/1`, 1, false},
		"the test's own text": {"1", `    a_test.go:3: context deadline exceeded`, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tries := filepath.Join(dir, "tries")
			for file, text := range map[string]string{"go": fakeGo, "a_test.go": "func FuzzA(f *testing.F) {}\n"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "sh", script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GO="+filepath.Join(dir, "go"), "CHANGED=", "TRIES="+tries, "TIMES="+c.times, "SAID="+c.said)
			out, err := cmd.CombinedOutput()
			text, _ := os.ReadFile(tries)
			if n := strings.Count(string(text), "try"); n != c.tries || (err == nil) != c.passes {
				t.Errorf("%d tries, want %d; %v, want %t\n%s", n, c.tries, err, c.passes, out)
			}
		})
	}
}

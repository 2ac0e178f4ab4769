package leaks

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// TestCheck: a goroutine that does not end is found and named. A goroutine that has ended is not.
func TestCheck(t *testing.T) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); <-end }()
	var out bytes.Buffer
	if code := checkFor(1, &out); code != 1 || !strings.Contains(out.String(), "TestCheck.func") {
		t.Errorf("status %d: %s", code, out.String())
	}
	close(end)
	<-ended
	if code := checkFor(looks, &out); code != 0 {
		t.Errorf("status %d: %s", code, out.String())
	}
	if code := Check(2, &out); code != 2 {
		t.Errorf("status %d of tests that failed", code)
	}
}

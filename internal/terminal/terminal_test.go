package terminal

import "testing"

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"alice": "alice", "日本語": "日本語", "a b": "a b", "": `""`, " a": `" a"`, "a\x1b[31m": `"a\x1b[31m"`, "a\tb": `"a\tb"`, "\xff": `"\xff"`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q is shown as %s, want %s", in, got, want)
		}
	}
}

func TestOverwriting(t *testing.T) {
	if got, want := string(overwriting([]byte("a\nb\n"))), "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

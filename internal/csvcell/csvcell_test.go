package csvcell

import (
	"strings"
	"testing"
)

// TestQuoteFormula: no cell begins like a formula, and each comes back unchanged.
func TestQuoteFormula(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "a": "a", "'": "'", "'a": "'a", "a=1": "a=1", "'a=1": "'a=1", "é": "é", "\xff": "\xff", "''": "''",
		"=1": "'=1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\ta": "'\ta", "\ra": "'\ra", "\na": "'\na", "=": "'=", "＝1": "'＝1", "＋": "'＋", "－": "'－", "＠": "'＠",
		"'=1": "''=1", "''=1": "'''=1", "'-": "''-",
	} {
		got := Quote(s)
		if got != want || got != "" && strings.ContainsRune(formulaStarts, []rune(got)[0]) && got != "\xff" {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
		if back := Unquote(got); back != s {
			t.Errorf("%q becomes %q, and %q again", s, got, back)
		}
	}
}

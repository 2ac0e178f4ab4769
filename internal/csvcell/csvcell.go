// Package csvcell writes and reads cells of CSV that no spreadsheet takes for formulas.
package csvcell

import "strings"

// formulaStarts are the characters that spreadsheets take for the beginning of a formula (OWASP, CSV Injection), the
// wide forms of East Asian keyboards included.
const formulaStarts = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"

// quotedFormula reports whether s begins like a formula, possibly after quotes.
func quotedFormula(s string) bool {
	for _, r := range strings.TrimLeft(s, "'") {
		return strings.ContainsRune(formulaStarts, r)
	}
	return false
}

// Quote returns s as a safe cell of a spreadsheet. It puts a single quote before a formula, and before quotes
// that are followed by a formula, so that Unquote can invert it.
func Quote(s string) string {
	if quotedFormula(s) {
		return "'" + s
	}
	return s
}

// Unquote is the inverse of Quote.
func Unquote(s string) string {
	if strings.HasPrefix(s, "'") && quotedFormula(s) {
		return s[1:]
	}
	return s
}

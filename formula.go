package leaderboard

import "strings"

// formulaStarts are what spreadsheets take for the beginning of a formula (OWASP, CSV Injection), the wide forms of
// East Asian keyboards included.
const formulaStarts = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"

// quotedFormula says whether s begins like a formula, be it behind quotes.
func quotedFormula(s string) bool {
	for _, r := range strings.TrimLeft(s, "'") {
		return strings.ContainsRune(formulaStarts, r)
	}
	return false
}

// QuoteFormula returns s as a cell of a spreadsheet: with a single quote before it when it would be a formula, and when
// it is one with quotes before it, so that UnquoteFormula finds out which it was.
func QuoteFormula(s string) string {
	if quotedFormula(s) {
		return "'" + s
	}
	return s
}

// UnquoteFormula returns what QuoteFormula was given.
func UnquoteFormula(s string) string {
	if strings.HasPrefix(s, "'") && quotedFormula(s) {
		return s[1:]
	}
	return s
}

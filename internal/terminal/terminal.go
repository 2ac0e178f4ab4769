// Package terminal prints for people and programs: tables, JSON, progress bars, and texts that are safe for a terminal.
package terminal

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Printable quotes a text that would confuse a terminal or a column: member ids may hold any bytes of UTF-8.
func Printable(s string) string {
	bad := func(r rune) bool { return !unicode.IsPrint(r) && string(r) != joiner || r == unicode.ReplacementChar }
	if s == "" || strings.ContainsFunc(s, bad) || strings.Contains(s, joiner) && !isEmoji(s) || strings.TrimSpace(s) != s {
		return strconv.Quote(s)
	}
	return s
}

// Say prints a line. It replaces a progress bar on the same terminal, which is drawn again at its next step.
func Say(w io.Writer, line string) {
	if IsTerminal(w) {
		line = "\r\x1b[K" + line
	}
	fmt.Fprintln(w, line)
}

// Count formats a number for people, as in 5,002.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// PassJSON prints JSON unchanged, on a separate line.
func PassJSON(w io.Writer, body []byte) error {
	_, err := fmt.Fprintf(w, "%s\n", strings.TrimSpace(string(body)))
	return err
}

// PrintJSON prints a value on one line, as encoding/json does. Times are as the API has them: UTC, with six digits of fraction.
func PrintJSON(w io.Writer, v any) error {
	times := json.MarshalFunc(func(t time.Time) ([]byte, error) {
		return t.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000000Z"`), nil
	})
	text, err := json.Marshal(v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), json.WithMarshalers(times))
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

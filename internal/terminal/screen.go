package terminal

import (
	"bytes"
	"io"
)

// Replace prints lines: over those before on a terminal, which they do not make flicker as a cleared one would; elsewhere below
// them, after an empty line.
func Replace(w io.Writer, lines []byte) error {
	shown := append(lines, '\n')
	if IsTerminal(w) {
		shown = overwriting(lines)
	}
	_, err := w.Write(shown)
	return err
}

// overwriting returns lines that take the place of what stands on a terminal.
func overwriting(lines []byte) []byte {
	const home, clearLine, clearBelow = "\x1b[H", "\x1b[K", "\x1b[J"
	out := append([]byte(home), bytes.ReplaceAll(lines, []byte("\n"), []byte(clearLine+"\n"))...)
	return append(out, clearBelow...)
}

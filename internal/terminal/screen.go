package terminal

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Screen is a terminal to write to. It has a size, which may change, and may have colours.
type Screen struct {
	io.Writer
	Size   func() (columns, lines int)
	Colour bool
	Zone   *time.Location // that times are shown in, to the second; nil: UTC, as the API writes them
}

// NewScreen returns a Screen for a file if that is a terminal, otherwise the file. env is as os.Getenv: if NO_COLOR is set, or
// TERM is dumb, there are no colours.
func NewScreen(f *os.File, env func(string) string) io.Writer {
	if !term.IsTerminal(int(f.Fd())) {
		return f
	}
	return &Screen{f, func() (columns, lines int) {
		columns, lines, err := term.GetSize(int(f.Fd()))
		if err != nil || columns <= 0 || lines <= 0 {
			return 80, 24
		}
		return columns, lines
	}, env("NO_COLOR") == "" && env("TERM") != "dumb", time.Local}
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w any) bool {
	switch w := w.(type) {
	case *Screen:
		return true
	case *os.File:
		return term.IsTerminal(int(w.Fd()))
	}
	return false
}

// Forms of times.
const (
	apiTime   = "2006-01-02T15:04:05.000000Z"
	apiSecond = "2006-01-02T15:04:05Z"
)

// Time shows a moment: on a terminal for people, by their clock; elsewhere as the API writes it.
func Time(w io.Writer, at time.Time) string { return timeIn(w, at, apiTime) }

func timeIn(w io.Writer, at time.Time, form string) string {
	if s, ok := w.(*Screen); ok && s.Zone != nil {
		return at.In(s.Zone).Format(time.RFC3339)
	}
	return at.UTC().Format(form)
}

// Columns returns the width of a terminal, 0 for other outputs.
func Columns(w io.Writer) int {
	if s, ok := w.(*Screen); ok {
		columns, _ := s.Size()
		return columns
	}
	return 0
}

// Ink is how a text stands out on a terminal that has colours.
type Ink string

// The inks.
const (
	InkNone  Ink = ""
	InkBold  Ink = "1"
	InkGreen Ink = "32"
	InkRed   Ink = "31"
	InkDim   Ink = "2"
)

// Paint returns a text in an ink, or unchanged if w has no colours.
func Paint(w io.Writer, ink Ink, text string) string {
	if s, ok := w.(*Screen); !ok || !s.Colour || ink == InkNone {
		return text
	}
	return "\x1b[" + string(ink) + "m" + text + "\x1b[0m"
}

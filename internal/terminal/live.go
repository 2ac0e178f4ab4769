package terminal

import (
	"bytes"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Live draws again and again. On a terminal each drawing replaces the last, on a separate screen, and the final one stays
// after Close. Elsewhere the drawings follow each other, with an empty line between.
type Live struct {
	w    io.Writer
	last []byte // on a terminal; nil: nothing was drawn yet
}

// NewLive returns a Live that draws on w. It must be closed.
func NewLive(w io.Writer) *Live { return &Live{w: w} }

// The control sequences of a drawing. It overwrites the last drawing, since a cleared screen would flicker.
const (
	openScreen  = "\x1b[?1049h\x1b[?25l" // the other screen, no cursor
	closeScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// Draw shows the lines that draw writes, as far as they fit the terminal.
func (l *Live) Draw(draw func(io.Writer) error) error {
	screen, ok := l.w.(*Screen)
	if !ok {
		var text bytes.Buffer
		err := draw(&text)
		if err == nil {
			_, err = l.w.Write(append(text.Bytes(), '\n'))
		}
		return err
	}
	var text bytes.Buffer
	columns, lines := screen.Size()
	if err := draw(&Screen{&text, func() (int, int) { return columns, lines }, screen.Colour, screen.Zone}); err != nil {
		return err
	}
	opening := ""
	if l.last == nil {
		opening = openScreen
	}
	l.last = text.Bytes()
	_, err := io.WriteString(screen, opening+frame(text.String(), lines))
	return err
}

// frame returns a text that replaces the content of a terminal. The last line has no line end, which would scroll.
func frame(text string, lines int) string {
	shown := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	shown = shown[:min(lines, len(shown))]
	return home + strings.Join(shown, clearLine+"\r\n") + clearLine + clearBelow
}

// Close leaves the screen, and shows the last drawing on the ordinary one.
func (l *Live) Close() error {
	if l.last == nil {
		return nil
	}
	_, err := l.w.Write(append([]byte(closeScreen), l.last...))
	return err
}

// Resized returns a channel that gets a value when the size of the terminal changes, until stop is called.
func Resized() (resized <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH)
	return signals, func() { signal.Stop(signals) }
}

package terminal

import (
	"bytes"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Live is what is drawn again and again. On a terminal each drawing takes the place of the one before, on a screen of
// its own, and the last one stays when it is over; elsewhere they stand below each other, with an empty line between.
type Live struct {
	w    io.Writer
	last []byte // on a terminal; nil: nothing was drawn yet
}

// NewLive returns what draws on w. Close it.
func NewLive(w io.Writer) *Live { return &Live{w: w} }

// The sequences that draw. What was there is overwritten, so that it does not flicker as a cleared screen would.
const (
	openScreen  = "\x1b[?1049h\x1b[?25l" // the other screen, no cursor
	closeScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// Draw shows what draw writes: as many of its lines as the terminal has, and of each as much as fits.
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
	if err := draw(&Screen{&text, func() (int, int) { return columns, lines }, screen.Colour}); err != nil {
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

// frame returns a text that takes the place of what stands on a terminal. The last line has no end: it would scroll.
func frame(text string, lines int) string {
	shown := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	shown = shown[:min(lines, len(shown))]
	return home + strings.Join(shown, clearLine+"\r\n") + clearLine + clearBelow
}

// Close gives the terminal back, with what was drawn last.
func (l *Live) Close() error {
	if l.last == nil {
		return nil
	}
	_, err := l.w.Write(append([]byte(closeScreen), l.last...))
	return err
}

// Resized returns a channel that says when the terminal has another size, until stop is called.
func Resized() (resized <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH)
	return signals, func() { signal.Stop(signals) }
}

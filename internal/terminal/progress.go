package terminal

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// NewProgress returns a bar that is drawn on w if that is a terminal, otherwise nowhere. A total of -1 is unknown: then a
// spinner turns.
func NewProgress(w io.Writer, total int64, what string, options ...progressbar.Option) *Progress {
	if !IsTerminal(w) {
		return &Progress{}
	}
	if total == 0 {
		total = 1 // of nothing there is no bar
	}
	return &Progress{progressbar.NewOptions64(total, append([]progressbar.Option{
		progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(65 * time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), // its goroutine reads the bar without a lock, and is never ended
	}, options...)...)}
}

// Progress is a progress bar. It ignores values that it cannot show, such as more than the total.
type Progress struct{ bar *progressbar.ProgressBar } // nil: there is no terminal

// SetTotal changes the total.
func (p *Progress) SetTotal(n int64) {
	if p.bar != nil {
		p.bar.ChangeMax64(max(1, n))
	}
}

// Add adds n to the progress.
func (p *Progress) Add(n int64) {
	if p.bar != nil {
		_ = p.bar.Add64(n)
	}
}

// Set sets the progress to n.
func (p *Progress) Set(n int64) {
	if p.bar != nil {
		_ = p.bar.Set64(n)
	}
}

// End removes the bar.
func (p *Progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

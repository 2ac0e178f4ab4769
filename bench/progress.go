package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

const (
	barWidth = 30
	barPause = 200 * time.Millisecond // between two prints
)

// progress draws a bar into one line. Its methods may be called concurrently.
type progress struct {
	log   io.Writer
	what  string
	total int
	start time.Time

	mu    sync.Mutex // guards the fields below
	done  int
	drawn time.Time
}

func newProgress(log io.Writer, what string, total int) *progress {
	return &progress{log: log, what: what, total: total, start: time.Now()}
}

// add counts n more.
func (p *progress) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if time.Since(p.drawn) >= barPause {
		p.draw()
	}
}

// end draws the bar as it is and goes to the next line.
func (p *progress) end(remark string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draw()
	fmt.Fprintf(p.log, " %s\n", remark)
}

// draw draws the bar. mu is held.
func (p *progress) draw() {
	p.drawn = time.Now()
	full := barWidth * p.done / max(1, p.total)
	rate := float64(p.done) / max(time.Since(p.start).Seconds(), 1e-3)
	fmt.Fprintf(p.log, "\r%s [%s%s] %3d %%, %s rows/s ", p.what, strings.Repeat("#", full), strings.Repeat(" ", barWidth-full),
		100*p.done/max(1, p.total), thousands(rate))
}

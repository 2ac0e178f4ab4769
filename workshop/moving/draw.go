// Package moving draws the moving picture of README.md, an SVG of a board as a client saw it. The frames come from a run of two
// servers: TestMovingPicture in e2e, by make generate-moving.
package moving

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"
)

// Frame is a moment of the run.
type Frame struct {
	Servers [2]Server
	Seq     int64  // of the answer to a reader
	From    string // the server that answered the reader
	Rows    []Row  // the answer, best first; each frame has the same members
	Says    string // a caption
}

// Server is one of the servers.
type Server struct {
	State        State
	Acknowledged int64 // submissions that it has answered
}

// State is whether a server runs.
type State string

// States of a server.
const (
	StateUp     State = "up"
	StateKilled State = "killed with -9"
	StateStarts State = "starts again"
)

// Row is an entry of the board.
type Row struct {
	Member string
	Score  int64
}

const (
	width = 520 // of the picture
	edge  = 20  // between its border and its texts
	inner = width - 2*edge
	line  = 32         // height of a text in a strip
	row   = 38         // height of a row of the board
	shown = 6          // rows of the board
	bar   = inner - 40 // width of the leader's bar
	rest  = 3          // seconds for which the last frame stays
)

// style has the colours and fonts of the picture.
//
//go:embed style.css
var style string

// Draw draws frames that follow each other after a time, in a loop.
func Draw(frames []Frame, every time.Duration) []byte {
	d := drawing{frames: frames, moving: every.Seconds() * float64(len(frames)-1)}
	d.total = d.moving + rest
	d.add(`<rect class="card" x="1" y="1" width="%d" height="408" rx="10"/>`, width-2)
	for i, name := range []string{"server 1", "server 2"} {
		x := edge + i*(inner/2+edge)
		d.add(`<text class="name" x="%d" y="36">%s</text>`, x, name)
		d.strip(x+90, 14, 150, "start", func(f *Frame) (string, string) {
			return string(f.Servers[i].State), strings.Fields(string(f.Servers[i].State))[0]
		})
		d.strip(x, 38, inner/2, "start", func(f *Frame) (string, string) {
			return thousands(f.Servers[i].Acknowledged) + " submissions", "small"
		})
	}
	d.board()
	d.add(`<text class="name" x="%d" y="356">seq</text>`, edge)
	d.strip(edge+40, 334, 200, "start", func(f *Frame) (string, string) { return thousands(f.Seq), "name" })
	d.strip(edge+inner/2, 334, inner/2, "end", func(f *Frame) (string, string) { return "read from " + f.From, "small" })
	d.strip(edge, 364, inner, "start", func(f *Frame) (string, string) { return f.Says, "says" })
	return d.document()
}

// drawing is a picture in the making.
type drawing struct {
	frames        []Frame
	moving, total float64 // seconds of the movement, and of one turn of the loop
	body, motion  bytes.Buffer
}

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.body, format+"\n", args...) }

// strip shows a text that each frame has: all of them below each other, behind a window that shows one at a time. anchor is
// the side of the window where texts begin or end.
func (d *drawing) strip(x, y, across int, anchor string, text func(*Frame) (text, class string)) {
	from := 0
	if anchor == "end" {
		from = across
	}
	d.add(`<svg x="%d" y="%d" width="%d" height="%d"><g class="strip" text-anchor="%s">`, x, y, across, line, anchor)
	for i := range d.frames {
		said, class := text(&d.frames[i])
		d.add(`<text class="%s" x="%d" y="%d">%s</text>`, class, from, i*line+22, html.EscapeString(said))
	}
	d.add(`</g></svg>`)
}

// board draws the rows, which change places, with bars in proportion to the leader's score.
func (d *drawing) board() {
	d.add(`<svg x="%d" y="88" width="%d" height="%d">`, edge, inner, shown*row)
	for i := range shown {
		d.add(`<text class="rank" x="16" y="%d">%d</text>`, i*row+25, i+1)
	}
	for n, first := range d.frames[0].Rows {
		var places, widths []string
		for i := range d.frames {
			place, score := d.frames[i].find(first.Member)
			places = append(places, fmt.Sprintf("translate(0px,%dpx)", place*row))
			widths = append(widths, fmt.Sprintf("scale(%.3f,1)", float64(score)/float64(max(1, d.frames[i].Rows[0].Score))))
		}
		d.keyframes(fmt.Sprintf("place%d", n), places)
		d.keyframes(fmt.Sprintf("width%d", n), widths)
		d.add(`<g class="place%d" transform="translate(0 %d)">`, n, n*row)
		d.add(`<g transform="translate(36 0)"><rect class="bar width%d" width="%d" height="%d" rx="4"/></g>`, n, bar, row-6)
		d.add(`<text class="member" x="48" y="23">%s</text>`, html.EscapeString(first.Member))
		d.strip(inner-210, 1, 200, "end", func(f *Frame) (string, string) {
			_, score := f.find(first.Member)
			return thousands(score), "score"
		})
		d.add(`</g>`)
	}
	d.add(`</svg>`)
}

// find returns the place of a member, counted from 0, and the score.
func (f *Frame) find(member string) (place int, score int64) {
	for i, r := range f.Rows {
		if r.Member == member {
			return i, r.Score
		}
	}
	return len(f.Rows), 0
}

// keyframes writes the transformations of a class, one for each frame. Repeated ones are left out.
func (d *drawing) keyframes(class string, transforms []string) {
	fmt.Fprintf(&d.motion, ".%s{animation:%[1]s %.2fs linear infinite}\n@keyframes %[1]s{", class, d.total)
	last := len(transforms) - 1
	for i, now := range transforms {
		if i == 0 || i == last || transforms[i-1] != now || transforms[i+1] != now {
			fmt.Fprintf(&d.motion, "%.2f%%{transform:%s}", 100*d.moving*float64(i)/float64(last)/d.total, now)
		}
	}
	fmt.Fprintf(&d.motion, "to{transform:%s}}\n", transforms[last])
}

// document puts the picture together. Readers who want no motion see the last frame.
func (d *drawing) document() []byte {
	steps := len(d.frames) - 1
	fmt.Fprintf(&d.motion, ".strip{animation:strip %.2fs steps(%d) infinite}\n@keyframes strip{%.2f%%,to{transform:translateY(-%dpx)}}\n",
		d.total, steps, 100*d.moving/d.total, steps*line)
	fmt.Fprintf(&d.motion, "@media (prefers-reduced-motion:reduce){*{animation-play-state:paused!important;animation-delay:-%.2fs!important}}\n", d.moving+rest/2)
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="410" viewBox="0 0 %d 410">`+"\n<style>\n%s%s</style>\n%s</svg>\n",
		width, width, style, d.motion.Bytes(), d.body.Bytes())
	return out.Bytes()
}

// thousands writes a number with commas.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

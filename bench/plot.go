package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// curve is one line of the plot.
type curve struct {
	name   string
	colour color.RGBA
	shape  draw.GlyphDrawer
	value  func(point) time.Duration
}

// curves returns the lines of the plot, in colours and shapes that differ for everybody.
func curves() []curve {
	return []curve{
		{"rank by COUNT", color.RGBA{R: 0xd5, G: 0x5e, A: 0xff}, draw.CircleGlyph{}, func(p point) time.Duration { return p.Count }},
		{"rank by the index", color.RGBA{G: 0x72, B: 0xb2, A: 0xff}, draw.SquareGlyph{}, func(p point) time.Duration { return p.Index }},
		{"primary-key read", color.RGBA{R: 0x70, G: 0x70, B: 0x70, A: 0xff}, draw.TriangleGlyph{}, func(p point) time.Duration { return p.Read }},
	}
}

// plotRanks draws the time that a rank takes against the size of the board, both in powers of ten, as an SVG file.
func plotRanks(file string, points []point) error {
	p := plot.New()
	p.Title.Text = "Rank of a random member, p50"
	p.X.Label.Text, p.Y.Label.Text = "members", "time"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = decades(labelCount), decades(labelTime)
	p.X.Padding, p.Y.Padding = vg.Points(8), vg.Points(8)
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	for _, c := range curves() {
		if err := c.addTo(p, points); err != nil {
			return err
		}
	}
	p.X.Min, p.X.Max = decadesAround(p.X.Min, p.X.Max)
	p.Y.Min, p.Y.Max = decadesAround(p.Y.Min, p.Y.Max)
	return saveSVG(p, file)
}

// saveSVG leaves room around the plot, for fonts that are wider than the one it was laid out for.
func saveSVG(p *plot.Plot, file string) error {
	for _, style := range []*text.Style{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle,
	} {
		style.Font.Variant = "Sans"
	}
	p.Legend.Padding = vg.Points(3)
	const room = 18
	canvas := vgsvg.New(6.5*vg.Inch, 4*vg.Inch)
	background := draw.New(canvas)
	background.SetColor(color.White)
	background.Fill(background.Rectangle.Path())
	p.Draw(draw.Crop(background, room/2, -room, room/2, -room/2))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	const family = "font-family:Liberation Sans"
	return os.WriteFile(file, bytes.ReplaceAll(svg.Bytes(), []byte(family), []byte(family+", Arial, sans-serif")), 0o644)
}

func (c curve) addTo(p *plot.Plot, points []point) error {
	var xys plotter.XYs
	for _, pt := range points {
		if v := c.value(pt); v > 0 { // others have no logarithm
			xys = append(xys, plotter.XY{X: float64(pt.Members), Y: v.Seconds()})
		}
	}
	line, glyphs, err := plotter.NewLinePoints(xys)
	if err != nil {
		return fmt.Errorf("curve %q: %w", c.name, err)
	}
	line.Color, glyphs.Color, glyphs.Shape = c.colour, c.colour, c.shape
	line.Width, glyphs.Radius = vg.Points(1.5), vg.Points(3)
	p.Add(line, glyphs)
	p.Legend.Add(c.name, line, glyphs)
	return nil
}

// decadesAround returns the powers of ten around a range.
func decadesAround(lo, hi float64) (float64, float64) {
	return math.Pow(10, math.Floor(math.Log10(lo))), math.Pow(10, math.Ceil(math.Log10(hi)))
}

// decades marks the powers of ten with labels, and their multiples without.
type decades func(exponent int) string

// Ticks implements plot.Ticker.
func (label decades) Ticks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(lo) + 1e-9)); math.Pow10(e) <= hi*(1+1e-9); e++ {
		ticks = append(ticks, plot.Tick{Value: math.Pow10(e), Label: label(e)})
		for m := 2; m < 10; m++ {
			if v := float64(m) * math.Pow10(e); v <= hi {
				ticks = append(ticks, plot.Tick{Value: v})
			}
		}
	}
	return ticks
}

// labelCount writes 10^e as 10k or 1M.
func labelCount(e int) string { return prefixed(e, 0, []string{"", "k", "M", "G"}) }

// labelTime writes 10^e seconds as 100 µs, 1 ms or 10 s.
func labelTime(e int) string { return prefixed(e, -9, []string{" ns", " µs", " ms", " s"}) }

// prefixed returns 10^e in the unit of its three digits; units begin with 10^first. Beyond the units the last one is
// used.
func prefixed(e, first int, units []string) string {
	i := min(max(0, (e-first)/3), len(units)-1)
	return fmt.Sprintf("%g%s", math.Pow10(e-first-3*i), units[i])
}

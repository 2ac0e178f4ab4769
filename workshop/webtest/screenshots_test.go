//go:build screenshots

package webtest

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"leaderboard/internal/demo"
)

// pictures is where README.md and the documents have theirs.
const pictures = "../../docs/pictures"

// TestScreenshots makes the pictures of README.md and docs from the demo: `make generate-screenshots`.
func TestScreenshots(t *testing.T) {
	if err := os.MkdirAll(pictures, 0o755); err != nil {
		t.Fatal(err)
	}
	d := running(t)
	for name, look := range map[string]func(t *testing.T) *tab{
		"home":        func(t *testing.T) *tab { return open(t, desktop(), "/") },
		"board":       func(t *testing.T) *tab { return open(t, desktop(), "/boards/"+demo.Board) },
		"board-phone": func(t *testing.T) *tab { return open(t, phone().inDark(), "/boards/"+demo.Dungeon) },
		"console":     func(t *testing.T) *tab { return console(t, desktop().inDark(), d.Key, "#/boards") },
		"manual":      func(t *testing.T) *tab { return open(t, desktop(), "/docs") },
	} {
		t.Run(name, func(t *testing.T) {
			p := look(t)
			p.do(chromedp.Sleep(4 * time.Second)) // moving parts have come to rest, and plots have something to show
			picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(pictures, name+".png"), inFewColours(t, picture), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// inFewColours returns a picture in a palette, which takes a third of the bytes: the colours that most of it has, and the
// other colours that differ from these.
func inFewColours(t *testing.T, picture []byte) []byte {
	from, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	count, b := map[color.Color]int{}, from.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[from.At(x, y)]++
		}
	}
	const common, most = 160, 256
	var palette color.Palette
	for _, c := range slices.SortedFunc(maps.Keys(count), func(x, y color.Color) int { return count[y] - count[x] }) {
		if len(palette) < most && (len(palette) < common || differ(c, palette.Convert(c))) {
			palette = append(palette, c)
		}
	}
	to := image.NewPaletted(b, palette)
	draw.Draw(to, b, from, b.Min, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// differ reports whether two colours are far from each other.
func differ(x, y color.Color) bool {
	r1, g1, b1, _ := x.RGBA()
	r2, g2, b2, _ := y.RGBA()
	square := func(a, b uint32) int { return (int(a>>8) - int(b>>8)) * (int(a>>8) - int(b>>8)) }
	return square(r1, r2)+square(g1, g2)+square(b1, b2) > 60
}

package pages

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/webp"

	"leaderboard/leaderboard"
)

// Bounds of an operator's choices.
const (
	maxSiteTitle  = 60  // characters
	maxSiteFooter = 500 // characters
	maxSiteHeader = 500 // characters
	maxLogoBytes  = 256 << 10
	maxLogoSide   = 2048 // pixels
	maxLogos      = 100  // of boards
)

// Face is how the pages of an installation look. The zero value is the look of the program itself.
type Face struct {
	Title  string      // plain text, "": Leaderboards, in the language of the page
	Accent color.Color // of links and marks; nil: blue
	Logo   *Logo       // next to the title; nil: three bars
	Footer string      // plain text below the pages, in which addresses are links; "": none
	Header string      // links in the header, in the form of CheckHeader; "": none
	Logos  Logos       // that boards may have on their pages
}

// Logos are pictures by the names that rules of boards call them.
type Logos map[string]*Logo

// Logo is a picture that was checked.
type Logo struct {
	body []byte
	ext  string // of its media type
}

// CheckTitle returns v when it can be the title of an installation.
func CheckTitle(v string) (string, error) { return checkText(v, maxSiteTitle) }

// CheckFooter returns v when it can stand below the pages.
func CheckFooter(v string) (string, error) { return checkText(v, maxSiteFooter) }

// CheckHeader returns v when the header can lead there: entries with commas between them, each the word manual, the word console, or a text and an
// address.
func CheckHeader(v string) (string, error) {
	if _, err := checkText(v, maxSiteHeader); err != nil {
		return "", err
	}
	for entry := range strings.SplitSeq(v, ",") {
		if e := headerEntry(entry); e == (part{}) {
			return "", fmt.Errorf("want the word manual, the word console, or a text and an address such as Shop https://example.com/, not %q", strings.TrimSpace(entry))
		}
	}
	return v, nil
}

// Entries of a header that have a text in each language.
const (
	headerManual  = "manual"
	headerConsole = "console"
)

// headerEntry parses one entry. Of manual and console the text is the word, and there is no address.
func headerEntry(entry string) part {
	words := strings.Fields(entry)
	switch {
	case len(words) == 1 && (words[0] == headerManual || words[0] == headerConsole):
		return part{Text: words[0]}
	case len(words) < 2:
		return part{}
	}
	all := parts(strings.Join(words, " "))
	link := all[len(all)-1].Link
	if link == "" {
		return part{}
	}
	return part{Text: strings.Join(words[:len(words)-1], " "), Link: link}
}

// header parses the entries of a header that was checked.
func header(text string) (out []part) {
	for entry := range strings.SplitSeq(text, ",") {
		if e := headerEntry(entry); e != (part{}) {
			out = append(out, e)
		}
	}
	return out
}

func checkText(v string, most int) (string, error) {
	switch {
	case !utf8.ValidString(v) || strings.ContainsFunc(v, unicode.IsControl):
		return "", errors.New("want one line of UTF-8, without control characters")
	case utf8.RuneCountInString(v) > most:
		return "", fmt.Errorf("want %d characters at most, not %d", most, utf8.RuneCountInString(v))
	default:
		return v, nil
	}
}

// ParseAccent reads a colour, #rrggbb. No other form is taken: it becomes part of a stylesheet.
func ParseAccent(v string) (color.Color, error) {
	if !leaderboard.IsAccent(v) {
		return nil, fmt.Errorf("want a colour such as #3151d3, not %q", v)
	}
	b, err := hex.DecodeString(v[1:])
	if err != nil {
		return nil, fmt.Errorf("want a colour such as #3151d3, not %q", v)
	}
	return rgb{b[0], b[1], b[2]}, nil
}

// ReadLogo reads a picture from a file. SVG is not taken: opened by its address it is a document, which may have scripts.
func ReadLogo(file string) (*Logo, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, maxLogoBytes+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxLogoBytes {
		return nil, fmt.Errorf("want a picture of %d KiB at most, %s is larger", maxLogoBytes>>10, file)
	}
	logo, err := newLogo(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, file)
	}
	return logo, nil
}

// ReadLogos reads the pictures in a folder. Files whose names begin with a dot are left out.
func ReadLogos(folder string) (Logos, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	out := Logos{}
	for _, f := range files {
		name := f.Name()
		switch {
		case strings.HasPrefix(name, "."):
			continue
		case !leaderboard.IsPictureName(name):
			return nil, fmt.Errorf("want names that rules of boards can have, [a-z0-9][a-z0-9._-]{0,63}, not %q, in %s", name, folder)
		case len(out) == maxLogos:
			return nil, fmt.Errorf("want %d pictures at most in %s", maxLogos, folder)
		}
		if out[name], err = ReadLogo(filepath.Join(folder, name)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newLogo makes a logo of a picture. The content decides on its format, not the name of a file. It decodes all of the picture, so
// that readers never see half of it.
func newLogo(body []byte) (*Logo, error) {
	_, ext, err := decodePicture(body)
	if err != nil {
		return nil, err
	}
	return &Logo{body, ext}, nil
}

// decodePicture returns a picture in a format that all browsers know, and the ending of files in it.
func decodePicture(body []byte) (picture image.Image, ext string, err error) {
	var size func(io.Reader) (image.Config, error)
	var decode func(io.Reader) (image.Image, error)
	switch kind := http.DetectContentType(body); kind {
	case "image/png":
		ext, size, decode = ".png", png.DecodeConfig, png.Decode
	case "image/jpeg":
		ext, size, decode = ".jpg", jpeg.DecodeConfig, jpeg.Decode
	case "image/webp":
		ext, size, decode = ".webp", webp.DecodeConfig, webp.Decode
	default:
		return nil, "", errors.New("want a picture in PNG, JPEG or WebP; others, SVG too, are not taken")
	}
	c, err := size(bytes.NewReader(body))
	if err == nil && (c.Width > maxLogoSide || c.Height > maxLogoSide) { // before it takes memory
		return nil, "", fmt.Errorf("want a picture of %d × %d pixels at most, it has %d × %d", maxLogoSide, maxLogoSide, c.Width, c.Height)
	}
	if err == nil {
		picture, err = decode(bytes.NewReader(body))
	}
	if err != nil {
		return nil, "", fmt.Errorf("want a whole picture (%w)", err)
	}
	return picture, ext, nil
}

// face is a Face as templates use it.
type face struct {
	Title  string // the operator's; "": the word for leaderboards in each language
	Icon   string // six hexadecimal digits, of the icon of the program
	Logo   string // address of the logo; "": none
	Footer []part
	Header []part
	Style  string // address of a stylesheet; "": none
	Board  ownFace
	light  rgb               // the accent on light ground
	dark   rgb               // and on dark ground
	logos  map[string]string // addresses of the pictures that boards may have, by name
}

// ownFace is a board's part of its page's look; the rest is the look of the installation.
type ownFace struct {
	Logo   string // address of a picture; "": none
	Footer []part
}

// part is a piece of a text.
type part struct{ Text, Link string } // Link is "" unless it is an address

// usualFace returns the look of the program. Its accents, from web/src/shared/base.css, are for icons and pictures, which no
// stylesheet reaches.
func usualFace() *face {
	return &face{light: rgb{0x31, 0x51, 0xd3}, dark: rgb{0x8d, 0xa4, 0xff}}
}

// dress adds the files of a face to the assets.
func (a *assets) dress(of *Face) (*face, error) {
	out := usualFace()
	out.Title, out.Footer, out.Header = of.Title, parts(of.Footer), header(of.Header)
	var err error
	if of.Accent != nil {
		var style string
		out.light, out.dark, style = accents(rgbOf(of.Accent))
		if out.Style, err = a.add(".css", []byte(style)); err != nil {
			return nil, err
		}
	}
	if of.Logo != nil {
		if out.Logo, err = a.add(of.Logo.ext, of.Logo.body); err != nil {
			return nil, err
		}
	}
	out.Icon = out.light.hex()[1:]
	out.logos = map[string]string{}
	for name, logo := range of.Logos {
		if out.logos[name], err = a.add(logo.ext, logo.body); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// worn returns the look of a board's page: the installation's, with the changes of the board's rules.
func (a *assets) worn(f *face, own *leaderboard.Face) *face {
	if own == nil {
		return f
	}
	out := *f
	out.Board = ownFace{Logo: f.logos[own.Logo], Footer: parts(own.Footer)}
	if c, err := ParseAccent(own.Accent); err == nil {
		var style string
		out.light, out.dark, style = accents(rgbOf(c))
		out.Icon, out.Style = out.light.hex()[1:], a.at+accentFile(rgbOf(c), style)
	}
	return &out
}

// accentFile returns the name of the stylesheet for the accent of a board. It changes with the content, which a server makes of the name.
func accentFile(c rgb, style string) string {
	sum := sha256.Sum256([]byte(style))
	return "accent-" + c.hex()[1:] + "-" + hex.EncodeToString(sum[:4]) + ".css"
}

// accentSheet returns the stylesheet with a name, or nil.
func accentSheet(name string) *asset {
	hexed, isAccent := strings.CutPrefix(name, "accent-")
	if digits, _, ok := strings.Cut(hexed, "-"); isAccent && ok {
		if c, err := ParseAccent("#" + digits); err == nil {
			_, _, style := accents(rgbOf(c))
			if file, err := newAsset(name, []byte(style)); err == nil && name == accentFile(rgbOf(c), style) {
				return file
			}
		}
	}
	return nil
}

// add adds a file of the operator, and returns its address, which changes with its content.
func (a *assets) add(ext string, body []byte) (string, error) {
	sum := sha256.Sum256(body)
	name := "site-" + hex.EncodeToString(sum[:8]) + ext
	file, err := newAsset(name, body)
	if err != nil {
		return "", err
	}
	a.files[name] = file
	return a.at + name, nil
}

// parts finds the addresses in a text.
func parts(text string) (out []part) {
	for i, word := range strings.Fields(text) {
		if i > 0 {
			out = append(out, part{Text: " "})
		}
		p, end := part{Text: word}, ""
		if bare := strings.TrimRight(word, ".,;)"); bare != word { // the sentence's, and not the address's
			p.Text, end = bare, word[len(bare):]
		}
		if u, err := url.Parse(p.Text); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
			p.Link = p.Text
		}
		if out = append(out, p); end != "" {
			out = append(out, part{Text: end})
		}
	}
	return out
}

// rgb is a colour of sRGB, without transparency.
type rgb struct{ R, G, B uint8 }

// RGBA implements color.Color.
func (c rgb) RGBA() (r, g, b, a uint32) { return color.RGBA{c.R, c.G, c.B, 255}.RGBA() }

func rgbOf(c color.Color) rgb {
	r, g, b, _ := c.RGBA()
	return rgb{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}
}

func (c rgb) hex() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// toward returns a colour that is a share of the way to another one.
func (c rgb) toward(to rgb, share float64) rgb {
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*share)) }
	return rgb{mix(c.R, to.R), mix(c.G, to.G), mix(c.B, to.B)}
}

// luminance is the relative luminance of WCAG 2.
func (c rgb) luminance() float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// contrast is the contrast ratio of WCAG 2, from 1 to 21.
func contrast(a, b rgb) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// readable is the contrast that WCAG 2 asks for text (AA), and a little more, because browsers round colours.
const readable = 4.6

// A scheme has the colours of web/src/shared that an accent has to go with.
type scheme struct {
	ends  rgb   // the colour toward which an accent changes until it is readable
	on    []rgb // grounds that letters in the accent stand on
	panel rgb   // which marks of rows are tinted from
	text  []rgb // letters on these
}

// accents makes an accent readable: darker on light ground and lighter on dark ground, as far as it has to be. The stylesheet also has the
// marks of rows, in a tint on which letters can be read.
func accents(c rgb) (light, dark rgb, style string) {
	var lit [2]rgb
	light, lit[0] = accentIn(c, &scheme{
		on: []rgb{{0xff, 0xff, 0xff}, {0xfb, 0xfb, 0xfd}, {0xee, 0xf0, 0xf6}}, panel: rgb{0xff, 0xff, 0xff},
		text: []rgb{{0x16, 0x18, 0x1d}, {0x5b, 0x62, 0x72}, {0xb3, 0x26, 0x1e}, {0x17, 0x66, 0x3a}},
	})
	dark, lit[1] = accentIn(c, &scheme{
		ends: rgb{0xff, 0xff, 0xff}, on: []rgb{{0x10, 0x12, 0x18}, {0x18, 0x1b, 0x23}, {0x1f, 0x23, 0x2d}}, panel: rgb{0x18, 0x1b, 0x23},
		text: []rgb{{0xe9, 0xeb, 0xf0}, {0x9b, 0xa3, 0xb4}, {0xff, 0x8f, 0x87}, {0x6b, 0xd7, 0x9a}},
	})
	return light, dark, fmt.Sprintf(":root{--accent:light-dark(%s,%s);--lit:light-dark(%s,%s)}\n", light.hex(), dark.hex(), lit[0].hex(), lit[1].hex())
}

// accentIn returns an accent for one scheme, and the tint of a row.
func accentIn(c rgb, s *scheme) (accent, lit rgb) {
	const steps = 64
	accent = c
	for i := 1; i <= steps && !readableOn(accent, s.on); i++ {
		accent = c.toward(s.ends, float64(i)/steps)
	}
	for i := 20; i >= 0; i-- {
		lit = s.panel.toward(accent, float64(i)/100)
		if readableOn(lit, s.text) && readableOn(lit, []rgb{accent}) {
			break
		}
	}
	return accent, lit
}

func readableOn(c rgb, on []rgb) bool {
	for _, o := range on {
		if contrast(c, o) < readable {
			return false
		}
	}
	return true
}

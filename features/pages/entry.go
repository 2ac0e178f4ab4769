package pages

import (
	"encoding/json"
	"html/template"
	"regexp"
	"strconv"
	"strings"
)

// entry is one line of a ranking, as the API returns it.
type entry struct {
	Rank    int64
	Member  string
	Score   int64
	Fields  map[string]int64
	Created string `json:"created_time"`
	Profile *profile
	// Metadata has the texts of JSON.
	Metadata map[string]json.RawMessage
}

type profile struct {
	DisplayName string `json:"display_name"`
	AvatarURL   string `json:"avatar_url"`
	Attributes  map[string]any
}

// Name returns the display name of a member, or else its id.
func (e *entry) Name() string {
	if e.Profile != nil && e.Profile.DisplayName != "" {
		return e.Profile.DisplayName
	}
	return e.Member
}

// shownField is one member of an entry's metadata, as text.
type shownField struct {
	Text string
	Link bool // the text is an address on this server
}

// MetadataFields returns the metadata by the names of its members, all as text. web/src/shared/metadata.ts does it too.
func (e *entry) MetadataFields() map[string]shownField {
	out := make(map[string]shownField, len(e.Metadata))
	for name, value := range e.Metadata {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		out[name] = shownField{text, sameOrigin(text)}
	}
	return out
}

// images are the allowed types of pictures in profiles; none of them can run anything in an img element.
var images = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|avif|svg\+xml)[;,]`)

// Picture returns the address of the member's own picture, or the picture in its attribute avatar, if a page may load
// it.
func (e *entry) Picture() template.URL {
	if e.Profile == nil {
		return ""
	}
	held, _ := e.Profile.Attributes["avatar"].(string)
	for _, u := range []string{e.Profile.AvatarURL, held} {
		if images.MatchString(u) || sameOrigin(u) {
			return template.URL(u) //nolint:gosec // it is a picture, or of this server
		}
	}
	return ""
}

// Country returns the code of the country in the member's attribute; "": none.
func (e *entry) Country() string {
	if e.Profile == nil {
		return ""
	}
	code, _ := e.Profile.Attributes["country"].(string)
	if len(code) != 2 || strings.ContainsFunc(code, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) {
		return ""
	}
	return strings.ToUpper(code)
}

// Flag returns the flag of the member's country: the letters of its code as regional indicators.
func (e *entry) Flag() string {
	const indicators = '🇦' - 'A'
	return strings.Map(func(r rune) rune { return r + indicators }, e.Country())
}

// sameOrigin reports whether an address is a path on this server: not //host, nor anything that browsers take for that.
func sameOrigin(u string) bool {
	return len(u) > 1 && u[0] == '/' && u[1] != '/' && !strings.ContainsAny(u, "\\\t\r\n")
}

// Avatar draws a member who has no picture.
func (e *entry) Avatar() avatar { return newAvatar(e.Member) }

// drawing is one of 5 × 5 cells, always the same for the same member. web/src/shared/avatar.ts has it too.
type drawing struct {
	cells      [][2]int // across and down
	hue, light int      // in degrees and in percent
}

func draws(member string) drawing {
	h := hash(member)
	out := drawing{hue: int(h >> 15 & 511 * 360 / 512), light: 46 + int(h>>24&3)*4}
	for i := range 15 {
		if h>>i&1 == 0 && i != 12 { // the middle is always filled
			continue
		}
		x, y := i/5, i%5
		out.cells = append(out.cells, [2]int{x, y})
		if x < 2 {
			out.cells = append(out.cells, [2]int{4 - x, y})
		}
	}
	return out
}

// avatar is a drawing in SVG.
type avatar struct{ Path, Fill string }

func newAvatar(member string) avatar {
	var path strings.Builder
	of := draws(member)
	for _, c := range of.cells {
		path.WriteString("M" + strconv.Itoa(c[0]) + " " + strconv.Itoa(c[1]) + "h1v1h-1z")
	}
	return avatar{path.String(), "hsl(" + strconv.Itoa(of.hue) + " " + strconv.Itoa(saturation) + "% " + strconv.Itoa(of.light) + "%)"}
}

// saturation is of the colours of all drawings, in percent.
const saturation = 62

// hash is FNV-1a of the bytes, mixed as MurmurHash3 ends.
func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

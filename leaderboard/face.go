package leaderboard

import (
	"strings"
	"unicode/utf8"
)

// Face tells how the public page of a board looks, beside what the installation has for all of its pages.
type Face struct {
	Accent string `json:"accent,omitempty"` // #rrggbb, of links and marks, made readable on light and on dark ground; "": the installation's
	Logo   string `json:"logo,omitempty"`   // a name among the pictures of the installation, as names of boards are; "": none
	Parts  string `json:"parts,omitempty"`  // a label: the page leads to the boards labelled as parts of this one, by their values of it; "": to none
	Footer string `json:"footer,omitempty"` // one line of plain text below the page, in which addresses are links; "": none
}

// PartOf is the label of a board that is a part of another one, for instance the members of one country. Its value is the name of that one.
const PartOf = "part-of"

// MaxFooter is how long the footer of a board's page is, in bytes.
const MaxFooter = 500

// IsAccent reports whether a text is a colour in the form of Face: a # and six hexadecimal digits.
func IsAccent(s string) bool {
	if len(s) != len("#rrggbb") || s[0] != '#' {
		return false
	}
	return strings.Trim(s[1:], "0123456789abcdefABCDEF") == ""
}

// IsPictureName reports whether a picture of an installation may be called so.
func IsPictureName(s string) bool { return isName(s) }

func (f *Face) check(fail failFunc) {
	if f == nil {
		return
	}
	if f.Accent != "" && !IsAccent(f.Accent) {
		fail("/face/accent", "want a colour such as #3151d3")
	}
	if f.Logo != "" && !IsPictureName(f.Logo) {
		fail("/face/logo", "want the name of a picture, [a-z0-9][a-z0-9._-]{0,63}")
	}
	if f.Parts != "" && !isName(f.Parts) {
		fail("/face/parts", "want the name of a label, [a-z0-9][a-z0-9._-]{0,63}")
	}
	if len(f.Footer) > MaxFooter || !utf8.ValidString(f.Footer) || strings.ContainsFunc(f.Footer, isControl) {
		fail("/face/footer", "want one line of at most %d bytes of UTF-8, without control characters", MaxFooter)
	}
}

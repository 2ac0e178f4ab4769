package leaderboard

import "strings"

// Face is the look of a board's public page, in addition to the look of all pages of the installation.
type Face struct {
	Accent string `json:"accent,omitempty" flag:"accent" label:"Accent of its page" pattern:"^#[0-9a-fA-F]{6}$" want:"a colour such as #3151d3" example:"\"#b3261e\"" doc:"Colour of links and marks, such as #3151d3, in the place of the server's. It is made darker on light ground, and lighter on dark ground, until it can be read."`
	Logo   string `json:"logo,omitempty" flag:"logo" label:"Logo of its page" pattern:"^[a-z0-9][a-z0-9._-]{0,63}$" want:"the name of a picture, [a-z0-9][a-z0-9._-]{0,63}" example:"arcade.png" doc:"Name of a picture in the folder logos of --site, which is shown beside the title. A server without such a picture shows none."`
	Parts  string `json:"parts,omitempty" flag:"parts" label:"Parts of its page" pattern:"^[a-z0-9][a-z0-9._-]{0,63}$" want:"the name of a label, [a-z0-9][a-z0-9._-]{0,63}" example:"country" doc:"Label by whose values its page leads to the boards labelled part-of:BOARD, as in country. To the public ones, 250 at most. With country, ISO codes of two letters are shown as names."`
	Footer string `json:"footer,omitempty" flag:"footer" label:"Footer of its page" bytes:"500" doc:"A line of text below the page, in which addresses are links. Without control characters."`
}

// PartOf is the label of a board that is a part of another one, for instance the members of one country. Its value is the name of that one.
const PartOf = "part-of"

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
	if strings.ContainsFunc(f.Footer, IsControl) {
		fail("/face/footer", "want one line, without control characters")
	}
}

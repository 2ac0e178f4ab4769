package terminal

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width returns how many columns of a terminal a text takes: two for each Chinese, Japanese or Korean character and each
// emoji, however many code points it is made of, none for a combining mark.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// Cut shortens a text to a number of columns, with … at its end if it is cut. It does not cut through a character made of
// several code points.
func Cut(s string, columns int) string {
	if Width(s) <= columns {
		return s
	}
	var kept strings.Builder
	room := columns - 1
	for rest, state := s, -1; rest != ""; {
		var cluster string
		var width int
		cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if room -= width; room < 0 {
			break
		}
		kept.WriteString(cluster)
	}
	if columns < 1 {
		return ""
	}
	return kept.String() + "…"
}

// isEmoji reports whether the joiners in a text only join emoji, as in a family, and hide nothing.
func isEmoji(s string) bool {
	for rest, state := s, -1; rest != ""; {
		var cluster string
		var width int
		cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if strings.Contains(cluster, joiner) && (width != 2 || strings.HasSuffix(cluster, joiner)) {
			return false
		}
	}
	return true
}

// joiner is the zero width joiner.
const joiner = "\u200d"

package cli

import (
	"math"
	"strings"
)

// nearest returns the name that a mistyped one probably means, "" if no name is like it. cli.SuggestCommand and cli.SuggestFlag
// have an answer for every text, even if no name is like it, and suggest hidden names.
func nearest(typed string, names []string) string {
	found, least := "", math.MaxInt
	for _, name := range names {
		begun := len(typed) > 1 && strings.HasPrefix(name, typed)
		mistakes := typingMistakes(typed, name)
		if mistakes < least && (begun || mistakes <= max(1, min(len(typed), len(name))/3)) {
			found, least = name, mistakes
		}
	}
	return found
}

// typingMistakes returns how many letters are missing, added, wrong or swapped with the next one.
func typingMistakes(typed, name string) int {
	before, last := []int(nil), make([]int, len(name)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(typed) {
		row := make([]int, len(name)+1)
		row[0] = i + 1
		for j := range len(name) {
			wrong := last[j]
			if typed[i] != name[j] {
				wrong++
			}
			row[j+1] = min(wrong, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && typed[i] == name[j-1] && typed[i-1] == name[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(name)]
}

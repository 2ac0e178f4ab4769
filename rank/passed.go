package rank

import (
	"slices"

	"leaderboard/leaderboard"
)

// Passed returns the members of those keys that an entry has passed on its way from one key to another, best first, at most
// leaderboard.MaxPassed: they are behind the new key and ahead of the old one. It sorts keys.
func Passed(from, to Key, keys []Key) (members []string) {
	keys = slices.DeleteFunc(keys, func(k Key) bool { return k < to || k > from })
	slices.Sort(keys)
	for _, k := range keys[:min(len(keys), leaderboard.MaxPassed)] {
		members = append(members, k.Member())
	}
	return members
}

package notices

import (
	"slices"

	"leaderboard/rank"
)

// change is a change of the log as keys, "" for no entry.
type change struct {
	member   string
	old, new rank.Key
}

// better reports whether the entry went ahead of where it was.
func (c *change) better() bool { return c.old != "" && c.new != "" && c.new < c.old }

// Both functions below walk a log backwards, from a known state: before each change they undo the later ones. So their
// findings are correct at that change, and one state is read for all of them.

// topPassed returns, by change, the keys of the first n places that it passed. top has the best keys of the state after the
// last change: n and one for each change, or all keys of the period. So the first n places at each change are known
// completely: entries there that have not changed since are in top, and changed ones are in the log.
func topPassed(changes []change, top []rank.Key, n int) [][]rank.Key {
	passed, list := make([][]rank.Key, len(changes)), slices.Clone(top)
	for i := len(changes) - 1; i >= 0; i-- {
		c := &changes[i]
		if at, ok := slices.BinarySearch(list, c.new); ok && c.new != "" {
			list = slices.Delete(list, at, at+1)
		}
		if c.better() {
			from, _ := slices.BinarySearch(list, c.new)
			to, _ := slices.BinarySearch(list, c.old)
			if to = min(to, n); from < to {
				passed[i] = slices.Clone(list[from:to])
			}
		}
		if c.old != "" {
			at, _ := slices.BinarySearch(list, c.old)
			list = slices.Insert(list, at, c.old)
		}
	}
	return passed
}

// friendsPassed returns, by change, the keys that it passed of members who have its member as a friend: the best n. keys
// has their keys in the state after the last change, by member; it is changed.
func friendsPassed(changes []change, keys map[string]rank.Key, fans map[string][]string, n int) [][]rank.Key {
	passed := make([][]rank.Key, len(changes))
	for i := len(changes) - 1; i >= 0; i-- {
		c := &changes[i]
		if c.better() {
			for _, f := range fans[c.member] {
				if k := keys[f]; k > c.new && k < c.old {
					passed[i] = append(passed[i], k)
				}
			}
			slices.Sort(passed[i])
			passed[i] = passed[i][:min(len(passed[i]), n)]
		}
		keys[c.member] = c.old
	}
	return passed
}

package notices

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// TestPassed: the passed members equal the findings of a list that is sorted again before each change, though only the
// needed part of the state after all changes is given (promise B9).
func TestPassed(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	total := 0
	for range 300 {
		n, members := 1+random.IntN(4), 2+random.IntN(12)
		state, fans := map[string]rank.Key{}, map[string][]string{}
		for i := range members {
			name := fmt.Sprint("m", i)
			for j := range members {
				if i != j && random.IntN(2) == 0 {
					fans[name] = append(fans[name], fmt.Sprint("m", j))
				}
			}
		}
		var changes []change
		var top, friends []string
		for at := range 40 {
			c := change{member: fmt.Sprint("m", random.IntN(members))}
			c.old = state[c.member]
			if random.IntN(8) > 0 {
				c.new = rank.Codec{}.Key(leaderboard.Entry{Member: c.member, Score: random.Int64N(10), CreatedTime: leaderboard.Micros(at)})
			}
			var sorted []rank.Key
			for _, k := range state {
				sorted = append(sorted, k)
			}
			slices.Sort(sorted)
			if at >= 10 { // earlier changes are from before the read part of the log
				var one, two []string
				for place, k := range sorted {
					if c.old == "" || c.new == "" || k <= c.new || k >= c.old {
						continue
					}
					if place < n {
						one = append(one, k.Member())
					}
					if slices.Contains(fans[c.member], k.Member()) && len(two) < n {
						two = append(two, k.Member())
					}
				}
				top, friends, changes = append(top, fmt.Sprint(one)), append(friends, fmt.Sprint(two)), append(changes, c)
				total += len(one) + len(two)
			}
			if delete(state, c.member); c.new != "" {
				state[c.member] = c.new
			}
		}
		var best []rank.Key
		for _, k := range state {
			best = append(best, k)
		}
		slices.Sort(best)
		for i, keys := range topPassed(changes, best[:min(len(best), n+len(changes))], n) {
			if got := fmt.Sprint(membersOf(keys)); got != top[i] {
				t.Fatalf("seed %d: change %d of %d passed %s of the first %d, want %s", seed, i, len(changes), got, n, top[i])
			}
		}
		for i, keys := range friendsPassed(changes, state, fans, n) {
			if got := fmt.Sprint(membersOf(keys)); got != friends[i] {
				t.Fatalf("seed %d: change %d of %d passed %s, friends, want %s", seed, i, len(changes), got, friends[i])
			}
		}
	}
	if total < 1000 {
		t.Errorf("seed %d: %d were passed: the test tells nothing", seed, total)
	}
}

func membersOf(keys []rank.Key) (out []string) {
	for _, k := range keys {
		out = append(out, k.Member())
	}
	return out
}

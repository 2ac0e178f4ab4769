package rank_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/rank"
)

// TestMerge holds the merge against a stable sort of everything.
func TestMerge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type entry struct{ value, run int }
		runs := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 6), 0, 8), 0, 9).Draw(t, "runs")
		var want, got []entry
		for run := range runs {
			slices.Sort(runs[run])
			for _, v := range runs[run] {
				want = append(want, entry{v, run})
			}
		}
		slices.SortStableFunc(want, func(a, b entry) int { return cmp.Compare(a.value, b.value) })
		limit := rapid.IntRange(0, len(want)+1).Draw(t, "limit")
		at := make([]int, len(runs))
		rank.Merge(runs, cmp.Compare[int], func(run int) bool {
			if len(got) == limit {
				return false
			}
			got = append(got, entry{runs[run][at[run]], run})
			at[run]++
			return true
		})
		if want = want[:min(limit, len(want))]; !slices.Equal(got, want) {
			t.Fatalf("merged %v, want %v", got, want)
		}
	})
}

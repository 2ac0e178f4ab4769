package sweep

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestPass: however many turns and rounds it takes, a job looks at each item once; unfinished items get more turns without
// another look at the others, and a failing item keeps none from its turn.
func TestPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const items, page, stubborn, steps, broken = 1000, 100, 300, 40, 500
		var pass Pass[int, int]
		pages, turns, failures := 0, map[int]int{}, 0
		list := List[int, int]{
			Next: func(_ context.Context, after int) (found []int, last bool, err error) {
				pages++
				for i := after + 1; i <= min(after+page, items); i++ {
					found = append(found, i)
				}
				return found, len(found) < page, nil
			},
			Key: func(v *int) int { return *v },
			Work: func(_ context.Context, v *int) (bool, error) {
				time.Sleep(10 * time.Millisecond) // 200 in a slice
				if turns[*v]++; *v == broken {
					return false, errors.New("is locked")
				}
				return *v != stubborn || turns[*v] == steps, nil
			},
		}
		rounds, slices := 0, 0
		for over := false; !over; rounds++ {
			ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
			err := Round(ctx, []Job{{Name: "pass", Run: func(ctx context.Context, slice Slice) (bool, error) {
				more, err := pass.Turn(ctx, slice, list)
				over = !more
				slices++
				return more, err
			}}})
			cancel()
			if err != nil {
				failures++
			}
		}
		sum := 0
		for i, n := range turns {
			if sum += n; n != 1 && i != stubborn {
				t.Errorf("%d had %d turns", i, n)
			}
		}
		if sum != items-1+steps || failures != 1 || rounds < 2 {
			t.Errorf("%d turns in %d rounds, %d of which returned an error", sum, rounds, failures)
		}
		if most := items/page + slices; pages > most { // a page is read again when a slice ends in it
			t.Errorf("%d pages were read, want %d at most", pages, most)
		}
		if pass.after != 0 || pass.ended || pass.left != nil {
			t.Errorf("the next one does not begin at the beginning: %+v", pass)
		}
	})
}

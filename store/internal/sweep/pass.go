package sweep

import (
	"context"
	"errors"
)

// mostLeft bounds the items to which a Pass comes back; the next Pass finds the rest.
const mostLeft = 10_000

// Pass is the place of a job in a long list, which it goes through in as many turns and rounds as that takes. At the end it
// returns only to the elements that were not finished. The zero value is at the beginning.
type Pass[K, V any] struct {
	after K    // up to here all had their turn
	ended bool // there is nothing behind it
	left  []V  // had a turn, and is not finished
}

// List is the list that a Pass goes through.
type List[K, V any] struct {
	// Next returns the items after a key, the zero value for all; last when there are no items after them.
	Next func(ctx context.Context, after K) (page []V, last bool, err error)
	Key  func(*V) K
	// Work gives an item its turn, and reports whether it is finished. A failing item is left to the next pass.
	Work func(ctx context.Context, v *V) (finished bool, err error)
}

// Turn continues until the pass or the time slice is over, and reports whether there is more to do.
func (p *Pass[K, V]) Turn(ctx context.Context, slice Slice, l List[K, V]) (more bool, failed error) {
	for !p.ended {
		page, last, err := l.Next(ctx, p.after)
		if err != nil {
			return false, errors.Join(failed, err)
		}
		for i := range page {
			if slice.Over() || ctx.Err() != nil {
				return true, failed
			}
			p.after = l.Key(&page[i]) // also when it fails
			p.work(ctx, page[i], l, &failed)
		}
		p.ended = last
	}
	for len(p.left) > 0 {
		if slice.Over() || ctx.Err() != nil {
			return true, failed
		}
		v := p.left[0]
		p.left = p.left[1:]
		p.work(ctx, v, l, &failed)
	}
	*p = Pass[K, V]{}
	return false, failed
}

func (p *Pass[K, V]) work(ctx context.Context, v V, l List[K, V], failed *error) {
	finished, err := l.Work(ctx, &v)
	switch {
	case err != nil && *failed == nil:
		*failed = err // of many, the first is enough
	case err == nil && !finished && len(p.left) < mostLeft:
		p.left = append(p.left, v)
	}
}

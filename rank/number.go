package rank

import (
	"iter"
	"slices"

	"leaderboard/leaderboard"
)

// Top returns the ranks of the best entry of a period.
func Top() leaderboard.Ranks { return leaderboard.Ranks{Strict: 1, Tied: 1, Dense: 1} }

// Number returns the ranks of the entries of a run. keys are the keys of consecutive entries of a period, best first;
// first are the ranks of keys[0]. Dense ranks are returned only when first has a dense rank.
func Number(first leaderboard.Ranks, keys []Key) []leaderboard.Ranks {
	out := make([]leaderboard.Ranks, len(keys))
	for i := range keys {
		if i > 0 {
			first = first.Next(Tied(keys[i-1], keys[i]))
		}
		out[i] = first
	}
	return out
}

// StartAround returns the number of entries ahead of the page around an entry, given the number of entries ahead of
// that entry and the total.
func StartAround(q leaderboard.PageQuery, ahead, total int64) int64 {
	return max(0, min(ahead-int64(max(q.Before, 0)), total-int64(q.Limit)))
}

// Selection is the part of a list of members that an answer shows: a run of them, and the member whose standing is
// always shown. Their positions follow from the order alone; only the shown members need ranks on the board.
type Selection struct {
	keys      []Key // of the members that have an entry, best first
	positions []leaderboard.Ranks
	from, to  int // the run
	self      int // index; -1: not requested, or without an entry
}

// Select applies the bounds of a query. keys are the keys of the members that have an entry, in ascending order.
func Select(q *leaderboard.MembersQuery, keys []Key) Selection {
	s := Selection{keys: keys, positions: Number(Top(), keys), self: -1}
	s.from = min(max(0, q.Offset), len(keys))
	s.to = len(keys)
	if q.Limit > 0 {
		s.to = min(s.from+q.Limit, len(keys))
	}
	if q.Self != "" {
		s.self = slices.IndexFunc(keys, func(k Key) bool { return k[HeadLen:] == Key(q.Self) })
	}
	return s
}

// Keys returns the keys whose ranks are needed, in ascending order.
func (s *Selection) Keys() []Key {
	keys := make([]Key, 0, s.to-s.from+1)
	for i := range s.Needed() {
		keys = append(keys, s.keys[i])
	}
	return keys
}

// Needed returns the indexes of Keys among the keys of Select.
func (s *Selection) Needed() iter.Seq[int] {
	return func(yield func(int) bool) {
		if s.self >= 0 && s.self < s.from && !yield(s.self) {
			return
		}
		for i := s.from; i < s.to; i++ {
			if !yield(i) {
				return
			}
		}
		if s.self >= s.to {
			yield(s.self)
		}
	}
}

// Standings returns the selected standings; ranks are the ranks of Keys, in the same order.
func (s *Selection) Standings(codec Codec, ranks []leaderboard.Ranks) (*leaderboard.Standings, error) {
	out := &leaderboard.Standings{Ranked: len(s.keys), Entries: make([]leaderboard.Standing, 0, s.to-s.from)}
	at := 0
	standing := func(i int) (leaderboard.Standing, error) {
		e, err := codec.Entry(s.keys[i])
		r := ranks[at]
		at++
		return leaderboard.Standing{Ranked: leaderboard.Ranked{Ranks: r, Entry: e}, Position: s.positions[i]}, err
	}
	self := func() error {
		one, err := standing(s.self)
		out.Self = &one
		return err
	}
	if s.self >= 0 && s.self < s.from {
		if err := self(); err != nil {
			return nil, err
		}
	}
	for i := s.from; i < s.to; i++ {
		one, err := standing(i)
		if err != nil {
			return nil, err
		}
		if out.Entries = append(out.Entries, one); i == s.self {
			out.Self = &one
		}
	}
	if s.self >= s.to {
		if err := self(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

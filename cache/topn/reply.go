package cache

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"leaderboard"
	"leaderboard/rank"
)

// reader takes the values of a script's reply one after another; the first that is not as expected is its err.
type reader struct {
	raw []any
	err error
}

func (r *reader) next() any {
	if len(r.raw) == 0 {
		r.fail("it ends early")
		return nil
	}
	v := r.raw[0]
	r.raw = r.raw[1:]
	return v
}

func (r *reader) fail(reason string) {
	if r.err == nil {
		r.err = errors.New("cache: reply of a script: " + reason)
	}
}

func (r *reader) string() string {
	s, ok := r.next().(string)
	if !ok {
		r.fail("want a string")
	}
	return s
}

// int takes a number or a decimal string.
func (r *reader) int() int64 {
	switch v := r.next().(type) {
	case int64:
		return v
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			r.fail("want a decimal number")
		}
		return n
	default:
		r.fail("want a number")
		return 0
	}
}

func (r *reader) slice() []any {
	s, ok := r.next().([]any)
	if !ok {
		r.fail("want a list")
	}
	return s
}

func (r *reader) keys() []rank.Key {
	list := r.slice()
	out := make([]rank.Key, len(list))
	for i, v := range list {
		s, _ := v.(string)
		out[i] = rank.Key(s)
	}
	return out
}

func (r *reader) ints() []int64 {
	list := r.slice()
	out := make([]int64, len(list))
	for i, v := range list {
		out[i], _ = v.(int64)
	}
	return out
}

// head is the beginning of every reply to a read: the state that the rest is exact at.
type head struct {
	leaderboard.State
	n     int64 // entries in the copy
	floor rank.Key
	ttl   time.Duration
	rest  *reader
}

// parseHead reads a reply, or turns its reason for not answering into an error. A state that cannot be read is damage,
// which a build repairs, and never a failure that would stand in its way.
func parseHead(raw []any) (head, error) {
	r := &reader{raw: raw}
	switch status := r.string(); {
	case r.err != nil:
		return head{}, fmt.Errorf("%w: %w", ErrDamaged, r.err)
	case status == "missing" || status == "format":
		return head{}, ErrMissing
	case status == "damaged":
		return head{}, ErrDamaged
	case status == "uncovered":
		return head{}, ErrUncovered
	case status != "ok":
		return head{}, fmt.Errorf("%w: status %q", ErrDamaged, status)
	}
	h := head{rest: r}
	h.Seq, h.AsOf, h.Total = r.int(), leaderboard.Micros(r.int()), r.int()
	h.n, h.floor, h.ttl = r.int(), rank.Key(r.string()), time.Duration(r.int())*time.Millisecond
	h.Source = leaderboard.SourceRedis
	if r.err != nil {
		return head{}, fmt.Errorf("%w: %w", ErrDamaged, r.err)
	}
	return h, nil
}

func (h *head) complete() bool { return h.n == h.Total }

// short says whether the copy has shrunk below top_n though the period has more.
func (h *head) short(p leaderboard.PeriodRef) bool { return !h.complete() && h.n < int64(p.Rules.TopN) }

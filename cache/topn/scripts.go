package topn

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard"
	"leaderboard/rank"
)

// The scripts, each beside its description of arguments and reply. head.lua goes ahead of those that look at a copy.
var (
	//go:embed head.lua
	headLua string
	//go:embed page.lua
	pageLua string
	//go:embed members.lua
	membersLua string
	//go:embed held.lua
	heldLua string
	//go:embed score.lua
	scoreLua string
	//go:embed info.lua
	infoLua string
	//go:embed clone.lua
	cloneLua string
	//go:embed apply.lua
	applyLua string
	//go:embed publish.lua
	publishLua string
	//go:embed drop.lua
	dropLua string
	//go:embed touch.lua
	touchLua string
	//go:embed extend.lua
	extendLua string
	//go:embed release.lua
	releaseLua string
)

type scripts struct {
	page, members, held, score, info   *redis.Script // read only
	apply, publish, drop, touch, clone *redis.Script
	extend, release                    *redis.Script
}

func newScripts() scripts {
	return scripts{
		page:    redis.NewScript(headLua + pageLua),
		members: redis.NewScript(headLua + membersLua),
		held:    redis.NewScript(headLua + heldLua),
		score:   redis.NewScript(headLua + scoreLua),
		info:    redis.NewScript(headLua + infoLua),
		clone:   redis.NewScript(headLua + cloneLua),
		apply:   redis.NewScript(headLua + applyLua),
		publish: redis.NewScript(headLua + publishLua),
		drop:    redis.NewScript(dropLua),
		touch:   redis.NewScript(touchLua),
		extend:  redis.NewScript(extendLua),
		release: redis.NewScript(releaseLua),
	}
}

// reply takes the values of a script's reply one after another; the first that is not as expected is its err.
type reply struct {
	raw []any
	err error
}

func (r *reply) next() any {
	if len(r.raw) == 0 {
		r.fail("it ends early")
		return nil
	}
	v := r.raw[0]
	r.raw = r.raw[1:]
	return v
}

func (r *reply) fail(reason string) {
	if r.err == nil {
		r.err = errors.New("topn: reply of a script: " + reason)
	}
}

func (r *reply) string() string {
	s, ok := r.next().(string)
	if !ok {
		r.fail("want a string")
	}
	return s
}

// int takes a number or a decimal string.
func (r *reply) int() int64 {
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

func (r *reply) slice() []any {
	s, ok := r.next().([]any)
	if !ok {
		r.fail("want a list")
	}
	return s
}

func (r *reply) keys() []rank.Key {
	list := r.slice()
	out := make([]rank.Key, len(list))
	for i, v := range list {
		s, _ := v.(string)
		out[i] = rank.Key(s)
	}
	return out
}

func (r *reply) ints() []int64 {
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
	rest  *reply
}

// parseHead reads a reply, or turns its reason for not answering into an error. A state that cannot be read is damage,
// which a build repairs, and never a failure that would stand in its way.
func parseHead(raw []any, p leaderboard.PeriodRef) (head, error) {
	r := &reply{raw: raw}
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
	h.History = p.History // in the names of the keys
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

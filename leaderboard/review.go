package leaderboard

import (
	"fmt"
	"time"
)

// Review is the rule that says which submissions of a board wait for an admin before they count; nil: none. Submissions
// by a key of scope admin never wait.
type Review struct {
	Hold   []HoldRule `json:"hold" flag:"review" label:"Hold" items:"1,8" want:"1 to 8 rules" doc:"Which submissions wait for an admin. One that applies is enough."`
	Expire string     `json:"expire,omitempty" flag:"review-expire" label:"Held for" default:"14d" example:"14d" doc:"How long one waits at most, and a decided one is kept: a Go duration or days, from 1h to 90d."`
}

// HoldRule holds submissions for one reason: one of its members is given.
type HoldRule struct {
	Above      *int64 `json:"above,omitempty" label:"Hold scores better than" doc:"The entry would have a better score than this one. With order asc, a lower one."`
	RankWithin int    `json:"rank_within,omitzero" label:"Hold the first places" range:"1,1000" doc:"The entry would be among so many first in the board's first window. It is better than the entry at that rank when the commit begins, or fewer are ranked."`
	PerSecond  *int64 `json:"per_second,omitempty" label:"Hold scores per second above" range:"1," doc:"The score is more than so much for each second of the play that it was made in."`
	By         HoldBy `json:"by,omitempty" label:"Hold what players submit" words:"players" doc:"Who submits: players, by a token of their own."`
}

// HoldBy says whose submissions are held.
type HoldBy string

// HoldByPlayers holds submissions by players with their own tokens.
const HoldByPlayers HoldBy = "players"

// Bounds of reviews.
const (
	MaxHoldRules   = 8
	DefaultHeldTTL = 14 * 24 * time.Hour
	MinHeldTTL     = time.Hour
	MaxHeldTTL     = 90 * 24 * time.Hour
	// MaxHeldPerMember is how many submissions of a member wait on a board: a better one takes the place of the worst.
	MaxHeldPerMember = 5
	MaxHeldNote      = 200 // characters of an admin's note on a decision
)

// HeldFor returns how long submissions of checked rules wait.
func (r *Review) HeldFor() time.Duration {
	if d, ok := parseDays(r.Expire); ok {
		return d
	}
	return DefaultHeldTTL
}

// parseDays reads a Go duration, or days such as "14d".
func parseDays(s string) (time.Duration, bool) {
	var days int
	if n, err := fmt.Sscanf(s, "%dd", &days); n == 1 && err == nil && s == fmt.Sprintf("%dd", days) && days >= 0 && days <= 10_000 {
		return time.Duration(days) * 24 * time.Hour, true
	}
	d, err := time.ParseDuration(s)
	return d, err == nil
}

// Ranks returns the places whose entries decide whether a submission waits, in the order of the rules. It is empty for
// a nil Review.
func (r *Review) Ranks() (out []int) {
	if r == nil {
		return nil
	}
	for i := range r.Hold {
		if within := r.Hold[i].RankWithin; within > 0 {
			out = append(out, within)
		}
	}
	return out
}

// check reports the faults of the rule.
func (r *Review) check(fail failFunc, derived bool, players *Players) {
	if r == nil {
		return
	}
	if derived {
		fail("/review", "nothing is submitted to a derived board")
	}
	for i := range r.Hold[:min(len(r.Hold), MaxHoldRules)] {
		r.Hold[i].check(func(at, format string, args ...any) { fail(fmt.Sprintf("/review/hold/%d", i)+at, format, args...) }, players)
	}
	if d, ok := parseDays(r.Expire); r.Expire != "" && (!ok || d < MinHeldTTL || d > MaxHeldTTL) {
		fail("/review/expire", "want a duration from 1h to 90d, such as 14d")
	}
}

func (h *HoldRule) check(fail failFunc, players *Players) {
	given := 0
	for _, is := range []bool{h.Above != nil, h.RankWithin != 0, h.PerSecond != nil, h.By != ""} {
		if is {
			given++
		}
	}
	if given != 1 {
		fail("", "want one of above, rank_within, per_second and by")
		return
	}
	if h.PerSecond != nil && !players.needPlay() {
		fail("/per_second", "needs a board whose players submit with a play")
	}
	if h.By != "" && h.By == HoldByPlayers && !players.submits() {
		fail("/by", "players do not submit to this board")
	}
}

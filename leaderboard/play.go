package leaderboard

import (
	"fmt"
	"math/bits"
	"time"
)

// CheckPlay returns a RuleError when a player's submission with a play may not be carried out at a time. play is the
// member's current play, or nil.
func (r *Rules) CheckPlay(sub *Submission, play *Play, now Micros) error {
	switch {
	case sub.Play == nil:
		return &RuleError{Code: CodePlayNeeded, Detail: "players submit with a play"}
	case play == nil || play.ID != *sub.Play:
		return &RuleError{Code: CodePlayGone, Detail: "the play is used up, or a later one has ended it"}
	}
	least, most := r.Players.Times()
	elapsed := time.Duration(now-play.StartedTime) * time.Microsecond
	switch limit := r.Limits.PerSecond; {
	case elapsed < least:
		return &RuleError{Code: CodePlayTime, Detail: fmt.Sprintf("a play takes %s at least, this one has taken %s", least, elapsed)}
	case elapsed > most:
		return &RuleError{Code: CodePlayTime, Detail: fmt.Sprintf("a play takes %s at most, this one has taken %s", most, elapsed)}
	case limit != nil && !withinRate(sub.Score, *limit, elapsed):
		return &RuleError{Code: CodePlayRate, Detail: fmt.Sprintf("the score may be %d for each second of the play, which has taken %s", *limit, elapsed)}
	}
	return nil
}

// withinRate reports whether a score is at most a limit per second, exactly.
func withinRate(score, perSecond int64, elapsed time.Duration) bool {
	if score <= 0 {
		return true
	}
	high, low := bits.Mul64(uint64(perSecond), uint64(max(0, elapsed/time.Microsecond)))
	high2, low2 := bits.Mul64(uint64(score), 1_000_000)
	return high2 < high || high2 == high && low2 <= low
}

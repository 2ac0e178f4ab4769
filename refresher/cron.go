package refresher

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"leaderboard"
)

// schedule says when a full refresh is next due after a moment, the zero time for never.
type schedule func(after time.Time) time.Time

// parseCron reads five fields (minute, hour, day of month, month, day of week); times are UTC. false: not a cron
// expression, or one that never comes, such as 30 February.
func parseCron(expression string) (schedule, bool) {
	if strings.ContainsAny(expression, "=@") { // time zones and descriptors, which the parser would take
		return nil, false
	}
	s, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(expression)
	if err != nil || s.Next(time.Unix(0, 0).UTC()).IsZero() {
		return nil, false
	}
	return func(after time.Time) time.Time { return s.Next(after.UTC()) }, true
}

// CheckRules says what is wrong with the part of a board's rules that only the refresher understands.
func CheckRules(r leaderboard.Rules) []leaderboard.FieldError {
	if r.Refresh.Full == "" {
		return nil
	}
	if _, ok := parseCron(r.Refresh.Full); !ok {
		return []leaderboard.FieldError{{Pointer: "/refresh/full", Detail: "want a cron expression of five fields in UTC, such as 0 4 * * *"}}
	}
	return nil
}

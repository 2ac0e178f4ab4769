package dbtest

import (
	"fmt"
	"time"

	"leaderboard/leaderboard"
)

// ClockAhead returns a store.Config.Clock that is ahead of the database clock by the result of ahead at each statement.
func ClockAhead(ahead func() time.Duration) func(string) string {
	return func(database string) string {
		return fmt.Sprintf("(%s + INTERVAL %d MICROSECOND)", database, ahead().Microseconds())
	}
}

// ClockAt returns a store.Config.Clock that shows the result of now at each statement.
func ClockAt(now func() leaderboard.Micros) func(string) string {
	return func(string) string { return "TIMESTAMP'" + now().Time().Format("2006-01-02 15:04:05.000000") + "'" }
}

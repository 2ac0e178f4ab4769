package leaderboard

import "time"

// BoardHealth is how a board stands, as one server sees it: the current period of its first window, and who has it.
type BoardHealth struct {
	Board Board
	// Period is the one that is current. Without an ID nobody has begun it; without a window there is none now, as between
	// two seasons.
	Period Period
	// Stale: the database could not be asked. What is said of the period is what this server knew before.
	Stale    bool
	Copy     *CopyHealth // nil: there is no copy, or Redis could not be asked
	Resident bool        // the period is whole in the memory of the server
	// Lag is of a derived board: the age of the oldest change of its sources that it has not taken over, 0 when it has all
	// of them. nil: nobody can tell, because its entries are being computed, or the database could not be asked.
	Lag *time.Duration
}

// CopyHealth is how far the Redis copy of a period is.
type CopyHealth struct {
	Seq     int64
	Entries int64 // in the copy, which may have only the best
}

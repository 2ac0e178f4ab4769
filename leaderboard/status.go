package leaderboard

import "time"

// BoardHealth is the health of a board, as one server sees it: the current period of its first window, and its copies.
type BoardHealth struct {
	Board Board
	// Period is the current period. Without an ID it has no row yet; without a window no period is current, as between
	// two seasons.
	Period Period
	// Stale: the database could not be asked. The period is the last one known to this server.
	Stale    bool
	Copy     *CopyHealth // nil: there is no copy, or Redis could not be asked
	Resident bool        // the period is whole in the memory of the server
	// Lag is, for a derived board, the age of the oldest change of its sources that it does not reflect yet, 0 when it
	// reflects all. nil: unknown, because its entries are being computed, or the database could not be asked.
	Lag *time.Duration
}

// Purge is the amount left to delete of boards and periods that no reader can find any longer.
type Purge struct {
	Boards  int64 // deleted ones, at most MaxPurgeBoards
	Entries int64 // of them, and of periods that are given up, as far as the housekeeping has looked
}

// MaxPurgeBoards bounds Purge.Boards.
const MaxPurgeBoards = 100

// CopyHealth is the state of the Redis copy of a period.
type CopyHealth struct {
	Seq     int64
	Entries int64 // in the copy, which may hold only the best
}

package leaderboard

// Forgetting is how far the removal of a member from everywhere is.
type Forgetting struct {
	Member    string
	Done      bool   // nothing is left but what ages out: the change log, the answers kept for idempotency keys
	Entries   int64  // removed so far, in all periods of all boards
	StartedAt Micros // database clock
}

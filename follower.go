package leaderboard

import "time"

// Bounds of followers.
const (
	MaxFollowers = 20 // of a board
	// FollowerTTL is how long a follower is one that does not tell where it is, and for how long changes are kept for one.
	FollowerTTL = 24 * time.Hour
)

// Follower is a program that follows the changes of a board under a name: they are kept until it has them.
type Follower struct {
	Name     string // like that of a board
	Window   Window
	StartsAt Micros // of the period that it is in, which may not have begun
	Seq      int64  // up to here it has the changes of that period
	Cursor   string // where it goes on, as it said

	CreatedTime Micros
	Seen        Micros // when it last told where it is

	Waiting       int64  // changes that it does not have yet
	OldestWaiting Micros // when the oldest of them was committed that is kept, 0 for none
}

// IsFollowerName reports whether a follower can have this name.
func IsFollowerName(name string) bool { return isName(name) }

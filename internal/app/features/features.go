// Package features is the list of features: what each adds to the engine.
package features

import (
	"leaderboard/features/hidden"
	"leaderboard/features/metadata"
	"leaderboard/features/plays"
	"leaderboard/features/records"
	"leaderboard/features/review"
	"leaderboard/store/commit"
)

// Parts returns what features add to the transaction of submissions, in the order in which they read, decide and write.
func Parts() []commit.Part {
	return []commit.Part{records.Part{}, plays.Part{}, review.Part{}, hidden.Part{}, metadata.Part{}}
}

// Package installed is the list of the features that the program has.
package installed

import (
	"leaderboard/features"
	"leaderboard/features/audit"
	"leaderboard/features/changefeed"
	"leaderboard/features/events"
	"leaderboard/features/friends"
	"leaderboard/features/keys"
	"leaderboard/features/metadata"
	"leaderboard/features/notices"
	"leaderboard/features/pages"
	"leaderboard/features/people"
	"leaderboard/features/players"
	"leaderboard/features/plays"
	"leaderboard/features/quotas"
	"leaderboard/features/records"
	"leaderboard/features/review"
	"leaderboard/features/signin"
	"leaderboard/features/streams"
	"leaderboard/store/commit"
)

// Features returns the features in the order in which a reader should meet them. In this order their parts read, decide and write in
// a submission, and what one offers is there for those after it. To remove a feature, delete its folder and its line.
func Features() []features.Feature {
	return []features.Feature{
		records.Feature(),    // what was submitted, hour by hour and member by member
		players.Feature(),    // players, by their tokens
		plays.Feature(),      // players submit once for each play that they begin
		review.Feature(),     // what waits for an admin
		metadata.Feature(),   // what a submission says besides the score
		people.Feature(),     // profiles of members
		friends.Feature(),    // lists of friends, and boards among them
		events.Feature(),     // what is told to endpoints
		notices.Feature(),    // who was passed, as events
		streams.Feature(),    // pages that follow a board
		changefeed.Feature(), // each change, for a copy elsewhere
		audit.Feature(),      // who changed what
		keys.Feature(),       // keys of the API
		signin.Feature(),     // people who sign in, and what their browsers keep
		quotas.Feature(),     // how much a caller may ask
		pages.Feature(),      // for people
	}
}

// Parts returns what the features add to the transaction of submissions.
func Parts() []commit.Part { return features.Parts(Features()) }

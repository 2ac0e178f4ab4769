// Package installed is the list of the features that the program has.
package installed

import (
	"leaderboard/features"
	"leaderboard/features/audit"
	"leaderboard/features/changefeed"
	"leaderboard/features/derived"
	"leaderboard/features/events"
	"leaderboard/features/friends"
	"leaderboard/features/keys"
	"leaderboard/features/manual"
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
	"leaderboard/features/transfer"
	"leaderboard/store/commit"
)

// Features returns the features in the order in which a reader should meet them. In this order their parts read, decide and write
// in a submission, and the values that a feature offers are there for the features after it. To remove a feature, delete its
// folder and its line.
func Features() []features.Feature {
	return []features.Feature{
		records.Feature(),    // submissions, hour by hour and member by member
		players.Feature(),    // players, by their tokens
		plays.Feature(),      // players submit once for each play that they begin
		derived.Feature(),    // boards that are computed from other boards
		review.Feature(),     // submissions that wait for an admin
		metadata.Feature(),   // data of a submission in addition to the score
		people.Feature(),     // profiles of members
		friends.Feature(),    // lists of friends, and boards among them
		events.Feature(),     // events for endpoints
		notices.Feature(),    // who was passed, as events
		streams.Feature(),    // pages that follow a board
		changefeed.Feature(), // each change, for a copy elsewhere
		transfer.Feature(),   // whole periods, and all that is stored of a member
		audit.Feature(),      // who changed what
		keys.Feature(),       // keys of the API
		signin.Feature(),     // people who sign in, and the sessions of their browsers
		quotas.Feature(),     // how much a caller may ask
		manual.Feature(),     // the contract, and pages about it
		pages.Feature(),      // for people
	}
}

// Parts returns the features' parts in the transaction of submissions.
func Parts() []commit.Part { return features.Parts(Features()) }

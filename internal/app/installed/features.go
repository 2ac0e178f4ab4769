// Package installed is the list of the features that the program has.
package installed

import (
	"time"

	"leaderboard/features"
	"leaderboard/features/audit"
	"leaderboard/features/changefeed"
	"leaderboard/features/events"
	"leaderboard/features/friends"
	"leaderboard/features/keys"
	"leaderboard/features/metadata"
	"leaderboard/features/notices"
	"leaderboard/features/people"
	"leaderboard/features/players"
	"leaderboard/features/plays"
	"leaderboard/features/quotas"
	"leaderboard/features/records"
	"leaderboard/features/review"
	"leaderboard/features/signin"
	"leaderboard/features/streams"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
)

// Settings are what features take of the settings of a server. The zero value is enough for their parts.
type Settings struct {
	KeyQuota, PlayerQuota, AddressQuota leaderboard.Rates // of those that have no quota of their own
	Servers                             int               // that share the quotas when Redis does not answer
	SignIn                              SignIn
	Site, Base                          string // URL at which people reach the server, and the path below which it is
	PrivateIssuers                      bool   // keys of issuers may be at private addresses
	// ProfilesByPeople leaves changes of profiles that keys of scope write make out of the audit: those that programs make all day.
	ProfilesByPeople bool
	// PrivateEndpoints lets endpoints of events have addresses that are not public, if they ask for it.
	PrivateEndpoints bool
	EventRetry       time.Duration     // before the second attempt to send an event; 0: the default
	EventPoint       func(name string) // is called at named points of the way of events, for tests; nil: nothing is
}

// SignIn is the settings of how people sign in.
type SignIn struct {
	Issuer  string // of the OpenID provider; "": nobody signs in
	Client  string
	Secret  string // secret; "": a public client
	Scopes  []string
	Claim   string   // of the ID token that has a person's roles
	Admins  []string // values of it, by scope
	Writers []string
	Readers []string
	Boards  string        // claim with the boards of a person, "": all boards
	Session time.Duration // how long somebody is signed in
}

// Features returns the features in the order in which a reader should meet them. In this order their parts read, decide and write in
// a submission, and what one offers is there for those after it. To remove a feature, delete its folder and its line.
func Features(s Settings) []features.Feature {
	return []features.Feature{
		records.Feature(), // what was submitted, hour by hour and member by member
		players.Feature(players.Settings{Private: s.PrivateIssuers}), // players, by their tokens
		plays.Feature(),    // players submit once for each play that they begin
		review.Feature(),   // what waits for an admin
		metadata.Feature(), // what a submission says besides the score
		people.Feature(people.Options{ByPeople: s.ProfilesByPeople}),
		friends.Feature(), // lists of friends, and boards among them
		events.Feature(events.Options{AllowPrivate: s.PrivateEndpoints, Retry: s.EventRetry, Point: s.EventPoint}),
		notices.Feature(s.EventPoint), // who was passed, as events
		streams.Feature(),             // pages that follow a board
		changefeed.Feature(),          // each change, for a copy elsewhere
		audit.Feature(),               // who changed what
		keys.Feature(),                // keys of the API
		signin.Feature(signin.Settings(s.SignIn), s.Site, s.Base), // people who sign in, and what their browsers keep
		quotas.Feature(quotas.Settings{Keys: s.KeyQuota, Players: s.PlayerQuota, Addresses: s.AddressQuota, Servers: s.Servers}),
	}
}

// Parts returns what the features add to the transaction of submissions.
func Parts() []commit.Part { return features.Parts(Features(Settings{})) }

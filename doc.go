// Package leaderboard holds the nouns of the service and their rules: boards, periods, entries, policies, ranks.
// It imports the standard library only. Every other package speaks in these types; none of them adds a rule.
package leaderboard

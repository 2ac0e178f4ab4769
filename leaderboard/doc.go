// Package leaderboard has the nouns of the service and their pure rules: boards, periods, entries, policies and
// queries. It imports the standard library only. Every other package speaks in these types; none of them adds a rule.
//
// Its files read in layers, and each uses only the layers before it:
//
//	micros.go, whole.go, window.go, order.go, errors.go, check.go  times, whole numbers, windows, orders, what can be wrong
//	key.go, quota.go, caller.go, signin.go          API keys: scopes, boards that they are for, their text; how much may be asked for, and by whom; people who sign in
//	entry.go, labels.go, calendar.go                what rules and entries are made of
//	display.go, face.go                             how people read scores, and how a board's page looks
//	player.go, issuer.go, notify.go, metadata.go, review.go  what players may do, their tokens, and who issues them; who learns of being passed; what entries carry; what waits
//	derive.go, aggregate.go                         the rule of derived boards
//	board.go                                        a board and its rules
//	rule_field.go                                   what the tags of rules say, and what is against them
//	revision.go, period.go                          states of a period, periods, finding one by name
//	submit.go, condition.go, edit.go, policy.go, play.go  what a submission says, and what it does
//	held.go                                         which submissions wait for an admin, and what becomes of them
//	board_check.go, derive_check.go, conflict.go    which rules are valid, and which can be changed
//	query.go, past.go, combined.go, move.go, answered.go  what is asked and answered
//	copy.go, derivation.go, run.go, status.go       states of copies and of derived boards, records of work, how boards stand
//	people.go, hidden.go, audit.go                  profiles, friends, erasure, hidden members, the record of changes
//	event.go, endpoint.go                           what a change sends, and where to
//	member_data.go                                  all that is stored of a member
package leaderboard

// Package leaderboard has the nouns of the service and their pure rules: boards, periods, entries, policies and
// queries. It imports the standard library only. Every other package speaks in these types; none of them adds a rule.
//
// Its files read in layers, and each uses only the layers before it:
//
//	micros.go, whole.go, window.go, order.go, errors.go, check.go  times, whole numbers, windows, orders, errors
//	key.go, quota.go, caller.go, signin.go          API keys: scopes, boards that they are for, their text; how much may be asked for, and by whom; people who sign in
//	entry.go, labels.go, calendar.go                the parts of rules and entries
//	display.go, face.go                             how people read scores, and how a board's page looks
//	player.go, notify.go, metadata.go, review.go    what players may do, and their tokens; notices of passes; metadata of entries; held submissions
//	derive.go                                       the rule of derived boards
//	board.go                                        a board and its rules
//	rule_field.go                                   the tags of rules, and their violations
//	revision.go, period.go                          states of a period, periods, finding one by name
//	submit.go, condition.go, edit.go, policy.go, play.go  submissions, and their effect
//	held.go                                         submissions that wait for an admin, and their states
//	board_check.go, derive_check.go, conflict.go    which rules are valid, and which can be changed
//	query.go, past.go, combined.go, move.go, answered.go  questions and answers
//	copy.go, run.go, status.go                      states of copies, records of work, how boards stand
//	friends.go, hidden.go, audit.go                 lists of friends, hidden members, the record of changes
//	event.go                                        the events of changes
//	member_data.go                                  all that is stored of a member, and its erasure
package leaderboard

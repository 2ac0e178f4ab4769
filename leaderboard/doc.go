// Package leaderboard has the nouns of the service and their pure rules: boards, periods, entries, policies and
// queries. It imports the standard library only. Every other package speaks in these types; none of them adds a rule.
//
// Its files read in layers, each of which uses only those before it:
//
//	micros, whole, window, order, errors, check  times, whole numbers, windows, orders, what can be wrong
//	key, quota, caller, signin              API keys: scopes, boards that they are for, their text; how much may be asked for, and by whom; people who sign in
//	entry, labels, calendar                 what rules and entries are made of
//	display, face                           how people read scores, and how a board's page looks
//	player, issuer, notify, metadata, review  what players may do, their tokens, and who issues them; who learns of being passed; what entries carry; what waits
//	derive, aggregate                       the rule of derived boards
//	board                                   a board and its rules
//	revision, period                        states of a period, periods, finding one by name
//	submit, condition, edit, policy, play   what a submission says, and what it does
//	held                                    which submissions wait for an admin, and what becomes of them
//	board_check, derive_check, conflict     which rules are valid, and which can be changed
//	query, past, combined, move, answered, activity  what is asked and answered; how much was submitted
//	copy, derivation, run, status           states of copies and of derived boards, records of work, how boards stand
//	people, hidden, audit                   profiles, friends, erasure, hidden members, the record of changes
//	event, endpoint                         what a change sends, and where to
//	member_data                             all that is stored of a member
package leaderboard

// Package feed informs a process of commits. Its own commits are in memory for a while (Tail), so that copies need not
// read them from the change log. Commits of other processes are found in the database (Feed): one statement every few
// milliseconds reads the revisions of all periods that are being read, and of the tables of boards and of API keys.
//
// A revision that a statement showed was current when the statement was sent. So an answer at that revision or a later
// one is not older than that moment, no matter how its copy was filled or what the clocks of other machines show
// (promise B6).
package feed

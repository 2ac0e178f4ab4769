// Package feed informs a process of commits. Its own commits are in memory for a while (Tail), so that copies need not
// read them from the change log. Commits of other processes are found in the database (Feed): statements, every 50 ms while
// something is read, show the revisions of all periods, boards and small tables that are being read.
//
// A revision that a statement showed was current when the statement was sent. So an answer at that revision or a later
// one is not older than that moment, no matter how its copy was filled or what the clocks of other machines show
// (promise B6).
package feed

// Package feed is how a process hears of commits. What this process has committed itself is in memory for a while (Tail),
// so that copies need not read it from the change log. What anything else has committed the database tells (Feed): one
// statement every few milliseconds asks for the revisions of all periods that are being read, and of the tables of boards
// and of API keys.
//
// What a statement showed is true of the moment at which it was sent. So an answer whose revision is not older is not older
// than that, whatever fills a copy and whatever the clocks of other machines say (design promise P5).
package feed

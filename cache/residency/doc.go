// Package residency decides which periods are kept whole in memory, loads them, and keeps them up to date: commits of
// this process arrive by Committed, those of other servers are read from the change log once the feed has shown that a
// period moved. What is in memory is exact at the state that it names; whether that is new enough is for the reader to
// judge.
//
// Read it from below: heat and choose say which periods are worth their memory, tenant is one period with what waits to
// be folded into it, load reads one, Periods is all of them and the goroutines that work on them.
package residency

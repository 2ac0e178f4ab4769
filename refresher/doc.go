// Package refresher decides when a copy is made or renewed, and by whom. RunOnce does the work, Run only schedules it.
//
// # Coalescing
//
// Requests for the same period and kind share runs: while one is at work, all further requests wait for the one after
// it, so that nobody is answered with a state from before their request, and any number of requests at once cost two
// runs. A reader that merely needs a copy joins the run at work.
//
// # Across processes
//
// One lease per period, and two starts of a full build at least a second apart (both by the clock of Redis, which
// every process sees the same). Who gets the lease after waiting, or waits for the second to pass, looks at
// the copy first: a build that started after the request was made did the work already, and the run ends as shared. A
// lost lease cancels the work. All of this saves work and none of it is needed for correctness: the copies fence
// themselves by seq.
//
// # What the schedule does not do
//
// It builds no copy for a board that has none (nobody reads it), and it records no run when it finds nothing to do:
// a write-through keeps copies current, the schedule is for what that missed.
package refresher

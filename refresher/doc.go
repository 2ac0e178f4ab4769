// Package refresher decides when a copy is made or renewed, and it is the one runner of runs. RunOnce does a run, Run only schedules.
//
// # Coalescing
//
// Requests for the same period and kind share runs: while one is at work, all further requests wait for the next run,
// so that no request gets a state from before it, and any number of requests at once cost two runs. A reader that
// merely needs a copy joins the run at work, like a request to compute a derived board from scratch. Every run
// has a record in the history, also when it fails; a panic ends the run, not the process. There may be many readers, so
// the runs for them are bounded: a limited number of builds at once, no builds of a closed period, and no record unless
// something is built.
//
// # Across processes
//
// One lease per period, and two starts of a full build at least a second apart (both by the clock of Redis, which
// every process sees the same). Each attempt to build takes the lease and then looks at
// the copy once: a build that started after the request was made did the work already, and the run ends as shared. Before
// it builds, it asks whether the lease is still its own: a Redis that lost the copy a moment ago has lost the lease too. A
// lost lease cancels the work. All of this saves work and none of it is needed for correctness: the copies fence
// themselves by seq.
//
// # The schedule
//
// It follows the boards that this process reads: the catalog reports each of them once a second. Nothing is asked about a
// board that is not read here, except for boards with a cron expression, because a full refresh is due whether the board is
// read or not, and makes the copy when it is missing: they are found in the list of all boards, which is read once a minute
// if a board has changed. When Redis is nearly full the schedule makes no such copy, and leaves the memory to boards that are read. Boards due at the same
// minute are spread over half of their interval. The plans are a heap by when they are due. Apart from full refreshes the
// schedule builds no missing copies, and it records no run when it finds nothing to do: write-through keeps copies current,
// and the schedule repairs missed changes.
//
// # Files
//
// They read in layers; each uses only files above it and on its own line.
//
//	plan.go, failures.go, span.go      when a board is due, failures, spans
//	observer.go, config.go             the observer of metrics, and the configuration
//	boards.go, runner.go               table of boards; runs: requests that share one, its record, its end
//	build.go, schedule.go              runs on copies, and their schedule
//	refresher.go                       all of it
package refresher

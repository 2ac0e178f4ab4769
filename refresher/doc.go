// Package refresher decides when a copy is made or renewed and when a derived board follows its sources, and it is the
// one runner of runs. RunOnce does a run, Run only schedules.
//
// # Coalescing
//
// Requests for the same period and kind share runs: while one is at work, all further requests wait for the one after
// it, so that none is answered with a state from before their request, and any number of requests at once cost two
// runs. A reader that merely needs a copy joins the run at work, and so does a request to compute a derived board from
// scratch. Every run has a record in the history, whatever becomes of it; a panic ends the run, not the process. Readers
// may be many, so what they make this process do is bounded: so many builds at once, none of a closed period, and no
// record unless something is built.
//
// # Across processes
//
// One lease per period, and two starts of a full build at least a second apart (both by the clock of Redis, which
// every process sees the same). Each attempt to build takes the lease and then looks at
// the copy once: a build that started after the request was made did the work already, and the run ends as shared. A
// lost lease cancels the work. All of this saves work and none of it is needed for correctness: the copies fence
// themselves by seq.
//
// # Whom the schedule is for
//
// It follows the boards that this process reads: the catalog tells of each once a second.
// Nothing is asked about a board that is not read here. Only those with a cron expression are found in the list of all
// boards, once a minute, because a full refresh is due whether the board is read or not, and makes the copy where there is none: that is
// what it is ordered for. Unless Redis is nearly full: then what is left is for boards that are read. Boards due at the same minute are
// spread over half of their interval. The plans are a heap by when they are due. Otherwise the schedule builds no copy for a board
// that has none, and it records no run when it finds nothing to do: a write-through keeps copies current, the schedule is
// for what that missed.
//
// # Derived boards
//
// Every process lists the derived boards and has one goroutine for each. Of several processes one leads a board, by a
// lock that only saves work; what makes a step right is that the store writes it only if no other was faster. A step
// is taken when a source has a commit from this process, and otherwise once a second: that is how commits of other
// processes and rollovers are seen. After a step the goroutine rests for a quarter of the time that it took at least. A
// rollover, which touches most of a board, rests within the step, and has a permit of another kind, so that other
// boards go on.
package refresher

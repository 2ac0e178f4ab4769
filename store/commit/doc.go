// Package commit is the one write path of the entries: submissions, removals, corrections and moves wait in queues and are
// committed in batches, one transaction for all that wait.
//
// A batch is over one board or over several. It locks the row of each board with the rows of its open periods, so there is
// one writer at a time per period, in this process and in all others: seq has no gap and follows the order of the commits.
// It takes three round trips when it is over one board: lock and read, write, COMMIT. Its effect on the entries is decided
// in plain Go under the lock.
//
// Read in the order in which a submission passes:
//
//   - writer.go: requests of callers, and their results
//   - request.go: the common part of requests: a place in a queue, a state, a load
//   - admission.go, rejection.go: which requests may wait, and how others are refused
//   - queue.go: where requests wait, and which of them become a batch
//   - mutex.go: one writer of this process at a time per board, and which boards another session keeps locked
//   - batch.go, several.go: one batch, from its mutexes to the answers, and the extra parts of a batch over several boards
//   - retry.go: when a batch is tried again
//   - lock.go, read.go: locks boards and their periods, and reads the entries concerned
//   - board.go, period.go, aside.go: the changes of a batch to a board, a period and entries that are set aside, in memory
//   - part.go: the part of a feature: it reads, refuses, holds, observes, writes, announces and listens
//   - hidden.go: which members are hidden
//   - submission.go, atomic.go: the effect of a submission on the locked boards; all of its entries or none
//   - write.go, packet.go: the statements that write it, and how large they may become
//   - idempotency.go, receipt.go: keys of requests, and their stored answers
//   - outcome.go: COMMIT, and the outcome when it gets no answer
//   - span.go: spans of traces
//
// Other ways through the same locks and statements:
//
//   - removal.go, move.go: requests that remove entries, and that move them to their other side
//   - work.go: requests of features, such as a decision about a held submission
//   - rewrite.go: precomputed changes, of derived boards
//   - alone.go: transactions that write to a board outside of batches
package commit

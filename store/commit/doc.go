// Package commit is the one write path of the entries: what is submitted, removed, corrected and moved waits in queues
// and is committed in batches, one transaction for all that waits.
//
// A batch is over one board or over several. It locks the row of each board with those of its open periods, so there is
// one writer at a time per period, in this process and in all others: seq has no gap and follows the order of the
// commits. It takes three round trips when it is over one board: lock and read, write, COMMIT. What it does to the
// entries is decided in plain Go under the lock.
//
// Read in the order in which a submission passes:
//
//   - writer.go: what callers ask for, and what they get back
//   - request.go: what all requests have: a place in a queue, a state, a load
//   - admission.go, rejection.go: which requests may wait, and how others are refused
//   - queue.go: where requests wait, and which of them become a batch
//   - mutex.go: one writer of this process at a time per board, and which boards another session keeps locked
//   - batch.go, several.go: one batch, from its mutexes to the answers, and what only one over several boards needs
//   - retry.go: when a batch is tried again
//   - lock.go, read.go: locks boards and their periods, and reads the entries concerned
//   - board.go, period.go, aside.go: what a batch makes of a board, of a period and of entries that are set aside, in memory
//   - part.go: what a feature adds: it reads, refuses, holds, observes, writes, announces and listens
//   - hidden.go: which members are hidden
//   - submission.go, atomic.go: what a submission does to the boards that were locked; all of its entries or none
//   - write.go, packet.go: the statements that write it, and how large they may become
//   - idempotency.go, receipt.go: keys of requests, and the answers that are kept for them
//   - outcome.go: COMMIT, and what is known when it is not answered
//   - span.go: what a trace shows of this
//
// Other ways through the same locks and statements:
//
//   - removal.go, move.go: requests that remove entries, and that move them to their other side
//   - work.go: requests of features, such as a decision about a held submission
//   - rewrite.go: changes that were computed before, of derived boards
//   - alone.go: transactions that write to a board and are no batch
package commit

// Package commit is the one write path of the entries: what is submitted, removed, corrected and moved waits in queues
// and is committed in batches, one transaction for all that waits.
//
// A batch is over one board or over several. It locks the row of each board with those of its open periods, so there is
// one writer at a time per period, in this process and in all others: seq has no gap and follows the order of the
// commits. It takes three round trips when it is over one board: lock and read, write, COMMIT. What it does to the
// entries is decided in plain Go under the lock.
//
// Read in the order of a submission:
//
//   - writer.go: what callers ask for
//   - request.go, and submission.go, removal.go, move.go: the kinds of requests, and what each does to the boards that
//     were locked
//   - atomic.go: submissions of which all are applied or none
//   - queue.go: which requests wait, and which become a batch
//   - admission.go, rejection.go: which requests may wait, and how others are refused
//   - mutex.go: one writer of this process at a time per board, and which boards another session keeps locked
//   - batch.go, several.go: one batch, from its mutexes to COMMIT and the answers
//   - retry.go: when a batch is tried again
//   - lock.go, read.go: locking boards and their periods, and reading the entries concerned
//   - period.go, hidden.go: what a batch makes of a period and of its hidden entries, in memory
//   - write.go: the statements that write it
//   - idempotency.go, receipt.go: keys of requests, and the answers that are kept for them
//   - metadata.go: metadata of entries
//   - play.go: plays, by which players submit once
//   - record.go: what is kept of submissions
//   - rewrite.go: the same locks and statements for changes that were computed elsewhere, those of derived boards
package commit

// Package store keeps boards, entries and their history in MySQL, the database of the service.
//
// Here are boards, periods, labels, hidden members, erasures, runs and the housekeeping, each in its own files, above
// store.go. Everything else is in other packages, which begin with their reading order:
//
//   - store/commit writes: submissions queue per board and are committed in batches, one writer at a time per period, in
//     this process and in all others, so that seq has no gap and follows the order of the commits.
//   - store/internal/read answers, exactly at the seq that it reports, from the statements of internal/entries and the rank
//     indexes of store/internal/index.
//   - internal/boards has the rows of boards and periods, and the rollover; internal/mysql connects to the database.
//
// A feature with its own tables adds to this package: its Job to Housekeeping, its Forget to Erasures, its Data to Members.
package store

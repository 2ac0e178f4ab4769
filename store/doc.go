// Package store keeps boards, entries and their history in MySQL, the database of the service.
//
// # Writing
//
// Submissions queue per board. A goroutine per board with waiting work commits all that waits as one batch (queue.go),
// in one transaction that first locks the board's periods (batch.go): one writer at a time per period, in this process
// and in all others, so that seq has no gap and follows the order of the commits, and nothing can deadlock. What a batch
// does to the entries is decided in plain Go under that lock (apply.go).
//
// # Reading
//
// Every answer is exact at the seq it reports: internal/read puts it together from the statements of internal/entries and
// the rank indexes of internal/index. All of them reach the database through internal/db.
package store

// Package store keeps boards, entries and their history in MySQL, the truth of the service.
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
// Every answer is exact at the seq it reports. Under READ COMMITTED one SELECT sees one state, so short answers read the
// period's row and the entries in one statement; longer ones use a REPEATABLE READ, READ ONLY transaction (view.go).
//
// Scores and tiebreaks are stored so that higher is better (rank.Codec.Stored), and so every query orders by
// (score DESC, tiebreak DESC, created_at ASC, member ASC), the order of the index entries_order and of rank.Key.
package store

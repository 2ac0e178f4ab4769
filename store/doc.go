// Package store keeps boards, entries and their history in MySQL, the database of the service.
//
// Here are boards, periods, labels, people, hidden members, erasures, runs and the housekeeping, each in files of its
// own over store.go. Everything else is in packages below, each of which begins with its reading order:
//
//   - internal/commit writes: submissions queue per board and are committed in batches, one writer at a time per period, in
//     this process and in all others, so that seq has no gap and follows the order of the commits.
//   - internal/derived keeps derived boards up to date with their sources, and writes through commit.
//   - internal/read answers, exactly at the seq that it reports, from the statements of internal/entries and the rank
//     indexes of internal/index.
//   - internal/boards has the rows of boards and periods, and the rollover; internal/db is the way to the database.
package store

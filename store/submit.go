package store

import (
	"context"

	"leaderboard"
	"leaderboard/store/internal/commit"
)

// Submit applies the entries to all current periods of the board and returns when the transaction is committed. A
// second request with the same key and the same entries gets the receipt of the first. When ctx ends before the request
// is sent nothing is done: the error is ErrOverloaded when its time was up, and that of ctx when it was cancelled. When
// ctx ends later the error is ErrOutcomeUnknown, and the work goes on. Other errors: ErrBoardNotFound, ErrKeyReused,
// ErrOverloaded, ErrUnavailable, ErrOutcomeUnknown. Entries that break a rule are results, not errors.
func (s *Store) Submit(ctx context.Context, r SubmitRequest) (leaderboard.Receipt, error) {
	return s.writer.Submit(ctx, r)
}

// SubmitMultiBoard applies the entries to all current periods of their boards and returns when the transaction is
// committed: all of them are, or none. Entries of boards that do not exist are rejected, like those that break a rule,
// and so are those of derived boards, which it does not wait for. Otherwise it is Submit, with idempotency keys of its
// own. Errors: ErrKeyReused, ErrOverloaded, ErrUnavailable, ErrOutcomeUnknown.
func (s *Store) SubmitMultiBoard(ctx context.Context, r MultiBoardRequest) (leaderboard.MultiBoardReceipt, error) {
	return s.writer.SubmitMultiBoard(ctx, r)
}

// Remove deletes the entry of a member in one period of the board, or in all current ones (periodID 0). It goes
// through the same queue as the submissions. Errors: those of Submit, ErrNotRanked when there is no such entry,
// ErrPeriodNotFound when the board has no such period, ErrPeriodClosed when it is over.
func (s *Store) Remove(ctx context.Context, board string, periodID int64, member string) (leaderboard.Receipt, error) {
	return s.writer.Remove(ctx, commit.Removal{Board: board, PeriodID: periodID, Member: member})
}

// Reopen is Remove for a period that may be closed. That it was done to a closed one, and by whom, is recorded as a run
// of kind RunKindReopen, in the same transaction.
func (s *Store) Reopen(ctx context.Context, board string, periodID int64, member, actor string) (leaderboard.Receipt, error) {
	return s.writer.Remove(ctx, commit.Removal{Board: board, PeriodID: periodID, Member: member, Reopen: true, Actor: actor})
}

// Admit says whether a submission of about so many bytes for a board would be refused now, "" for one for several
// boards: nil, or the error, an ErrOverloaded or ErrUnavailable. It reserves nothing and does not block.
func (s *Store) Admit(board string, bytes int64) error { return s.writer.Admit(board, bytes) }

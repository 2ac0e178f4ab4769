package commit

import (
	"context"
	"time"
)

// sendCommit ends the transaction of a batch that has its boards locked and has written all. An error wraps
// ErrOutcomeUnknown when COMMIT was sent and no answer came: then the batch is not tried again, its callers get that error,
// and a repetition with the same idempotency key finds out whether it was committed. While the answer is late, requests
// that wait behind the batch are refused.
func (b *batch) sendCommit(ctx context.Context, t *transaction, boards []string) error {
	asked, span := statement(ctx, "commit", b.queue.id.board)
	told := make(chan struct{})
	late := time.AfterFunc(b.db.Config.LockWait, func() {
		defer close(told)
		b.stuck(boards...)
	})
	err := t.Commit(asked)
	if err == nil {
		b.db.Committed()
	}
	if !late.Stop() {
		<-told
		b.boards.unblock(boards...) // the next batch finds out whether it can have the locks
	}
	endStatement(span, err)
	return err
}

package commit

import (
	"context"
)

type work struct {
	header
	Work
}

// Do carries out the work of a feature on a board. Errors: the errors of Submit and of the work.
func (w *Writer) Do(ctx context.Context, board string, do Work) error {
	return w.do(ctx, &work{headerOf(queueID{board: board}, []string{board}, 1, 0), do})
}

func (w *work) collect(of func(board string) *Needs) {
	n := of(w.queue.board)
	n.works = append(n.works, w.Work)
	w.Collect(n)
}

func (w *work) apply(l *locked) error {
	b, err := l.board(w.queue.board)
	if err != nil {
		return err
	}
	return w.Apply(b, w.caller)
}

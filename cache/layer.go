package cache

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// layer is a place where answers are found. Methods may be called concurrently.
type layer interface {
	// find returns an answer, which may be too old; nil without an error when this layer has no answer. An error may come
	// with an answer that only has states, at which it is correct.
	find(ctx context.Context, q *pending) (leaderboard.Answered, error)
	// outdated is called when the database has moved on from an answer, or never had its state. It reports whether to
	// ask the layer again, given the number of tries so far.
	outdated(ctx context.Context, q *pending, a leaderboard.Answered, v feed.Verdict, times int) bool
}

// pending is a question with the state that the layers share.
type pending struct {
	question
	last *keptAnswer // served when nothing better is found; nil if there is no such answer

	outdated time.Time // when an answer of the database was first too old
	keptAs   string    // see key
	room     [96]byte  // for most keys
}

// newPending allocates a question with its state in one piece, because every request does this.
func newPending[Q any, P interface {
	*Q
	question
}](q Q) *pending {
	a := &struct {
		pending
		of Q
	}{of: q}
	a.question = P(&a.of)
	return &a.pending
}

// key returns the key under which the answer is kept. It is made when it is needed first: memory does not need it, and the key of many
// periods is long.
func (q *pending) key() string {
	if q.keptAs == "" {
		q.keptAs = string(q.appendKey(appendPeriods(q.room[:0], q.refs())))
	}
	return q.keptAs
}

// isAlone reports whether no other question may get the answer.
func (q *pending) isAlone() bool { return q.path() == pathUnshared || q.path() == pathDatabase }

// stale returns the newer of an answer and the last kept answer, marked stale.
func (q *pending) stale(a leaderboard.Answered) leaderboard.Answered {
	if q.last != nil && len(q.refs()) == 1 && a.At(0).Seq < q.last.answer.At(0).Seq {
		return q.last.stale()
	}
	return a.From(a.At(0).Source, true)
}

// isStale reports whether one of the states of an answer is marked stale.
func isStale(q question, a leaderboard.Answered) bool {
	for i := range q.refs() {
		if a.At(i).Stale {
			return true
		}
	}
	return false
}

// states is the states at which an error is the answer.
type states []leaderboard.State

// At implements leaderboard.Answered.
func (s states) At(i int) *leaderboard.State { return &s[i] }

// From implements leaderboard.Answered.
func (s states) From(source leaderboard.Source, stale bool) leaderboard.Answered {
	return states(leaderboard.StatesFrom(s, source, stale))
}

// Len implements leaderboard.Answered.
func (states) Len() int { return 0 }

// keptAnswer is an answer as later callers get it.
type keptAnswer struct {
	confirmation
	answer leaderboard.Answered
	marked atomic.Pointer[leaderboard.Answered]
}

// isAt reports whether the answer is of the same revisions as another one.
func (h *keptAnswer) isAt(q question, a leaderboard.Answered) bool {
	for i := range q.refs() {
		if h.answer.At(i).Revision != a.At(i).Revision {
			return false
		}
	}
	return true
}

// isNewer reports whether the answer is of a newer state of a period than another one.
func (h *keptAnswer) isNewer(q question, a leaderboard.Answered) bool {
	for i := range q.refs() {
		if mine, other := h.answer.At(i), a.At(i); mine.Incarnation == other.Incarnation && mine.Seq > other.Seq {
			return true
		}
	}
	return false
}

// reaches reports whether the answer is as new as a question requires.
func (h *keptAnswer) reaches(q question) bool {
	for i := range q.refs() {
		if h.answer.At(i).Seq < q.minSeq(i) {
			return false
		}
	}
	return true
}

// stale returns the answer marked stale, one object for all callers.
func (h *keptAnswer) stale() leaderboard.Answered {
	if a := h.marked.Load(); a != nil {
		return *a
	}
	a := h.answer.From(leaderboard.SourceLocal, true)
	h.marked.CompareAndSwap(nil, &a)
	return *h.marked.Load()
}

// sharedKey is the key under which callers with the same question share a call. A caller that needs a newer state does
// not share a call that may bring an older state.
type sharedKey struct {
	of       layer
	key      string
	minimums string // of seq
}

func (q *pending) shared(of layer) sharedKey {
	minimums := make([]byte, 0, 16)
	for i := range q.refs() {
		minimums = appendInts(minimums, q.minSeq(i))
	}
	return sharedKey{of, q.key(), string(minimums)}
}

// wait waits for an answer. When an older one could be served instead, it waits for StaleWait after the call began, and
// longer only while the database answers: so a server that hangs delays one reader, not all.
func (o *ReaderOptions) wait(ctx context.Context, q *pending, f *future[leaderboard.Answered]) (leaderboard.Answered, error) {
	for late := f.began.Add(o.StaleWait); q.last != nil; late = late.Add(o.StaleWait) {
		bounded, cancel := context.WithDeadline(ctx, late)
		a, err := f.wait(bounded)
		isLate := bounded.Err() != nil
		cancel()
		if !isLate || ctx.Err() != nil || o.Feed == nil || o.Feed.Away() {
			return a, err
		}
	}
	return f.wait(ctx)
}

// endRead ends the span of a layer. A copy that lacks the requested entries is no failure of Redis.
func endRead(span trace.Span, refs []leaderboard.PeriodRef, answered bool, err error) {
	if !span.On() {
		return
	}
	span.Set(slog.String("leaderboard.board", refs[0].Board), slog.String("leaderboard.window", string(refs[0].Window)), slog.Bool("leaderboard.answered", answered))
	span.Done(err)
}

// pause waits for d; false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// isAnswer reports whether an error answers the question, so that no other layer is asked.
func isAnswer(err error) bool {
	var rule *leaderboard.RuleError // about the question itself, such as a mode that is not available so deep
	if errors.As(err, &rule) {
		return true
	}
	for _, answer := range []error{
		leaderboard.ErrNotRanked, leaderboard.ErrPeriodNotFound, leaderboard.ErrBoardNotFound, leaderboard.ErrSeqAhead,
	} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return false
}

// ahead is the feed as a layer: it knows when a period has not reached the state of a question.
type ahead struct{ feed *feed.Feed }

// find implements layer. The statement of the feed is sent after the call.
func (l ahead) find(ctx context.Context, q *pending) (leaderboard.Answered, error) {
	refs, minSeq := q.refs(), q.minSeq(0)
	if minSeq == 0 || l.feed == nil || len(refs) != 1 {
		return nil, nil
	}
	if shown, _, ok := l.feed.Latest(refs[0].ID); !ok || shown.Seq >= minSeq {
		return nil, nil
	}
	if shown, ok := l.feed.Query(ctx, refs[0].ID); ok && shown.Seq < minSeq {
		return nil, leaderboard.ErrSeqAhead
	}
	return nil, nil
}

// outdated implements layer.
func (ahead) outdated(context.Context, *pending, leaderboard.Answered, feed.Verdict, int) bool {
	return false
}

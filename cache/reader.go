package cache

import (
	"context"
	"errors"
	"fmt"

	"leaderboard/cache/feed"
	"leaderboard/cache/topn"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// Reader answers questions about periods. It implements leaderboard.Rankings, leaderboard.CombinedRankings and
// leaderboard.Pasts. It goes through layers, each farther away than the last: periods in memory, answers kept in the
// process, copies in Redis, the database within a bound. Each layer returns an answer that is exact at the states that
// it names. The first answer that the feed finds new enough, right before it goes out, is used. While answers cannot be
// judged, because the database is away, they are marked stale.
type Reader struct {
	opts     ReaderOptions
	memory   *memory
	kept     *kept
	redis    *copies // nil: no Redis
	database *database

	// The layers in the order in which they are asked.
	forMany  []layer // for a page that many readers ask for: it is encoded once for all of them
	forOne   []layer
	once     []layer
	uncached []layer
}

// NewReader puts the layers in front of a database. copies may be nil.
func NewReader(redis *topn.Copies, db Database, opts ReaderOptions) *Reader {
	r := &Reader{opts: opts.withDefaults()}
	o := &r.opts
	shared := &calls[sharedKey, leaderboard.Answered]{timeout: o.CallTimeout}
	r.memory, r.kept, r.database = &memory{o}, newKept(o), newDatabase(db, o, shared)
	r.forMany, r.forOne, r.uncached = []layer{r.kept, r.memory, ahead{o.Feed}}, []layer{r.memory, r.kept, ahead{o.Feed}}, []layer{r.database}
	r.once = []layer{r.memory, r.database}
	if redis != nil {
		r.redis = newCopies(redis, o, shared)
		r.forMany, r.forOne = append(r.forMany, r.redis), append(r.forOne, r.redis)
	}
	r.forMany, r.forOne = append(r.forMany, r.database), append(r.forOne, r.database)
	return r
}

// Page implements leaderboard.Rankings.
func (r *Reader) Page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	return as[*leaderboard.Page](r.answer(ctx, newPending(pageQuestion{onePeriod{p}, q})))
}

// Members implements leaderboard.Rankings.
func (r *Reader) Members(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	return as[*leaderboard.Standings](r.answer(ctx, newPending(membersQuestion{onePeriod{p}, q})))
}

// ScoreRank implements leaderboard.Rankings.
func (r *Reader) ScoreRank(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	return as[*leaderboard.ScoreRank](r.answer(ctx, newPending(scoreQuestion{onePeriod{p}, q})))
}

// Distribution implements leaderboard.Rankings.
func (r *Reader) Distribution(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	return as[*leaderboard.Distribution](r.answer(ctx, newPending(distributionQuestion{onePeriod{p}, q})))
}

// Moves implements leaderboard.Rankings.
func (r *Reader) Moves(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MovesQuery) (*leaderboard.Moves, error) {
	return as[*leaderboard.Moves](r.answer(ctx, newPending(movesQuestion{onePeriod{p}, q})))
}

// Alone runs a question that no layer but the database can answer, in a separate slot.
func (r *Reader) Alone(ctx context.Context, ask func(context.Context) error) error {
	return r.database.Alone(ctx, func(ctx context.Context) error {
		ctx, span := trace.Start(ctx, "read mysql", trace.KindClient)
		err := ask(ctx)
		span.Done(err)
		return err
	})
}

func as[V leaderboard.Answered](a leaderboard.Answered, err error) (none V, _ error) {
	if err != nil {
		return none, err
	}
	return a.(V), nil
}

// answer answers a question, and counts the answer.
func (r *Reader) answer(ctx context.Context, q *pending) (leaderboard.Answered, error) {
	a, err := r.nearest(ctx, q)
	if err != nil {
		return nil, err
	}
	r.opts.Observer.AnswerGiven(a.At(0).Source, isStale(q, a))
	return a, nil
}

// nearest returns the answer of the first layer whose answer is new enough.
func (r *Reader) nearest(ctx context.Context, q *pending) (leaderboard.Answered, error) {
	var failure error
	var old leaderboard.Answered // of a layer that lacks the last commits
	for _, l := range r.layersFor(q.question) {
		a, verdict, err := r.query(ctx, l, q)
		switch {
		case isAnswer(err) && (a == nil || verdict == feed.VerdictFresh):
			if !errors.Is(err, leaderboard.ErrSeqAhead) { // kept answers may still be good
				r.kept.answers.Delete(q.key())
			}
			return nil, err
		case a == nil || err != nil:
			if !isAnswer(err) { // an error that is an answer and could not be judged is passed over
				failure = errors.Join(failure, err)
			}
		case verdict == feed.VerdictFresh:
			return r.found(l, q, a), nil
		case l != r.kept && (verdict == feed.VerdictUnknown || l == r.database):
			return q.stale(a), nil
		case l != r.kept && verdict == feed.VerdictOld && old == nil:
			old = a
		}
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled): // nobody waits any longer
	case old != nil:
		return q.stale(old), nil
	case q.last != nil:
		return q.last.stale(), nil
	}
	if failure == nil {
		failure = fmt.Errorf("%w: no layer has a good answer", leaderboard.ErrUnavailable)
	}
	return nil, failure
}

func (r *Reader) layersFor(q question) []layer {
	switch q.path() {
	case pathDatabase:
		return r.uncached
	case pathUnshared:
		return r.once
	case pathKeptFirst:
		return r.forMany
	}
	return r.forOne
}

// found notes that an answer of a layer is good, and returns the form in which it goes out.
func (r *Reader) found(l layer, q *pending, a leaderboard.Answered) leaderboard.Answered {
	switch {
	case l == r.memory:
		r.opts.Observer.MemoryAnswered()
		if q.path() == pathKeptFirst {
			return r.kept.put(q, a)
		}
	case l == r.kept:
		q.last.confirm(r.opts.Now())
	case !q.isAlone():
		r.kept.put(q, a)
	}
	return a
}

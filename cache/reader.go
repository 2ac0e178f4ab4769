package cache

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"leaderboard"
	"leaderboard/cache/batch"
	"leaderboard/cache/residency"
	"leaderboard/cache/resident"
	"leaderboard/cache/topn"
	"leaderboard/cache/watch"
	"leaderboard/internal/trace"
	"leaderboard/rank"
)

// Reader answers the reading queries from the nearest layer that can: periods in memory, answers kept in the process,
// the copy in Redis, MySQL within a bound. It implements leaderboard.Rankings; answers are exact at the seq they report,
// and never older than the MinSeq asked for. While nothing behind it answers, it serves its last good answer marked
// stale.
type Reader struct {
	copies   *topn.Copies // nil: no Redis
	database *batch.Rankings
	opts     ReaderOptions
	redis    *topn.Servers[*lookUps] // nil: no Redis

	pages         *answers[pageKey, *leaderboard.Page]
	standings     *answers[membersKey, *leaderboard.Standings]
	scoreRanks    *answers[scoreKey, *leaderboard.ScoreRank]
	distributions *answers[distributionKey, *leaderboard.Distribution]

	lastPages *lastPages
	visits    visits
}

// NewReader puts the layers in front of database. copies may be nil.
func NewReader(copies *topn.Copies, database leaderboard.BatchRankings, opts ReaderOptions) *Reader {
	o := opts.withDefaults()
	r := &Reader{
		copies: copies, opts: o,
		database: batch.NewRankings(database, batch.Options{
			Slots: o.FallbackConcurrent, Size: databaseBatch, Wait: o.ReadWait, Timeout: o.CallTimeout, OnRefused: o.OnFallbackRefused,
		}),
	}
	rules := o.answerRules()
	r.pages = newAnswers(rules, opsOf[pageKey](pageShape(), &o), o.LocalEntries/2, o.LocalBytes/2)
	r.standings = newAnswers(rules, opsOf[membersKey](standingsShape(), &o), o.LocalEntries/4, o.LocalBytes/4)
	r.scoreRanks = newAnswers(rules, opsOf[scoreKey](scoreShape(), &o), o.LocalEntries/8, o.LocalBytes/8)
	r.distributions = newAnswers(rules, opsOf[distributionKey](distributionShape(), &o), o.LocalEntries/8, o.LocalBytes/8)
	r.lastPages = newLastPages(o.StaleLimit, o.Now)
	if copies != nil {
		r.redis = topn.NewServers(copies.Client(), o.Now, o.OnBreaker, r.newLookUps)
	}
	return r
}

// Page implements leaderboard.Rankings. Pages from the best entry on are those of many readers and are kept; any other is put together
// for its reader where the period is in memory.
func (r *Reader) Page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	ask := func(m *resident.Period) (*leaderboard.Page, error) { return m.Page(q) }
	if !fromTop(&q) {
		if page, ok, err := fromMemory(ctx, r, &p, residency.WeightDeep, q.MinSeq, pageShape(), ask); ok {
			return reported(r, pageShape(), page, err)
		}
	}
	key := pageKeyOf(p, q)
	if page, ok := r.pages.fresh(key, q.MinSeq); ok {
		r.visited(&p)
		tellKept(ctx, &p)
		r.opts.OnAnswer(leaderboard.SourceLocal, false)
		return page, nil
	}
	return r.page(ctx, p, q, key)
}

// page gets a page that is not kept, or is to be renewed.
func (r *Reader) page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery, key pageKey) (*leaderboard.Page, error) {
	page, err := confirmed(ctx, r.pages, key, q.MinSeq, judgeOf(r, p.ID, pageShape()), func(ctx context.Context, minSeq int64) (*leaderboard.Page, error) {
		q.MinSeq = minSeq
		if fromTop(&q) {
			ask := func(m *resident.Period) (*leaderboard.Page, error) { return m.Page(q) }
			if page, ok, err := fromMemory(ctx, r, &p, residency.WeightPage, minSeq, pageShape(), ask); ok {
				return page, err
			}
		}
		if r.isAhead(ctx, p.ID, minSeq) {
			return nil, leaderboard.ErrSeqAhead
		}
		fromCopy := func(ctx context.Context) (*leaderboard.Page, bool, error) { return r.copies.Page(ctx, p, q) }
		if r.copies != nil && !r.copies.Reaches(p, q) {
			fromCopy = nil
		}
		return fetch(ctx, r, p, pageShape(), fromCopy,
			func(ctx context.Context) (*leaderboard.Page, error) { return r.database.Page(ctx, p, q) })
	})
	switch {
	case err == nil:
		if h, ok := r.pages.kept.get(key); ok {
			r.lastPages.remember(&p, &q, h)
		}
	case isAnswer(err) || ctx.Err() != nil:
		return nil, err
	default:
		if page = r.lastPages.instead(&p, &q); page == nil {
			return nil, err
		}
	}
	return reported(r, pageShape(), page, nil)
}

// Members implements leaderboard.Rankings.
func (r *Reader) Members(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	return answered(ctx, r, &p, q.MinSeq, r.standings, standingsShape(), func() membersKey { return membersKeyOf(p, q) },
		func(m *resident.Period) (*leaderboard.Standings, error) { return m.Members(q) },
		func(ctx context.Context, minSeq int64) (*leaderboard.Standings, error) {
			if q.MinSeq = minSeq; r.isAhead(ctx, p.ID, minSeq) {
				return nil, leaderboard.ErrSeqAhead
			}
			return r.lookedUp(ctx, p, q)
		})
}

// lookedUp asks Redis, then MySQL, for members. A query about some of many goes to Redis alone: no other is like it.
func (r *Reader) lookedUp(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	fromCopy := r.membersFromCopy
	if q.Subset() {
		fromCopy = r.copies.Members
	}
	return fetch(ctx, r, p, standingsShape(),
		func(ctx context.Context) (*leaderboard.Standings, bool, error) { return fromCopy(ctx, p, q) },
		func(ctx context.Context) (*leaderboard.Standings, error) { return r.database.Members(ctx, p, q) })
}

// ScoreRank implements leaderboard.Rankings.
func (r *Reader) ScoreRank(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	return answered(ctx, r, &p, q.MinSeq, r.scoreRanks, scoreShape(), func() scoreKey { return scoreKeyOf(p, q) },
		func(m *resident.Period) (*leaderboard.ScoreRank, error) { return m.ScoreRank(q) },
		func(ctx context.Context, minSeq int64) (*leaderboard.ScoreRank, error) {
			if q.MinSeq = minSeq; r.isAhead(ctx, p.ID, minSeq) {
				return nil, leaderboard.ErrSeqAhead
			}
			return fetch(ctx, r, p, scoreShape(),
				func(ctx context.Context) (*leaderboard.ScoreRank, bool, error) { return r.copies.ScoreRank(ctx, p, q) },
				func(ctx context.Context) (*leaderboard.ScoreRank, error) { return r.database.ScoreRank(ctx, p, q) })
		})
}

// Distribution implements leaderboard.Rankings. A copy of the top says nothing about the whole: after the process
// comes MySQL.
func (r *Reader) Distribution(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	return answered(ctx, r, &p, q.MinSeq, r.distributions, distributionShape(), func() distributionKey { return distributionKeyOf(p, q) },
		func(m *resident.Period) (*leaderboard.Distribution, error) { return m.Distribution(q) },
		func(ctx context.Context, minSeq int64) (*leaderboard.Distribution, error) {
			if q.MinSeq = minSeq; r.isAhead(ctx, p.ID, minSeq) {
				return nil, leaderboard.ErrSeqAhead
			}
			return fetch(ctx, r, p, distributionShape(), nil,
				func(ctx context.Context) (*leaderboard.Distribution, error) {
					return r.database.Distribution(ctx, p, q)
				})
		})
}

// answered returns the answer of the period in memory, one that is kept, or what load brings, and counts it.
func answered[K periodic, V any](ctx context.Context, r *Reader, p *leaderboard.PeriodRef, minSeq int64, kept *answers[K, V], of shape[V], key func() K,
	ask func(*resident.Period) (V, error), load load[V],
) (V, error) {
	if v, ok, err := fromMemory(ctx, r, p, residency.WeightDeep, minSeq, of, ask); ok {
		return reported(r, of, v, err)
	}
	k := key()
	if v, ok := kept.fresh(k, minSeq); ok {
		tellKept(ctx, p)
		r.opts.OnAnswer(leaderboard.SourceLocal, false)
		return v, nil
	}
	v, err := confirmed(ctx, kept, k, minSeq, judgeOf(r, p.ID, of), load)
	return reported(r, of, v, err)
}

// reported tells Options.OnAnswer of an answer, unless it is an error.
func reported[V any](r *Reader, of shape[V], v V, err error) (V, error) {
	if err == nil {
		state := of.state(v)
		r.opts.OnAnswer(state.Source, state.Stale)
	}
	return v, err
}

// memoryAttempts bounds how often a period in memory is asked again after it has moved on.
const memoryAttempts = 3

// fromMemory answers from the period in memory; ok is false when there is none, or it does not get as far as the
// database or the reader in time. While the database does not say how far it is, the answer is marked stale.
func fromMemory[V any](ctx context.Context, r *Reader, p *leaderboard.PeriodRef, weight, minSeq int64, of shape[V],
	ask func(*resident.Period) (V, error),
) (v V, ok bool, err error) {
	if r.opts.Resident == nil {
		return v, false, nil
	}
	m := r.opts.Resident.Get(p, weight)
	if m == nil {
		return v, false, nil
	}
	ctx, span := trace.Start(ctx, "read memory", trace.KindInternal)
	defer func() { endRead(span, p, ok, nil) }()
	for attempt := 0; attempt < memoryAttempts; attempt++ {
		at := m.At().Revision
		if v, err = ask(m); err == nil {
			at = of.state(v).Revision
		} else if errors.Is(err, rank.ErrDamaged) {
			break
		}
		verdict := r.opts.Watch.Check(ctx, p.ID, at)
		switch {
		case verdict == watch.VerdictDiverged:
			r.opts.Resident.Drop(p.ID, m)
			return v, false, nil
		case verdict == watch.VerdictFresh && at.Seq >= minSeq:
			r.opts.OnResident()
			r.visited(p)
			return v, true, err
		case verdict == watch.VerdictUnknown && err == nil:
			return of.stale(v), true, nil
		case verdict == watch.VerdictUnknown, !r.opts.Resident.Await(ctx, p.ID, m, at):
			return v, false, nil
		}
	}
	return v, false, nil
}

// isAhead says whether a period has not come to a seq, by a statement of the watch that was sent after the call: then nobody
// else needs to be asked. A period that is not there, or of which nobody can say, is not.
func (r *Reader) isAhead(ctx context.Context, period, minSeq int64) bool {
	w := r.opts.Watch
	if minSeq == 0 || w == nil {
		return false
	}
	behind := func() bool {
		shown, ok := w.Latest(period)
		return ok && shown.Seq < minSeq
	}
	return behind() && !w.Away() && w.Wait(ctx, period) == nil && behind()
}

// behindPause is how long a reader who wants the write just made gives the write-through to arrive, before it asks
// MySQL.
const behindPause = 5 * time.Millisecond

// judgeOf holds answers about a period against the watch. Without one all are fresh.
func judgeOf[V any](r *Reader, period int64, of shape[V]) judge[V] {
	j := judge[V]{
		check:   func(context.Context, V) watch.Verdict { return watch.VerdictFresh },
		now:     func(V) watch.Verdict { return watch.VerdictFresh },
		isStale: func(v V) bool { return of.state(v).Stale }, stale: of.stale,
	}
	if w := r.opts.Watch; w != nil {
		j.check = func(ctx context.Context, v V) watch.Verdict { return w.Check(ctx, period, of.state(v).Revision) }
		j.now = func(v V) watch.Verdict { return w.Judge(period, of.state(v).Revision) }
	}
	return j
}

// fetch asks Redis, unless fromCopy is nil, then MySQL. What comes is not older than the watch lets pass, or marked stale.
func fetch[V any](ctx context.Context, r *Reader, p leaderboard.PeriodRef, of shape[V],
	fromCopy func(context.Context) (V, bool, error), fromDatabase func(context.Context) (V, error),
) (V, error) {
	if fromCopy != nil && r.copies != nil && !r.copies.Left(p) {
		v, asked, err := askRedis(ctx, r, p, func(ctx context.Context, server *topn.Breaker) (V, error) {
			return askCopy(ctx, r, server, p, fromCopy)
		})
		if asked && (err == nil || isAnswer(err)) {
			return v, err
		}
	}
	ctx, span := trace.Start(ctx, "read mysql", trace.KindClient)
	v, err := askDatabase(ctx, judgeOf(r, p.ID, of), fromDatabase)
	if span.On() {
		span.Set(slog.String("db.system.name", "mysql"))
	}
	endRead(span, &p, err == nil || isAnswer(err), err)
	return v, err
}

// askRedis asks the server of Redis that has a copy, unless it is left alone. One deadline holds for all of it, also for finding
// out which server of a cluster that is.
func askRedis[V any](ctx context.Context, r *Reader, p leaderboard.PeriodRef, ask func(context.Context, *topn.Breaker) (V, error)) (v V, asked bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.RedisDeadline)
	defer cancel()
	server := r.redis.Of(ctx, p)
	if !server.Allow() {
		return v, false, nil
	}
	v, err = ask(ctx, server.Breaker)
	return v, true, err
}

// askCopy is askUntraced for a reader, whose trace it is in.
func askCopy[V any](ctx context.Context, r *Reader, server *topn.Breaker, p leaderboard.PeriodRef, fromCopy func(context.Context) (V, bool, error)) (V, error) {
	ctx, span := trace.Start(ctx, "read redis", trace.KindClient)
	v, err := askUntraced(ctx, r, server, p, fromCopy)
	if span.On() {
		span.Set(slog.String("db.system.name", "redis"))
	}
	endRead(span, &p, err == nil || isAnswer(err), err)
	return v, err
}

// askUntraced asks the server of Redis that the breaker is of; when the copy is missing it asks for a build and, if that is
// quick, once more.
func askUntraced[V any](ctx context.Context, r *Reader, server *topn.Breaker, p leaderboard.PeriodRef, fromCopy func(context.Context) (V, bool, error)) (V, error) {
	v, short, err := fromCopy(ctx)
	if !topn.PoolIsBusy(err) && !topn.IsMoving(err) {
		server.Done(!topn.Failed(err))
	}
	if errors.Is(err, topn.ErrBehind) && pause(ctx, behindPause) {
		return again(ctx, fromCopy)
	}
	if errors.Is(err, topn.ErrOld) {
		r.opts.Old(p)
	}
	if r.opts.Demand == nil {
		return v, err
	}
	switch {
	case errors.Is(err, topn.ErrMissing), errors.Is(err, topn.ErrDamaged):
		if r.opts.Demand(p)(ctx) == nil {
			return again(ctx, fromCopy)
		}
	case short:
		r.opts.Demand(p) // exact as far as it goes, and due for renewal
	}
	return v, err
}

func again[V any](ctx context.Context, fromCopy func(context.Context) (V, bool, error)) (V, error) {
	v, _, err := fromCopy(ctx)
	return v, err
}

// judge holds answers of one kind against the watch.
type judge[V any] struct {
	check   func(context.Context, V) watch.Verdict // may wait for the watch
	now     func(V) watch.Verdict
	isStale func(V) bool
	stale   func(V) V // the answer marked stale
}

const (
	// askFor is how long the database is asked again because something newer went out meanwhile, as does between batches
	// that overtake each other.
	askFor = 3 * time.Second
	// askAttempts is how often at least.
	askAttempts = 2
	// askPause lies between two of them.
	askPause = time.Millisecond
)

// askDatabase asks until an answer is fresh. One that never gets there, or that nobody can judge, is marked stale.
func askDatabase[V any](ctx context.Context, j judge[V], ask func(context.Context) (V, error)) (v V, err error) {
	began := time.Now()
	for try := 0; try < askAttempts || time.Since(began) < askFor; try++ {
		if v, err = ask(ctx); err != nil {
			return v, err
		}
		switch j.check(ctx, v) {
		case watch.VerdictFresh:
			return v, nil
		case watch.VerdictUnknown:
			return j.stale(v), nil
		}
		if !pause(ctx, askPause) {
			return v, ctx.Err()
		}
	}
	return j.stale(v), nil
}

// confirmAttempts bounds how often an answer is asked for again because a newer one went out before it.
const confirmAttempts = 3

// confirmed gets an answer, and judges it once more right before it goes out: a newer one may have gone out since it was
// found, by another call.
func confirmed[K comparable, V any](ctx context.Context, kept *answers[K, V], key K, minSeq int64, j judge[V], load load[V]) (v V, err error) {
	for range confirmAttempts {
		v, err = kept.get(ctx, key, minSeq, load)
		if err != nil || j.isStale(v) || j.now(v) != watch.VerdictOld {
			return v, err
		}
	}
	return j.stale(v), nil
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

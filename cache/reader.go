package cache

import (
	"cmp"
	"context"
	"errors"
	"time"

	"leaderboard"
	"leaderboard/cache/topn"
	"leaderboard/cache/watch"
)

// ReaderOptions adjust a Reader; the zero value is fit for production.
type ReaderOptions struct {
	// LocalTTL is how long a copy in the process is fresh, 100 ms when 0, counted from when it came or from when its period
	// was last seen unchanged. Up to ten times as old it is served while one call renews it. With a Watch it decides only
	// that an answer which stays true is asked for again after ten times as long.
	LocalTTL time.Duration
	// StaleLimit is how old an answer may be that is served, marked stale, while nothing behind it answers; 10 min.
	StaleLimit time.Duration
	// StaleWait is how long a reader who has such an answer waits for a better one; 250 ms.
	StaleWait    time.Duration
	LocalEntries int // answers kept, 65,536
	LocalBytes   int // and their approximate size, 32 MiB

	RedisDeadline      time.Duration // all that one query may wait for Redis, a build included; 150 ms
	FallbackConcurrent int           // queries in MySQL at once, 16; look-ups of members that go together are one
	FallbackQueue      int           // queries waiting for that, 64; more: ErrOverloaded
	FallbackWait       time.Duration // how long they wait, 500 ms; longer: ErrOverloaded
	CallTimeout        time.Duration // for one query through all layers, 6 s

	// Watch judges how old answers about a period are: what is kept is given as long as it lets it pass. nil: LocalTTL
	// decides alone, for tests of the layers.
	Watch *watch.Watch
	// Demand asks for a build of a copy that is missing, and returns how to wait for it. It must not block. nil: nobody
	// builds.
	Demand func(leaderboard.PeriodRef) (wait func(context.Context) error)
	// Away says that MySQL does not answer, see Catalog.Away. Answers, those from Redis too, are marked stale then. May
	// be nil.
	Away func() bool
	Now  func() time.Time // time.Now when nil

	OnAnswer          func(source leaderboard.Source, stale bool) // metrics; they must not block; may be nil
	OnFallbackRefused func()
	OnBreaker         func(open bool)
}

func (o ReaderOptions) withDefaults() ReaderOptions {
	o.LocalTTL = cmp.Or(o.LocalTTL, 100*time.Millisecond)
	o.StaleLimit = cmp.Or(o.StaleLimit, 10*time.Minute)
	o.StaleWait = cmp.Or(o.StaleWait, 250*time.Millisecond)
	o.LocalEntries = cmp.Or(o.LocalEntries, 65_536)
	o.LocalBytes = cmp.Or(o.LocalBytes, 32<<20)
	o.RedisDeadline = cmp.Or(o.RedisDeadline, 150*time.Millisecond)
	o.FallbackConcurrent = cmp.Or(o.FallbackConcurrent, 16)
	o.FallbackQueue = cmp.Or(o.FallbackQueue, 64)
	o.FallbackWait = cmp.Or(o.FallbackWait, 500*time.Millisecond)
	o.CallTimeout = cmp.Or(o.CallTimeout, 6*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnAnswer == nil {
		o.OnAnswer = func(leaderboard.Source, bool) {}
	}
	if o.OnFallbackRefused == nil {
		o.OnFallbackRefused = func() {}
	}
	if o.OnBreaker == nil {
		o.OnBreaker = func(bool) {}
	}
	return o
}

// Reader answers the reading queries from the nearest layer that can: copies in the process, the copy in Redis, MySQL
// within a bound. It implements leaderboard.Rankings; answers are exact at the seq they report, and never older than
// the MinSeq asked for. While nothing behind it answers, it serves its last good answer marked stale.
type Reader struct {
	copies   *topn.Copies // nil: no Redis
	database leaderboard.Rankings
	opts     ReaderOptions
	limit    *admissionLimit
	redis    *topn.Breaker

	pages         *answerCache[pageKey, *leaderboard.Page]
	standings     *answerCache[membersKey, *leaderboard.Standings]
	scoreRanks    *answerCache[scoreKey, *leaderboard.ScoreRank]
	distributions *answerCache[distributionKey, *leaderboard.Distribution]

	outside *lru[int64, time.Time] // when the copy of a period did not hold all of many members

	fromCopy, fromDatabase *batcher[placesKey, wanted] // what the standings are looked up with
}

// NewReader puts the layers in front of database. copies may be nil.
func NewReader(copies *topn.Copies, database leaderboard.Rankings, opts ReaderOptions) *Reader {
	o := opts.withDefaults()
	r := &Reader{
		copies: copies, database: database, opts: o,
		limit: newAdmissionLimit(o.FallbackConcurrent, o.FallbackQueue, o.FallbackWait),
		redis: topn.NewBreaker(o.Now, o.OnBreaker),
	}
	rules := answerRules{
		fresh: o.LocalTTL, grace: 10 * o.LocalTTL, limit: o.StaleLimit, wait: o.StaleWait, retry: time.Second, now: o.Now, away: o.Away,
	}
	r.pages = newAnswerCache[pageKey](rules, pageOps(), o.CallTimeout, o.LocalEntries/2, o.LocalBytes/2)
	r.standings = newAnswerCache[membersKey](rules, standingsOps(), o.CallTimeout, o.LocalEntries/4, o.LocalBytes/4)
	r.scoreRanks = newAnswerCache[scoreKey](rules, scoreOps(), o.CallTimeout, o.LocalEntries/8, o.LocalBytes/8)
	r.distributions = newAnswerCache[distributionKey](rules, distributionOps(), o.CallTimeout, o.LocalEntries/8, o.LocalBytes/8)
	r.outside = newLRU[int64, time.Time](outsidePeriods, outsidePeriods)
	r.watch(newLastSeen(o.LocalTTL))
	if o.Watch != nil {
		r.judge(o.Watch)
	}
	r.newBatches()
	return r
}

// watch lets what one answer says of its period's state count for all others that are kept.
func (r *Reader) watch(s *lastSeen) {
	r.pages.seen, r.pages.period = s, func(k pageKey) int64 { return k.id }
	r.standings.seen, r.standings.period = s, func(k membersKey) int64 { return k.id }
	r.scoreRanks.seen, r.scoreRanks.period = s, func(k scoreKey) int64 { return k.id }
	r.distributions.seen, r.distributions.period = s, func(k distributionKey) int64 { return k.id }
}

// judge lets the watch say which of the answers that are kept are fresh.
func (r *Reader) judge(w *watch.Watch) {
	fresh := func(period int64, s leaderboard.State) bool { return w.Judge(period, s.Revision) == watch.VerdictFresh }
	r.pages.judge = func(k pageKey, p *leaderboard.Page) bool { return fresh(k.id, p.State) }
	r.standings.judge = func(k membersKey, s *leaderboard.Standings) bool { return fresh(k.id, s.State) }
	r.scoreRanks.judge = func(k scoreKey, s *leaderboard.ScoreRank) bool { return fresh(k.id, s.State) }
	r.distributions.judge = func(k distributionKey, d *leaderboard.Distribution) bool { return fresh(k.id, d.State) }
}

// Page implements leaderboard.Rankings.
func (r *Reader) Page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	key := pageKeyOf(p, q)
	if page, ok := r.pages.fresh(key, q.MinSeq); ok {
		r.opts.OnAnswer(leaderboard.SourceLocal, false)
		return page, nil
	}
	return r.page(ctx, p, q, key)
}

func (r *Reader) page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery, key pageKey) (*leaderboard.Page, error) {
	page, err := r.pages.get(ctx, key, q.MinSeq, func(ctx context.Context, minSeq int64) (*leaderboard.Page, error) {
		q.MinSeq = minSeq
		return fetch(ctx, r, p,
			func(ctx context.Context) (*leaderboard.Page, bool, error) { return r.copies.Page(ctx, p, q) },
			func(ctx context.Context) (*leaderboard.Page, error) { return r.database.Page(ctx, p, q) })
	})
	if err != nil {
		return nil, err
	}
	r.opts.OnAnswer(page.Source, page.Stale)
	return page, nil
}

// Members implements leaderboard.Rankings.
func (r *Reader) Members(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	key := membersKeyOf(p, q)
	if s, ok := r.standings.fresh(key, q.MinSeq); ok {
		r.opts.OnAnswer(leaderboard.SourceLocal, false)
		return s, nil
	}
	return r.members(ctx, p, q, key)
}

func (r *Reader) members(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery, key membersKey) (*leaderboard.Standings, error) {
	s, err := r.standings.ask(ctx, key, q.MinSeq, func(minSeq int64, finish func(*leaderboard.Standings, error)) {
		q.MinSeq = minSeq
		if !q.Subset() {
			r.lookUp(p, q, finish)
			return
		}
		detach(ctx, r.opts.CallTimeout, func(ctx context.Context) (*leaderboard.Standings, error) { return r.subset(ctx, p, q) }, finish)
	})
	if err != nil {
		return nil, err
	}
	r.opts.OnAnswer(s.Source, s.Stale)
	return s, nil
}

const (
	// manyMembers of a large board are hardly ever all in the copy of its top.
	manyMembers = 50
	// outsidePause is how long the copy is not asked for many members after it could not tell of some.
	outsidePause = time.Second
	// outsidePeriods is how many periods that is remembered of.
	outsidePeriods = 1024
)

// subset answers a query about some of many members. It goes alone, because no other query is like it.
func (r *Reader) subset(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	database := func(ctx context.Context) (*leaderboard.Standings, error) { return r.database.Members(ctx, p, q) }
	if at, ok := r.outside.get(p.ID); ok && len(q.Members) >= manyMembers && r.opts.Now().Sub(at) < outsidePause {
		return fallback(ctx, r, database)
	}
	return fetch(ctx, r, p, func(ctx context.Context) (*leaderboard.Standings, bool, error) {
		s, short, err := r.copies.Members(ctx, p, q)
		if errors.Is(err, topn.ErrUncovered) && len(q.Members) >= manyMembers {
			now := r.opts.Now()
			r.outside.update(p.ID, 1, func(time.Time, bool) time.Time { return now })
		}
		return s, short, err
	}, database)
}

// ScoreRank implements leaderboard.Rankings.
func (r *Reader) ScoreRank(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	key := scoreKeyOf(p, q)
	s, err := r.scoreRanks.get(ctx, key, q.MinSeq, func(ctx context.Context, minSeq int64) (*leaderboard.ScoreRank, error) {
		q.MinSeq = minSeq
		return fetch(ctx, r, p,
			func(ctx context.Context) (*leaderboard.ScoreRank, bool, error) { return r.copies.ScoreRank(ctx, p, q) },
			func(ctx context.Context) (*leaderboard.ScoreRank, error) { return r.database.ScoreRank(ctx, p, q) })
	})
	if err != nil {
		return nil, err
	}
	r.opts.OnAnswer(s.Source, s.Stale)
	return s, nil
}

// Distribution implements leaderboard.Rankings. A copy of the top says nothing about the whole: after the process
// comes MySQL.
func (r *Reader) Distribution(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	key := distributionKeyOf(p, q)
	d, err := r.distributions.get(ctx, key, q.MinSeq, func(ctx context.Context, minSeq int64) (*leaderboard.Distribution, error) {
		q.MinSeq = minSeq
		return fallback(ctx, r, func(ctx context.Context) (*leaderboard.Distribution, error) {
			return r.database.Distribution(ctx, p, q)
		})
	})
	if err != nil {
		return nil, err
	}
	r.opts.OnAnswer(d.Source, d.Stale)
	return d, nil
}

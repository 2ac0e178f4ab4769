package cache

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"leaderboard/cache/batch"
	"leaderboard/cache/feed"
	"leaderboard/cache/topn"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

const (
	// lookUpMembers bounds the members that one batch looks up in Redis.
	lookUpMembers = 256
	// lookUpsAtOnce is the number of batches that a server of Redis works on at once, so that a slow batch does not
	// delay all others.
	lookUpsAtOnce = 2
	// behindPause is how long a reader that wants the write just made waits for the write-through, before the database is
	// asked.
	behindPause = 5 * time.Millisecond
)

// copies is the layer of the copies in Redis.
type copies struct {
	of      *topn.Copies
	opts    *ReaderOptions
	servers *topn.Servers[*lookUps]
	shared  *calls[sharedKey, leaderboard.Answered]
}

func newCopies(of *topn.Copies, o *ReaderOptions, shared *calls[sharedKey, leaderboard.Answered]) *copies {
	c := &copies{of: of, opts: o, shared: shared}
	c.servers = topn.NewServers(of.Client(), o.Now, o.Observer.BreakerTurned, func() *lookUps {
		return batch.New(batch.Options{Slots: lookUpsAtOnce, Size: lookUpMembers, Timeout: o.RedisDeadline}, func(memberLookUp) int { return 1 }, c.lookUp)
	})
	return c
}

// find implements layer.
func (c *copies) find(ctx context.Context, q *pending) (leaderboard.Answered, error) {
	ref := q.refs()[0]
	of, ok := q.question.(copyQuestion)
	if !ok || !of.mayBeIn(c.of) || c.of.IsBehind(ref) {
		return nil, nil
	}
	return c.opts.wait(ctx, q, c.shared.start(ctx, q.shared(c), func(ctx context.Context) (leaderboard.Answered, error) {
		ctx, cancel := context.WithTimeout(ctx, c.opts.RedisDeadline) // for all of it, also for finding out which server has the copy
		defer cancel()
		server := c.servers.Of(ctx, ref)
		if !server.Allow() {
			return nil, nil
		}
		ctx, span := trace.Start(ctx, "read redis", trace.KindClient)
		a, err := c.query(ctx, of, server)
		if span.On() {
			span.Set(slog.String("db.system.name", "redis"))
		}
		endRead(span, q.refs(), a != nil, failureOf(err))
		return a, err
	}, nil))
}

// failureOf returns an error if Redis has failed. A copy that lacks the requested entries is no failure.
func failureOf(err error) error {
	if topn.Failed(err) {
		return err
	}
	return nil
}

// query asks a server of Redis that has a copy. When the copy is missing it requests a build, and asks again if that is quick.
func (c *copies) query(ctx context.Context, q copyQuestion, server *topn.Server[*lookUps]) (leaderboard.Answered, error) {
	in, ref := inRedis{c.of, server.Own}, q.refs()[0]
	a, short, err := q.queryCopy(ctx, in)
	if !topn.PoolIsBusy(err) && !topn.IsMoving(err) {
		server.Done(!topn.Failed(err))
	}
	switch {
	case errors.Is(err, topn.ErrBehind) && pause(ctx, behindPause):
		a, _, err = q.queryCopy(ctx, in)
	case c.opts.Demand == nil:
	case errors.Is(err, topn.ErrMissing), errors.Is(err, topn.ErrDamaged):
		if c.opts.Demand(ref)(ctx) == nil {
			a, _, err = q.queryCopy(ctx, in)
		}
	case short:
		c.opts.Demand(ref) // exact as far as it goes, and due for renewal
	}
	return a, err
}

// Probe finds out whether the servers of Redis that readers leave alone answer again, unless readers ask them. It is called again and
// again: otherwise nobody would know while nobody reads.
func (r *Reader) Probe(ctx context.Context) {
	if r.redis != nil {
		r.redis.servers.Probe(trace.With(ctx, trace.Span{}), r.redis.of, r.opts.RedisDeadline)
	}
}

// outdated implements layer: a copy that lacks commits is brought up to date, one of another branch is built again.
func (c *copies) outdated(_ context.Context, q *pending, _ leaderboard.Answered, v feed.Verdict, _ int) bool {
	switch ref := q.refs()[0]; {
	case v == feed.VerdictOld:
		c.opts.Old(ref)
	case c.opts.Demand != nil:
		c.opts.Demand(ref)
	}
	return false
}

// inRedis is the copies of one server of Redis.
type inRedis struct {
	*topn.Copies
	lookUps *lookUps
}

// Member implements copySource. It asks about the members of several callers together.
func (r inRedis) Member(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (s *leaderboard.Standings, short bool, err error) {
	key := lookUpKey{string(appendPeriods(nil, []leaderboard.PeriodRef{p})), ranksOf(q.Mode)}
	found, err := r.lookUps.Do(ctx, key, memberLookUp{p, q})
	return found.standings, found.short, err
}

// lookUps put questions about one member each together, per server of Redis: a batch costs less than half of the single
// commands.
type lookUps = batch.Batcher[lookUpKey, memberLookUp, lookedUp]

// lookUpKey is the common part of the questions of one batch. The state at which the batch is answered is compared with
// the state that each question requires.
type lookUpKey struct{ period, mode string }

// memberLookUp is a question about one member, and the period as its caller knows it.
type memberLookUp struct {
	ref   leaderboard.PeriodRef
	query leaderboard.MembersQuery
}

// lookedUp is the answer of the copy; short: it is due for renewal.
type lookedUp struct {
	standings *leaderboard.Standings
	short     bool
}

// lookUp answers the questions of a batch one by one: the copy may be too old for one question, or not reach down to
// the member of another.
func (c *copies) lookUp(ctx context.Context, _ lookUpKey, queries []memberLookUp, answers []batch.Answer[lookedUp]) error {
	members := make([]string, len(queries))
	for i, q := range queries {
		members[i] = q.query.Members[0]
	}
	ranks, short, err := c.of.MemberRanks(ctx, queries[0].ref, queries[0].query.Mode, members)
	if err != nil {
		return err
	}
	for i, q := range queries {
		answers[i].Value.short = short
		answers[i].Value.standings, answers[i].Err = ranks.Standings(i, q.query)
	}
	return nil
}

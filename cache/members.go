package cache

import (
	"context"
	"errors"
	"slices"
	"time"

	"leaderboard"
	"leaderboard/cache/topn"
	"leaderboard/rank"
)

const (
	// batchMembers bounds what one batch asks for, and so what a look-up may have to wait for.
	batchMembers = 256
	// batchMaxWait is how long a look-up waits behind a batch. Healthy ones take a fraction of it.
	batchMaxWait = 10 * time.Millisecond
)

// placesKey is what the queries of one batch have in common. How new an answer has to be is none of it: that is held
// against the state that the batch is answered from.
type placesKey struct {
	periodKey
	mode leaderboard.Mode // as ranksKey has it
}

// wanted is a query about members that waits for its answer.
type wanted struct {
	ref    leaderboard.PeriodRef
	query  leaderboard.MembersQuery
	since  time.Time
	finish func(*leaderboard.Standings, error)

	waited bool // the copy was too old for it before
}

// newBatches sets up the two layers that queries about members pass through in batches.
func (r *Reader) newBatches() {
	layer := func(run func(placesKey, []wanted)) *batcher[placesKey, wanted] {
		return &batcher[placesKey, wanted]{
			most: batchMembers, maxWait: batchMaxWait, run: run,
			size: func(w wanted) int { return len(w.query.Members) },
			fail: func(w wanted, err error) { w.finish(nil, err) },
		}
	}
	r.fromCopy, r.fromDatabase = layer(r.placesInCopy), layer(r.placesInDatabase)
}

// lookUp asks Redis, then MySQL, together with whoever asks at the same time.
func (r *Reader) lookUp(p leaderboard.PeriodRef, q leaderboard.MembersQuery, finish func(*leaderboard.Standings, error)) {
	key, w := placesKey{periodKeyOf(p), ranksKey(q.Mode)}, wanted{ref: p, query: q, since: time.Now(), finish: finish}
	if r.copies != nil {
		r.fromCopy.add(key, w)
	} else {
		r.fromDatabase.add(key, w)
	}
}

// placesInCopy answers a batch from the copy in Redis. What the copy cannot answer, all of it when Redis cannot, goes
// on to MySQL.
func (r *Reader) placesInCopy(key placesKey, batch []wanted) {
	rest := batch
	if !r.copies.Left(batch[0].ref) && r.redis.Allow() {
		rest = r.askPlaces(key, batch)
	}
	for _, w := range rest {
		r.fromDatabase.add(key, w)
	}
}

// askPlaces answers what Redis can answer and returns the rest.
func (r *Reader) askPlaces(key placesKey, batch []wanted) (rest []wanted) {
	// The deadline counts from the query: who waited behind a batch that Redis did not answer waits no longer.
	ctx, cancel := context.WithDeadline(context.Background(), batch[0].since.Add(r.opts.RedisDeadline))
	defer cancel()
	p, members := batch[0].ref, membersOf(batch)
	ranks, err := askCopy(ctx, r, p, func(ctx context.Context) (*topn.MemberRanks, bool, error) {
		return r.copies.MemberRanks(ctx, p, key.mode, members)
	})
	if err != nil {
		return batch
	}
	from := 0
	for _, w := range batch {
		s, err := ranks.Standings(from, w.query)
		from += len(w.query.Members)
		switch {
		case err == nil:
			w.finish(s, nil)
		case errors.Is(err, topn.ErrBehind) && !w.waited: // the others go on at once
			w.waited = true
			time.AfterFunc(behindPause, func() { r.fromCopy.add(key, w) })
		default:
			rest = append(rest, w)
		}
	}
	return rest
}

func membersOf(batch []wanted) []string {
	if len(batch) == 1 {
		return batch[0].query.Members
	}
	var all []string
	for _, w := range batch {
		all = append(all, w.query.Members...)
	}
	return all
}

// placesInDatabase answers a batch from MySQL.
func (r *Reader) placesInDatabase(key placesKey, batch []wanted) {
	ctx, cancel := context.WithTimeout(context.Background(), r.opts.CallTimeout)
	defer cancel()
	all := leaderboard.MembersQuery{Query: leaderboard.Query{Mode: key.mode}, Members: membersOf(batch)}
	if len(batch) > 1 {
		slices.Sort(all.Members)
		all.Members = slices.Compact(all.Members)
	}
	s, err := fallback(ctx, r, func(ctx context.Context) (*leaderboard.Standings, error) {
		return r.database.Members(ctx, batch[0].ref, all)
	})
	switch {
	case err != nil && isRule(err) && len(batch) > 1: // the fault of some, not of all
		for i := range batch {
			r.placesInDatabase(key, batch[i:i+1])
		}
	case err != nil:
		for _, w := range batch {
			w.finish(nil, err)
		}
	default:
		deal(s, batch)
	}
}

// deal gives every query its part of one answer.
func deal(s *leaderboard.Standings, batch []wanted) {
	if len(batch) == 1 && s.Seq >= batch[0].query.MinSeq {
		batch[0].finish(s, nil)
		return
	}
	at := make(map[string]int, len(s.Entries))
	keys := make([]rank.Key, len(s.Entries))
	for i := range s.Entries {
		at[s.Entries[i].Member] = i
		keys[i] = rank.CodecOf(batch[0].ref.Rules).Key(s.Entries[i].Entry)
	}
	for _, w := range batch {
		if s.Seq < w.query.MinSeq {
			w.finish(nil, leaderboard.ErrSeqAhead)
			continue
		}
		part := &leaderboard.Standings{State: s.State}
		held := make([]int, 0, len(w.query.Members))
		for _, m := range w.query.Members {
			if i, ok := at[m]; ok {
				held = append(held, i)
			} else {
				part.NotRanked = append(part.NotRanked, m)
			}
		}
		slices.Sort(held)
		part.Entries, part.Ranked = make([]leaderboard.Standing, len(held)), len(held)
		own := make([]rank.Key, len(held))
		for i, at := range held {
			part.Entries[i], own[i] = s.Entries[at], keys[at]
		}
		for i, position := range rank.Number(rank.Top(), own) {
			part.Entries[i].Position = position
		}
		w.finish(part, nil)
	}
}

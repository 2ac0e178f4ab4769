package cache

import (
	"context"

	"leaderboard"
	"leaderboard/cache/batch"
)

const (
	// databaseBatch bounds what one batch asks MySQL: more hardly make it cheaper, and each waits for all.
	databaseBatch = 64
	// lookUpMembers bounds what one batch asks Redis.
	lookUpMembers = 256
	// lookUpsAtOnce is how many batches a server of Redis works on at once: one that takes long does not hold up all others.
	lookUpsAtOnce = 2
)

// lookUps put questions about members of one server of Redis together.
type lookUps = batch.Batcher[placesKey, placesQuery, places]

func (r *Reader) newLookUps() *lookUps {
	return batch.New(batch.Options{Slots: lookUpsAtOnce, Size: lookUpMembers, Timeout: r.opts.RedisDeadline}, placesQuery.size, r.placesInCopy)
}

// placesKey is what the queries of one batch have in common. How new an answer has to be is none of it: that is held
// against the state that the batch is answered from.
type placesKey struct {
	periodKey
	mode leaderboard.Mode // as ranksKey has it
}

// placesQuery is a query about members, and the period as who asks knows it.
type placesQuery struct {
	ref   leaderboard.PeriodRef
	query leaderboard.MembersQuery
}

func (q placesQuery) size() int { return len(q.query.Members) }

// places is what the copy says; short: it is due for renewal.
type places struct {
	standings *leaderboard.Standings
	short     bool
}

// membersFromCopy asks the copy in Redis about all of some members, together with whoever asks at the same time: a batch
// costs about half of what single commands do.
func (r *Reader) membersFromCopy(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, bool, error) {
	found, err := r.redis.Of(ctx, p).Own.Ask(ctx, placesKey{periodKeyOf(p), ranksKey(q.Mode)}, placesQuery{p, q})
	return found.standings, found.short, err
}

// placesInCopy answers a batch from the copy in Redis, each query for itself: the copy may be too old for one, or not
// reach down to the members of another.
func (r *Reader) placesInCopy(ctx context.Context, key placesKey, queries []placesQuery, answers []batch.Answer[places]) error {
	members := queries[0].query.Members
	if len(queries) > 1 {
		members = nil
		for _, q := range queries {
			members = append(members, q.query.Members...)
		}
	}
	ranks, short, err := r.copies.MemberRanks(ctx, queries[0].ref, key.mode, members)
	if err != nil {
		return err
	}
	from := 0
	for i, q := range queries {
		answers[i].Value.short = short
		answers[i].Value.standings, answers[i].Err = ranks.Standings(from, q.query)
		from += len(q.query.Members)
	}
	return nil
}

package httpapi

import (
	"strconv"

	"leaderboard"
)

// member answers GET …/members/{member}: one entry with rank and percentile.
func member(c *call) error {
	id := c.member()
	v, err := c.view()
	if err != nil {
		return err
	}
	s, err := c.rankings(&v).Members(c.ctx, v.ref, leaderboard.MembersQuery{Query: v.query, Members: []string{id}})
	if err != nil {
		return err
	}
	if len(s.Entries) == 0 {
		return c.whyAbsent(id, leaderboard.ErrNotRanked)
	}
	place := &s.Entries[0]
	st := s.State
	shown := c.profiles(v.profiles, &st, 1, func(int) string { return id })
	return c.answer(&v, &st, shown.mark(c.tag(&v, &st).text(id)), func(b []byte) []byte {
		b = appendRanked(b, &v.ref.Rules.Tiebreak, &place.Ranked)
		return shown.appendTo(appendPercentile(append(b, ','), place.Tied, s.Total), 0)
	})
}

func appendPercentile(b []byte, tied, total int64) []byte {
	return strconv.AppendFloat(append(b, `"percentile":`...), leaderboard.Percentile(tied, total), 'f', -1, 64)
}

// scoreRank answers GET …/scores/{score}/rank: the rank that a score would have now.
func scoreRank(c *call) error {
	score, ok := parseInteger(c.pathValue("score"))
	if !ok {
		c.reject("score", "want a whole number from -9223372036854775808 to 9223372036854775807")
	}
	var given *int64
	if c.query.has("tiebreak") {
		tiebreak := c.integer("tiebreak", 0, -maxInt64-1, maxInt64)
		given = &tiebreak
	}
	fields := c.fields()
	v, err := c.view()
	if err != nil {
		return err
	}
	tie := &v.ref.Rules.Tiebreak
	tiebreak, err := tie.Resolve(given, fields, nil)
	if broken := leaderboard.AsRule(err); broken != nil {
		return refuse(broken.Code, broken.Detail)
	}
	s, err := c.rankings(&v).ScoreRank(c.ctx, v.ref, leaderboard.ScoreQuery{MinSeq: v.query.MinSeq, Score: score, Tiebreak: tiebreak})
	if err != nil {
		return err
	}
	return c.answer(&v, &s.State, c.tag(&v, &s.State).int(score).int(tiebreak), func(b []byte) []byte {
		b = strconv.AppendInt(append(b, `"score":`...), score, 10)
		b = appendTiebreak(append(b, ','), tie, tiebreak)
		b = strconv.AppendInt(append(b, `,"strict_rank":`...), s.Strict, 10)
		return strconv.AppendInt(append(b, `,"tied_rank":`...), s.Tied, 10)
	})
}

// distribution answers GET …/distribution: the histogram of the scores.
func distribution(c *call) error {
	buckets := c.integer("buckets", leaderboard.DefaultBuckets, 1, leaderboard.MaxBuckets)
	v, err := c.view()
	if err != nil {
		return err
	}
	d, err := c.rankings(&v).Distribution(c.ctx, v.ref, leaderboard.DistributionQuery{MinSeq: v.query.MinSeq, Buckets: int(buckets)})
	if err != nil {
		return err
	}
	return c.answer(&v, &d.State, c.tag(&v, &d.State).int(buckets), func(b []byte) []byte {
		return append(b, d.Memo.Do(func() []byte { return appendBuckets(nil, d.Buckets) })...)
	})
}

func appendBuckets(b []byte, buckets []leaderboard.Bucket) []byte {
	b = append(b, `"buckets":[`...)
	for i, bucket := range buckets {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"from":`...), bucket.From, 10)
		b = strconv.AppendInt(append(b, `,"to":`...), bucket.To, 10)
		b = append(strconv.AppendInt(append(b, `,"count":`...), bucket.Count, 10), '}')
	}
	return append(b, ']')
}

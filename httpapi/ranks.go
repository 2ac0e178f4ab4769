package httpapi

import (
	"fmt"
	"strconv"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// member answers GET …/members/{member}: one entry with rank and percentile.
func (h *reader) member(c *call) error {
	id := c.member()
	on, err := h.target(c)
	if err != nil {
		return err
	}
	s, bodies, err := h.members(c, &on, leaderboard.MembersQuery{Query: on.query, Members: []string{id}})
	if err != nil {
		return err
	}
	if len(s.Entries) == 0 {
		return whyAbsent(c, h.hides, []string{on.ref.Board}, id, leaderboard.ErrNotRanked)
	}
	place := &s.Entries[0]
	st := s.State
	shown := h.of(c, &on, &st, 1, func(int) string { return id })
	shown.metadata = bodies
	return c.answer(&on, &st, shown.addTo(c.etag(&on, &st).Text(id).Dense(on.query.Mode, &place.Ranks)), func(b []byte) []byte {
		b = wire.AppendRanked(b, on.form(), &place.Ranked)
		return shown.appendTo(wire.AppendPercentile(append(b, ','), place.Tied, s.Total), 0)
	})
}

// ranks answers POST …/ranks: the places of given members, best first.
func (h *reader) ranks(c *call) error {
	var body struct {
		Members []string `json:"members"`
	}
	if err := c.decode(&body, false, nil); err != nil {
		return err
	}
	if err := checkMembers(body.Members); err != nil {
		return err
	}
	return h.retryOutdated(func(c *call) error { return h.sendRanks(c, body.Members) })(c)
}

func (h *reader) sendRanks(c *call, members []string) error {
	on, err := h.target(c)
	if err != nil {
		return err
	}
	s, bodies, err := h.members(c, &on, leaderboard.MembersQuery{Query: on.query, Members: members})
	if err != nil {
		return err
	}
	c.w.Header()["Cache-Control"] = c.shared.values.noStore
	st := s.State
	shown := h.of(c, &on, &st, len(s.Entries), func(i int) string { return s.Entries[i].Member })
	shown.metadata = bodies
	return c.sendAppended(func(b []byte) []byte {
		return append(appendStandings(appendCommon(b, &on, &st), &on, s, &shown), '}')
	})
}

// checkMembers wants up to MaxLimit valid ids, none twice. The list may be empty.
func checkMembers(members []string) error {
	switch {
	case members == nil:
		return wire.Malformed(wire.InputError{Pointer: "/members", Detail: "is required"})
	case len(members) > leaderboard.MaxLimit:
		return wire.Malformed(wire.InputError{Pointer: "/members", Detail: fmt.Sprintf("want at most %d members", leaderboard.MaxLimit)})
	}
	var bad wire.BadFields
	seen := make(map[string]struct{}, len(members))
	for i, m := range members {
		if broken := leaderboard.AsRule(leaderboard.CheckMember(m)); broken != nil {
			bad.Add("/members/"+strconv.Itoa(i), broken.Detail)
		} else if _, twice := seen[m]; twice {
			bad.Add("/members/"+strconv.Itoa(i), "is listed twice")
		}
		seen[m] = struct{}{}
	}
	return bad.Err()
}

// appendStandings appends entries, each with its position among the given ones, and not_ranked.
func appendStandings(b []byte, on *target, s *leaderboard.Standings, shown *besides) []byte {
	b = append(appendPositioned(b, on, s, shown), `,"not_ranked":[`...)
	for i, m := range s.NotRanked {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(b, m)
	}
	return append(b, ']')
}

// scoreRank answers GET …/scores/{score}/rank: the rank that a score would have now.
func (h *reader) scoreRank(c *call) error {
	score, ok := wire.ParseInteger(c.pathValue("score"))
	if !ok {
		c.badParam("score", "want a whole number from -9223372036854775808 to 9223372036854775807")
	}
	var given *int64
	if c.query.Has("tiebreak") {
		tiebreak := c.integer("tiebreak", 0, -maxInt64-1, maxInt64)
		given = &tiebreak
	}
	fields := c.fields()
	on, err := h.target(c)
	if err != nil {
		return err
	}
	tie := &on.ref.Rules.Tiebreak
	tiebreak, err := tie.Resolve(given, fields, nil)
	if broken := leaderboard.AsRule(err); broken != nil {
		return wire.Reject(broken.Code, broken.Detail)
	}
	s, err := h.rankings.ScoreRank(c.ctx, on.ref, leaderboard.ScoreQuery{MinSeq: on.query.MinSeq, Score: score, Tiebreak: tiebreak})
	if err != nil {
		return err
	}
	return c.answer(&on, &s.State, c.etag(&on, &s.State).Int(score).Int(tiebreak).Dense(on.query.Mode, &s.Ranks), func(b []byte) []byte {
		b = strconv.AppendInt(append(b, `"score":`...), score, 10)
		b = wire.AppendTiebreak(append(b, ','), tie, tiebreak)
		if b = wire.AppendStrictTied(append(b, ','), &s.Ranks); on.query.Mode == leaderboard.ModeAll {
			b = wire.AppendDense(append(b, ','), &s.Ranks)
		}
		return b
	})
}

// distribution answers GET …/distribution: the histogram of the scores.
func (h *reader) distribution(c *call) error {
	buckets := c.integer("buckets", leaderboard.DefaultBuckets, 1, leaderboard.MaxBuckets)
	on, err := h.target(c)
	if err != nil {
		return err
	}
	d, err := h.rankings.Distribution(c.ctx, on.ref, leaderboard.DistributionQuery{MinSeq: on.query.MinSeq, Buckets: int(buckets)})
	if err != nil {
		return err
	}
	return c.answer(&on, &d.State, c.etag(&on, &d.State).Int(buckets), func(b []byte) []byte { return appendBuckets(b, d.Buckets) })
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

package httpapi

import (
	"fmt"
	"strconv"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// member answers GET …/members/{member}: one entry with rank and percentile.
func (h *reader) member(c *Call) error {
	id := c.Params.Member()
	on, err := h.Target(c)
	if err != nil {
		return err
	}
	s, st, shown, err := h.Members(c, &on, leaderboard.MembersQuery{Query: on.Query, Members: []string{id}})
	if err != nil {
		return err
	}
	if len(s.Entries) == 0 {
		return WhyAbsent(c, h.hides, []string{on.Ref.Board}, id, leaderboard.ErrNotRanked)
	}
	place := &s.Entries[0]
	return c.Answer(&on, &st, shown.AddTo(c.ETag(&on, &st).Text(id).Dense(on.Query.Mode, &place.Ranks)), func(b []byte) []byte {
		b = wire.AppendRanked(b, on.Form(), &place.Ranked)
		return shown.AppendTo(wire.AppendPercentile(append(b, ','), place.Tied, s.Total), 0)
	})
}

// ranks answers POST …/ranks: the places of given members, best first.
func (h *reader) ranks(c *Call) error {
	var body struct {
		Members []string `json:"members"`
	}
	if err := c.Decode(&body, false, nil); err != nil {
		return err
	}
	if err := checkMembers(body.Members); err != nil {
		return err
	}
	return h.RetryOutdated(func(c *Call) error { return h.sendRanks(c, body.Members) })(c)
}

func (h *reader) sendRanks(c *Call, members []string) error {
	on, err := h.Target(c)
	if err != nil {
		return err
	}
	s, st, shown, err := h.Members(c, &on, leaderboard.MembersQuery{Query: on.Query, Members: members})
	if err != nil {
		return err
	}
	c.NoStore()
	return c.SendAppended(func(b []byte) []byte {
		return append(appendStandings(appendCommon(b, &on, &st), &on, s, shown), '}')
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
func appendStandings(b []byte, on *Target, s *leaderboard.Standings, shown Extras) []byte {
	b = append(AppendPositioned(b, on, s, shown), `,"not_ranked":[`...)
	for i, m := range s.NotRanked {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(b, m)
	}
	return append(b, ']')
}

// scoreRank answers GET …/scores/{score}/rank: the rank that a score would have now.
func (h *reader) scoreRank(c *Call) error {
	score, ok := wire.ParseInteger(c.Params.PathValue("score"))
	if !ok {
		c.Params.BadParam("score", "want a whole number from -9223372036854775808 to 9223372036854775807")
	}
	var given *int64
	if c.Params.Query.Has("tiebreak") {
		tiebreak := c.Params.Integer("tiebreak")
		given = &tiebreak
	}
	fields := c.Params.fields()
	on, err := h.Target(c)
	if err != nil {
		return err
	}
	tie := &on.Ref.Rules.Tiebreak
	tiebreak, err := tie.Resolve(given, fields, nil)
	if broken := leaderboard.AsRule(err); broken != nil {
		return wire.Reject(broken.Code, broken.Detail)
	}
	s, err := h.Rankings.ScoreRank(c.Ctx, on.Ref, leaderboard.ScoreQuery{MinSeq: on.Query.MinSeq, Score: score, Tiebreak: tiebreak})
	if err != nil {
		return err
	}
	return c.Answer(&on, &s.State, c.ETag(&on, &s.State).Int(score).Int(tiebreak).Dense(on.Query.Mode, &s.Ranks), func(b []byte) []byte {
		b = strconv.AppendInt(append(b, `"score":`...), score, 10)
		b = wire.AppendTiebreak(append(b, ','), tie, tiebreak)
		if b = wire.AppendStrictTied(append(b, ','), &s.Ranks); on.Query.Mode == leaderboard.ModeAll {
			b = wire.AppendDense(append(b, ','), &s.Ranks)
		}
		return b
	})
}

// distribution answers GET …/distribution: the histogram of the scores.
func (h *reader) distribution(c *Call) error {
	buckets := c.Params.Integer("buckets")
	on, err := h.Target(c)
	if err != nil {
		return err
	}
	d, err := h.Rankings.Distribution(c.Ctx, on.Ref, leaderboard.DistributionQuery{MinSeq: on.Query.MinSeq, Buckets: int(buckets)})
	if err != nil {
		return err
	}
	return c.Answer(&on, &d.State, c.ETag(&on, &d.State).Int(buckets), func(b []byte) []byte { return appendBuckets(b, d.Buckets) })
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

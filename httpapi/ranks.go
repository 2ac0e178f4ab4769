package httpapi

import (
	"fmt"
	"strconv"

	"leaderboard"
)

// ranks answers POST …/ranks: the places of given members, best first.
func ranks(c *call) error {
	var body struct {
		Members []string `json:"members"`
	}
	if err := c.decode(&body, false, nil); err != nil {
		return err
	}
	if err := checkMembers(body.Members); err != nil {
		return err
	}
	return reading(func(c *call) error { return sendRanks(c, body.Members) })(c)
}

func sendRanks(c *call, members []string) error {
	v, err := c.view()
	if err != nil {
		return err
	}
	s, err := c.rankings(&v).Members(c.ctx, v.ref, leaderboard.MembersQuery{Query: v.query, Members: members})
	if err != nil {
		return err
	}
	c.w.Header()["Cache-Control"] = []string{"no-store"}
	buf := c.api.buffers.Get().(*[]byte)
	st := s.State
	shown := c.profiles(v.profiles, &st, len(s.Entries), func(i int) string { return s.Entries[i].Member })
	b := appendStandings(appendCommon((*buf)[:0], &v, &st), &v, s, &shown)
	b = append(b, '}', '\n')
	c.send(200, typeJSON, b)
	*buf = b
	c.api.release(buf)
	return nil
}

// checkMembers wants up to MaxLimit valid ids, none twice. Somebody without friends may ask for an empty list.
func checkMembers(members []string) error {
	switch {
	case members == nil:
		return malformed(inputError{Pointer: "/members", Detail: "is required"})
	case len(members) > leaderboard.MaxLimit:
		return malformed(inputError{Pointer: "/members", Detail: fmt.Sprintf("want at most %d members", leaderboard.MaxLimit)})
	}
	var bad badFields
	seen := make(map[string]struct{}, len(members))
	for i, m := range members {
		if broken := leaderboard.AsRule(leaderboard.CheckMember(m)); broken != nil {
			bad.add("/members/"+strconv.Itoa(i), broken.Detail)
		} else if _, twice := seen[m]; twice {
			bad.add("/members/"+strconv.Itoa(i), "is listed twice")
		}
		seen[m] = struct{}{}
	}
	return bad.err()
}

// appendStandings appends entries, each with its position among the given ones, and not_ranked.
func appendStandings(b []byte, v *view, s *leaderboard.Standings, shown *beside) []byte {
	b = append(appendPositioned(b, v, s, shown), `,"not_ranked":[`...)
	for i, m := range s.NotRanked {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, m)
	}
	return append(b, ']')
}

// appendPositioned appends entries, each with its position.
func appendPositioned(b []byte, v *view, s *leaderboard.Standings, shown *beside) []byte {
	tie := &v.ref.Rules.Tiebreak
	b = append(b, `"entries":[`...)
	for i := range s.Entries {
		e := &s.Entries[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendRanked(append(b, '{'), tie, &e.Ranked)
		b = append(shown.appendTo(strconv.AppendInt(append(b, `,"position":`...), e.Position, 10), i), '}')
	}
	return append(b, ']')
}

// badFields gathers what is wrong with a body, up to a bound.
type badFields []inputError

func (bad *badFields) add(pointer, detail string) {
	if len(*bad) < 20 {
		*bad = append(*bad, inputError{Pointer: pointer, Detail: detail})
	}
}

func (bad badFields) err() error {
	if len(bad) == 0 {
		return nil
	}
	return malformed(bad...)
}

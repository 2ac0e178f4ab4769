package httpapi

import (
	"fmt"
	"strconv"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// standings answers GET /v1/members/{member}/standings: the member's standing on each of several boards, which may differ in their
// rules.
func (h *combinedReader) standings(c *Call) error {
	member := c.Params.Member()
	kept, most := c.Kept(), leaderboard.MaxStandings
	if kept != nil {
		most = MaxKeptBoards
	}
	return h.RetrySelection(c, most, false, func(s *Selection) error {
		if kept != nil && len(s.Refs) > most {
			return &leaderboard.RuleError{Code: leaderboard.CodeTooManyBoards, Detail: fmt.Sprintf("with %s there are standings on at most %d boards", kept.Param(), most)}
		}
		modes, err := standingModes(s, leaderboard.Mode(c.Params.Text("mode")))
		if err != nil {
			return err
		}
		for i := range s.Refs {
			s.Refs[i].LastSeq = max(s.Refs[i].LastSeq, s.MinSeqs[s.Refs[i].Board])
		}
		found, err := h.Rankings.Past(c.Ctx, s.Refs, member)
		if err != nil {
			return err
		}
		found, shown, err := pastExtras(c, kept, s.Refs, member, found)
		if err != nil {
			return err
		}
		states := make([]leaderboard.State, len(found))
		for i := range found {
			states[i] = found[i].State
		}
		st, etag := s.State(states), s.etag(c.Route.Path, states).Text(member)
		for i := range s.Refs {
			etag = etag.Text(string(modes[i])).Text(s.Refs[i].Rules.Tiebreak.Layout())
		}
		return c.Respond(&s.Target, &st, shown.AddTo(etag), func(b []byte) []byte { return s.appendStandings(b, member, &st, modes, found, shown) })
	})
}

// standingModes returns the mode of the ranks on each board: the mode asked for, or the board's. Dense ranks of many boards are
// not known at once; a board that numbers densely is then answered in mode tied.
func standingModes(s *Selection, asked leaderboard.Mode) ([]leaderboard.Mode, error) {
	if asked == leaderboard.ModeDense {
		return nil, &leaderboard.RuleError{
			Code: leaderboard.CodeModeNotAvailable, Detail: "standings are numbered in mode strict or tied: dense ranks are known on one board at a time",
		}
	}
	modes := make([]leaderboard.Mode, len(s.Refs))
	for i := range s.Refs {
		own := s.Refs[i].Rules.Mode
		switch {
		case asked != "":
			modes[i] = asked
		case own == leaderboard.ModeDense:
			modes[i] = leaderboard.ModeTied
		default:
			modes[i] = own
		}
	}
	return modes, nil
}

// appendStandings appends the answer without the brace at its end.
func (s *Selection) appendStandings(b []byte, member string, all *leaderboard.State, modes []leaderboard.Mode, found []leaderboard.PastEntry, shown Extras) []byte {
	b = wire.AppendString(append(b, `{"member":`...), member)
	b = wire.AppendString(append(b, `,"source":`...), string(all.Source))
	b = append(strconv.AppendBool(append(b, `,"stale":`...), all.Stale), `,"standings":[`...)
	var none []string
	for i := range found {
		if found[i].Ranked == nil {
			none = append(none, s.Refs[i].Board)
			continue
		}
		if len(none) < i { // another name stands before this one
			b = append(b, ',')
		}
		b = appendStandingOn(append(b, '{'), &s.Refs[i], modes[i], &found[i])
		b = append(shown.AppendTo(b, i), '}')
	}
	b = appendNames(append(b, ']'), `,"not_ranked":[`, none)
	if len(s.Absent) == 0 {
		return b
	}
	return appendNames(b, `,"absent":[`, s.Absent)
}

func appendStandingOn(b []byte, ref *leaderboard.PeriodRef, mode leaderboard.Mode, e *leaderboard.PastEntry) []byte {
	b = wire.AppendString(append(b, `"board":`...), ref.Board)
	b = wire.AppendString(append(b, `,"window":`...), string(ref.Window))
	b = wire.AppendString(append(b, `,"period":`...), ref.Name)
	b = wire.AppendString(append(b, `,"mode":`...), string(mode))
	b = wire.AppendRanks(append(b, ','), mode, &e.Ranked.Ranks)
	b = strconv.AppendInt(append(b, `,"score":`...), e.Ranked.Score, 10)
	b = wire.AppendTiebreak(append(b, ','), &ref.Rules.Tiebreak, e.Ranked.Tiebreak)
	b = wire.AppendTime(append(b, `,"created_time":`...), e.Ranked.CreatedTime)
	b = wire.AppendPercentile(append(b, ','), e.Ranked.Tied, e.Total)
	b = strconv.AppendInt(append(b, `,"total":`...), e.Total, 10)
	b = strconv.AppendInt(append(b, `,"seq":`...), e.Seq, 10)
	return wire.AppendTime(append(b, `,"as_of":`...), e.AsOf)
}

// appendNames appends a member that is a list of names.
func appendNames(b []byte, opening string, names []string) []byte {
	b = append(b, opening...)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(b, name)
	}
	return append(b, ']')
}

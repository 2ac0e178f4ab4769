package httpapi

import (
	"context"
	"strconv"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// pastReader serves the entries of members in the periods of a window.
type pastReader struct {
	Resolver
	rankings Rankings
}

// history answers GET …/members/{member}/history: the entries of a member in the latest periods of a window, the current one
// first. The limit counts periods, with or without an entry.
func (h *pastReader) history(c *Call) error {
	member := c.Params.Member()
	limit := c.Params.Integer("limit")
	cursor := c.Params.Text("cursor")
	on, err := h.Target(c)
	if err != nil {
		return err
	}
	of := wire.List{Name: "history " + string(on.Ref.Window), Id: on.Ref.BoardID}
	before := int64(leaderboard.MaxTime)
	if cursor != "" {
		var ok bool
		if before, ok = of.AfterID(cursor); !ok {
			return wire.Malformed(wire.BadCursor())
		}
	}
	err = h.send(c, &on, of, member, leaderboard.Micros(before), int(limit))
	if h.Renewed(c.Ctx, err, on.Ref.Board) {
		return h.send(c, &on, of, member, leaderboard.Micros(before), int(limit)) // without periods that were given up meanwhile
	}
	return err
}

func (h *pastReader) send(c *Call, on *Target, of wire.List, member string, before leaderboard.Micros, limit int) error {
	refs, next, err := h.periods(c.Ctx, on, before, limit)
	if err != nil {
		return err
	}
	found, err := h.rankings.Past(c.Ctx, refs, member)
	if err != nil {
		return err
	}
	found, shown, err := pastExtras(c, keptAmong(on.Shows), refs, member, found)
	if err != nil {
		return err
	}
	st := leaderboard.State{Source: leaderboard.SourceLocal}
	etag := wire.EmptyETag.Int(wire.AnswerFormat).Text(c.Route.Path).Text(member).Int(int64(next)).Text(on.Ref.Rules.Tiebreak.Layout())
	for i := range found {
		f := &found[i]
		st.Seq, st.AsOf, st.Stale = st.Seq+f.Seq, max(st.AsOf, f.AsOf), st.Stale || f.Stale
		if slower(f.Source, st.Source) {
			st.Source = f.Source
		}
		etag = etag.Int(refs[i].ID).Int(f.Incarnation).Int(f.Seq).Int(int64(f.AsOf))
		if refs[i].Closed { // the state does not show this: the last season closes without a next one
			etag = etag.Text("closed")
		}
	}
	marked := on.marked(&st)
	return c.Respond(on, marked, shown.AddTo(etag), func(b []byte) []byte {
		b = appendPast(b, on, marked, member, refs, found, shown)
		if next > 0 {
			b = append(of.AppendCursor(append(b, `,"next_cursor":"`...), strconv.FormatInt(int64(next), 10)), '"')
		}
		return b
	})
}

// periods returns the periods of a page, the latest first, and the time before which the next page begins, 0 without a next page.
func (h *pastReader) periods(ctx context.Context, on *Target, before leaderboard.Micros, limit int) (refs []leaderboard.PeriodRef, next leaderboard.Micros, err error) {
	found, err := h.Catalog.PeriodsBefore(ctx, on.Ref.Board, on.Ref.Window, before, limit+1)
	if err != nil {
		return nil, 0, err
	}
	if len(found) > limit {
		found = found[:limit]
		next = found[limit-1].StartsAt
	}
	board := leaderboard.Board{ID: on.Ref.BoardID, Name: on.Ref.Board, Rules: *on.Ref.Rules}
	for i := range found {
		ref := found[i].Ref(&board)
		if ref.ID == on.Ref.ID {
			ref = on.Ref
			ref.LastSeq = max(ref.LastSeq, on.Query.MinSeq) // no answer is older
		}
		refs = append(refs, ref)
	}
	return refs, next, nil
}

// appendPast appends the answer without the brace at its end. Periods without an entry of the member are left out.
func appendPast(
	b []byte, on *Target, st *leaderboard.State, member string, refs []leaderboard.PeriodRef, found []leaderboard.PastEntry, shown Extras,
) []byte {
	b = wire.AppendString(append(b, `{"board":`...), on.Ref.Board)
	b = wire.AppendString(append(b, `,"window":`...), string(on.Ref.Window))
	b = wire.AppendString(append(b, `,"member":`...), member)
	b = wire.AppendTime(append(b, `,"as_of":`...), st.AsOf)
	b = wire.AppendString(append(b, `,"source":`...), string(st.Source))
	b = strconv.AppendBool(append(b, `,"stale":`...), st.Stale)
	b = append(b, `,"periods":[`...)
	some := false
	for i := range found {
		f := &found[i]
		if f.Ranked == nil {
			continue
		}
		if some {
			b = append(b, ',')
		}
		some = true
		b = wire.AppendString(append(b, `{"period":`...), refs[i].Name)
		b = wire.AppendStrictTied(append(b, ','), &f.Ranked.Ranks)
		b = strconv.AppendInt(append(b, `,"score":`...), f.Ranked.Score, 10)
		b = wire.AppendTiebreak(append(b, ','), &on.Ref.Rules.Tiebreak, f.Ranked.Tiebreak)
		b = wire.AppendTime(append(b, `,"created_time":`...), f.Ranked.CreatedTime)
		b = shown.AppendTo(b, i)
		b = strconv.AppendInt(append(b, `,"total":`...), f.Total, 10)
		b = strconv.AppendInt(append(b, `,"seq":`...), f.Seq, 10)
		b = append(strconv.AppendBool(append(b, `,"closed":`...), refs[i].Closed), '}')
	}
	return append(b, ']')
}

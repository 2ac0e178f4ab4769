package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// ETag begins the ETag of an answer of this route; the route adds its parameters.
func (c *Call) ETag(on *Target, st *leaderboard.State) wire.ETag {
	return wire.NewETag(&on.Ref, st, c.Route.Path, on.Query.Mode)
}

// Answer sends a reading answer: the common members, then what body appends.
func (c *Call) Answer(on *Target, st *leaderboard.State, etag wire.ETag, body func([]byte) []byte) error {
	st = on.marked(st)
	return c.Respond(on, st, etag, func(b []byte) []byte { return body(appendCommon(b, on, st)) })
}

// marked returns the state of an answer, marked stale if the knowledge of the board is stale.
func (on *Target) marked(st *leaderboard.State) *leaderboard.State {
	if !on.Ref.Stale || st.Stale {
		return st
	}
	marked := *st
	marked.Stale = true
	return &marked
}

// Respond sends the answer that body appends, without the brace at the end. A client that has this state already gets 304, unless
// the answer is stale, which the client must see.
func (c *Call) Respond(on *Target, st *leaderboard.State, hash wire.ETag, body func([]byte) []byte) error {
	if c.notModified(on, st, []string{c.form(hash).Tag(st.Seq)}) {
		return nil
	}
	return c.SendAppended(func(b []byte) []byte { return append(body(b), '}') })
}

// notModified answers a client that has the answer already, in its plain or its compressed form, unless the answer is stale, which
// the client must see. For other clients it sets the ETag of the plain form.
func (c *Call) notModified(on *Target, st *leaderboard.State, etag []string) bool {
	c.resolved.period, c.resolved.revision, c.resolved.stale = on.Ref.Name, st.Revision, st.Stale
	h := c.W.Header()
	h["Etag"] = etag
	h["Cache-Control"] = c.shared.values.cacheControl(st.Stale, on.Private)
	match := c.R.Header["If-None-Match"]
	if match == nil || st.Stale {
		return false
	}
	tag, ok := wire.NoneMatch(match, etag[0])
	if ok {
		h["Etag"] = []string{tag}
		h["Vary"] = c.shared.values.vary
		c.SendNothing(http.StatusNotModified)
	}
	return ok
}

// appendCommon opens an answer with the members that all reading answers share; a comma follows them.
func appendCommon(b []byte, on *Target, st *leaderboard.State) []byte {
	b = wire.AppendString(append(b, `{"board":`...), on.Ref.Board)
	b = wire.AppendString(append(b, `,"window":`...), string(on.Ref.Window))
	b = wire.AppendString(append(b, `,"period":`...), on.Ref.Name)
	b = wire.AppendString(append(b, `,"mode":`...), string(on.Query.Mode))
	b = strconv.AppendInt(append(b, `,"total":`...), st.Total, 10)
	b = strconv.AppendInt(append(b, `,"seq":`...), st.Seq, 10)
	b = wire.AppendTime(append(b, `,"as_of":`...), st.AsOf)
	b = wire.AppendString(append(b, `,"source":`...), string(st.Source))
	b = strconv.AppendBool(append(b, `,"stale":`...), st.Stale)
	return append(b, ',')
}

// AppendPositioned appends the member entries of an answer about given members, each entry with its position.
func AppendPositioned(b []byte, on *Target, s *leaderboard.Standings, shown Extras) []byte {
	b = append(b, `"entries":[`...)
	for i := range s.Entries {
		e := &s.Entries[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendRanked(append(b, '{'), on.Form(), &e.Ranked)
		b = append(shown.AppendTo(AppendPosition(append(b, ','), on, &e.Position), i), '}')
	}
	return append(b, ']')
}

// AppendPosition appends the member position, numbered by the mode, or in mode all by the board's mode.
func AppendPosition(b []byte, on *Target, position *leaderboard.Ranks) []byte {
	mode := on.Query.Mode
	if mode == leaderboard.ModeAll {
		mode = on.Ref.Rules.Mode
	}
	return strconv.AppendInt(append(b, `"position":`...), position.In(mode), 10)
}

// Rankings answers questions about the entries of periods.
type Rankings interface {
	leaderboard.Rankings
	leaderboard.CombinedRankings
	leaderboard.Pasts
}

// Feed knows the commits to periods.
type Feed interface {
	// Fresh reports whether an answer about a period may still go out after slow work. It never blocks.
	Fresh(period int64, r leaderboard.Revision) bool
	// Changed blocks until a period has something newer than a revision, or is gone. It ends with ctx, with an error.
	Changed(ctx context.Context, period int64, than leaderboard.Revision) error
}

// Form returns the form of the entries in an answer.
func (on *Target) Form() wire.EntryForm {
	return wire.EntryForm{Mode: on.Query.Mode, Tie: &on.Ref.Rules.Tiebreak}
}

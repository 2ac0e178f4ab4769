package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// etag begins the ETag of an answer of this route; the route's own parameters are added to it.
func (c *call) etag(on *target, st *leaderboard.State) wire.ETag {
	return wire.NewETag(&on.ref, st, c.route.path, on.query.Mode)
}

// answer sends a reading answer: the common members, then what body appends.
func (c *call) answer(on *target, st *leaderboard.State, etag wire.ETag, body func([]byte) []byte) error {
	st = on.marked(st)
	return c.respond(on, st, etag, func(b []byte) []byte { return body(appendCommon(b, on, st)) })
}

// marked returns the state of an answer, marked stale when what is known of the board is.
func (on *target) marked(st *leaderboard.State) *leaderboard.State {
	if !on.ref.Stale || st.Stale {
		return st
	}
	marked := *st
	marked.Stale = true
	return &marked
}

// respond sends what body appends, without the brace at the end. A client that has this state already gets 304, unless the
// answer is stale, which the client must see.
func (c *call) respond(on *target, st *leaderboard.State, hash wire.ETag, body func([]byte) []byte) error {
	if c.notModified(on, st, []string{c.form(hash).Tag(st.Seq)}) {
		return nil
	}
	return c.sendAppended(func(b []byte) []byte { return append(body(b), '}') })
}

// notModified answers a client that has the answer already, in one form or the other, unless it is stale, which the client
// must see. For other clients it sets the ETag of the plain form.
func (c *call) notModified(on *target, st *leaderboard.State, etag []string) bool {
	c.resolved.period, c.resolved.revision, c.resolved.stale = on.ref.Name, st.Revision, st.Stale
	h := c.w.Header()
	h["Etag"] = etag
	h["Cache-Control"] = c.shared.values.cacheControl(st.Stale, on.private)
	match := c.r.Header["If-None-Match"]
	if match == nil || st.Stale {
		return false
	}
	tag, ok := wire.NoneMatch(match, etag[0])
	if ok {
		h["Etag"] = []string{tag}
		h["Vary"] = c.shared.values.vary
		c.sendNothing(http.StatusNotModified)
	}
	return ok
}

// appendCommon opens an answer with the members that all reading answers share; a comma follows them.
func appendCommon(b []byte, on *target, st *leaderboard.State) []byte {
	b = wire.AppendString(append(b, `{"board":`...), on.ref.Board)
	b = wire.AppendString(append(b, `,"window":`...), string(on.ref.Window))
	b = wire.AppendString(append(b, `,"period":`...), on.ref.Name)
	b = wire.AppendString(append(b, `,"mode":`...), string(on.query.Mode))
	b = strconv.AppendInt(append(b, `,"total":`...), st.Total, 10)
	b = strconv.AppendInt(append(b, `,"seq":`...), st.Seq, 10)
	b = wire.AppendTime(append(b, `,"as_of":`...), st.AsOf)
	b = wire.AppendString(append(b, `,"source":`...), string(st.Source))
	b = strconv.AppendBool(append(b, `,"stale":`...), st.Stale)
	return append(b, ',')
}

// appendPositioned appends the member entries of an answer about given members, each with its position.
func appendPositioned(b []byte, on *target, s *leaderboard.Standings, shown *besides) []byte {
	b = append(b, `"entries":[`...)
	for i := range s.Entries {
		e := &s.Entries[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendRanked(append(b, '{'), on.form(), &e.Ranked)
		b = append(shown.appendTo(appendPosition(append(b, ','), on, &e.Position), i), '}')
	}
	return append(b, ']')
}

// appendPosition appends the member position: numbered as the mode does, in mode all as the board does.
func appendPosition(b []byte, on *target, position *leaderboard.Ranks) []byte {
	mode := on.query.Mode
	if mode == leaderboard.ModeAll {
		mode = on.ref.Rules.Mode
	}
	return strconv.AppendInt(append(b, `"position":`...), position.In(mode), 10)
}

// Rankings answers questions about the entries of periods.
type Rankings interface {
	leaderboard.Rankings
	leaderboard.CombinedRankings
	leaderboard.Pasts
	leaderboard.MetadataReader
}

// Feed says what was committed to periods.
type Feed interface {
	// Fresh reports whether an answer about a period may still go out after slow work. It never blocks.
	Fresh(period int64, r leaderboard.Revision) bool
	// Changed blocks until a period has something newer than a revision, or is gone. It ends with ctx, with an error.
	Changed(ctx context.Context, period int64, than leaderboard.Revision) error
}

// profileLoader finds profiles as Profiles does.
type profileLoader interface {
	ProfilesOf(ctx context.Context, members []string) ([]*leaderboard.Profile, error)
}

// profileFinder finds the profiles of an answer, and answers with metadata.
type profileFinder struct {
	rankings Rankings
	profiles profileLoader
	feed     Feed
}

// besides are the profiles and the metadata that an answer shows beside its entries. The zero value is none.
type besides struct {
	asked    bool
	profiles []*leaderboard.Profile // by the index of the entry, nil for a member without one
	metadata []string               // likewise, "" for none; nil when it is not asked for
}

// slowProfiles is how long a look-up of profiles may take before the answer that shows them is judged again.
const slowProfiles = 50 * time.Millisecond

// of finds the profiles of an answer's members, in one query, when the request has ?profiles=true. When they cannot be
// looked up, those cached are shown and the state is marked stale: there may be something newer. So it is when the look-up
// took so long that the answer is no longer the newest.
func (l profileFinder) of(c *call, on *target, st *leaderboard.State, n int, member func(i int) string) besides {
	return l.find(c, on.profiles, st, func() bool { return l.feed.Fresh(on.ref.ID, st.Revision) }, n, member)
}

// ofEntries is of for a run of entries.
func (l profileFinder) ofEntries(c *call, on *target, st *leaderboard.State, entries []leaderboard.Ranked) besides {
	return l.of(c, on, st, len(entries), func(i int) string { return entries[i].Member })
}

func (l profileFinder) find(c *call, asked bool, st *leaderboard.State, fresh func() bool, n int, member func(i int) string) besides {
	if !asked {
		return besides{}
	}
	members := make([]string, n)
	for i := range members {
		members[i] = member(i)
	}
	began := time.Now()
	profiles, err := l.profiles.ProfilesOf(c.ctx, members)
	if err != nil || time.Since(began) > slowProfiles && !fresh() {
		st.Stale = true
	}
	return besides{asked: true, profiles: profiles}
}

// addTo adds them to an answer's ETag: a profile can change when the entries do not.
func (s *besides) addTo(etag wire.ETag) wire.ETag {
	etag = addBodies(etag, s.metadata)
	if !s.asked {
		return etag
	}
	etag = etag.Text("profiles")
	for _, p := range s.profiles {
		if p == nil {
			etag = etag.Int(0)
		} else {
			etag = etag.Int(1).Text(p.DisplayName).Text(p.AvatarURL).Text(string(p.Attributes))
		}
	}
	return etag
}

// appendTo appends the members metadata and profile to the object of entry i, those that it has.
func (s *besides) appendTo(b []byte, i int) []byte {
	b = appendMetadata(b, s.metadata, i)
	if !s.asked || s.profiles[i] == nil {
		return b
	}
	p := s.profiles[i]
	b = wire.AppendString(append(b, `,"profile":{"display_name":`...), p.DisplayName)
	b = wire.AppendString(append(b, `,"avatar_url":`...), p.AvatarURL)
	b = append(append(b, `,"attributes":`...), p.Attributes...)
	return append(b, '}')
}

// addBodies adds metadata to an ETag: the one of an entry can come back in another state.
func addBodies(etag wire.ETag, bodies []string) wire.ETag {
	if bodies == nil {
		return etag
	}
	etag = etag.Text("metadata")
	for _, body := range bodies {
		etag = etag.Text(body)
	}
	return etag
}

// appendMetadata appends the member metadata to the object of entry i, when it has some.
func appendMetadata(b []byte, bodies []string, i int) []byte {
	if bodies == nil || bodies[i] == "" {
		return b
	}
	return append(append(b, `,"metadata":`...), bodies[i]...)
}

// form returns that of an answer.
func (on *target) form() wire.EntryForm {
	return wire.EntryForm{Mode: on.query.Mode, Tie: &on.ref.Rules.Tiebreak}
}

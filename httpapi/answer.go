package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// ETag begins the ETag of an answer of this route; the route's own parameters are added to it.
func (c *Call) ETag(on *Target, st *leaderboard.State) wire.ETag {
	return wire.NewETag(&on.Ref, st, c.Route.Path, on.Query.Mode)
}

// Answer sends a reading answer: the common members, then what body appends.
func (c *Call) Answer(on *Target, st *leaderboard.State, etag wire.ETag, body func([]byte) []byte) error {
	st = on.marked(st)
	return c.Respond(on, st, etag, func(b []byte) []byte { return body(appendCommon(b, on, st)) })
}

// marked returns the state of an answer, marked stale when what is known of the board is.
func (on *Target) marked(st *leaderboard.State) *leaderboard.State {
	if !on.Ref.Stale || st.Stale {
		return st
	}
	marked := *st
	marked.Stale = true
	return &marked
}

// Respond sends what body appends, without the brace at the end. A client that has this state already gets 304, unless the
// answer is stale, which the client must see.
func (c *Call) Respond(on *Target, st *leaderboard.State, hash wire.ETag, body func([]byte) []byte) error {
	if c.notModified(on, st, []string{c.form(hash).Tag(st.Seq)}) {
		return nil
	}
	return c.SendAppended(func(b []byte) []byte { return append(body(b), '}') })
}

// notModified answers a client that has the answer already, in one form or the other, unless it is stale, which the client
// must see. For other clients it sets the ETag of the plain form.
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

// AppendPositioned appends the member entries of an answer about given members, each with its position.
func AppendPositioned(b []byte, on *Target, s *leaderboard.Standings, shown *Besides) []byte {
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

// AppendPosition appends the member position: numbered as the mode does, in mode all as the board does.
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
	leaderboard.MetadataReader
}

// Feed says what was committed to periods.
type Feed interface {
	// Fresh reports whether an answer about a period may still go out after slow work. It never blocks.
	Fresh(period int64, r leaderboard.Revision) bool
	// Changed blocks until a period has something newer than a revision, or is gone. It ends with ctx, with an error.
	Changed(ctx context.Context, period int64, than leaderboard.Revision) error
}

// ProfileLoader finds profiles as Profiles does.
type ProfileLoader interface {
	ProfilesOf(ctx context.Context, members []string) ([]*leaderboard.Profile, error)
}

// ProfileFinder finds the profiles of an answer, and answers with metadata.
type ProfileFinder struct {
	Rankings Rankings
	Profiles ProfileLoader
	Feed     Feed
}

// Besides are the profiles and the metadata that an answer shows beside its entries. The zero value is none.
type Besides struct {
	asked    bool
	profiles []*leaderboard.Profile // by the index of the entry, nil for a member without one
	Metadata []string               // likewise, "" for none; nil when it is not asked for
}

// slowProfiles is how long a look-up of profiles may take before the answer that shows them is judged again.
const slowProfiles = 50 * time.Millisecond

// Of finds the profiles of an answer's members, in one query, when the request has ?profiles=true. When they cannot be
// looked up, those cached are shown and the state is marked stale: there may be something newer. So it is when the look-up
// took so long that the answer is no longer the newest.
func (l ProfileFinder) Of(c *Call, on *Target, st *leaderboard.State, n int, member func(i int) string) Besides {
	return l.Find(c, on.Profiles, st, func() bool { return l.Feed.Fresh(on.Ref.ID, st.Revision) }, n, member)
}

// OfEntries is Of for a run of entries.
func (l ProfileFinder) OfEntries(c *Call, on *Target, st *leaderboard.State, entries []leaderboard.Ranked) Besides {
	return l.Of(c, on, st, len(entries), func(i int) string { return entries[i].Member })
}

// Find finds the profiles of an answer's n members when they are asked for. fresh reports whether the answer may still be shown.
func (l ProfileFinder) Find(c *Call, asked bool, st *leaderboard.State, fresh func() bool, n int, member func(i int) string) Besides {
	if !asked {
		return Besides{}
	}
	members := make([]string, n)
	for i := range members {
		members[i] = member(i)
	}
	began := time.Now()
	profiles, err := l.Profiles.ProfilesOf(c.Ctx, members)
	if err != nil || time.Since(began) > slowProfiles && !fresh() {
		st.Stale = true
	}
	return Besides{asked: true, profiles: profiles}
}

// AddTo adds profiles and metadata to an answer's ETag: a profile can change when the entries do not.
func (s *Besides) AddTo(etag wire.ETag) wire.ETag {
	etag = AddBodies(etag, s.Metadata)
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

// AppendTo appends the members metadata and profile to the object of entry i, those that it has.
func (s *Besides) AppendTo(b []byte, i int) []byte {
	b = AppendMetadata(b, s.Metadata, i)
	if !s.asked || s.profiles[i] == nil {
		return b
	}
	p := s.profiles[i]
	b = wire.AppendString(append(b, `,"profile":{"display_name":`...), p.DisplayName)
	b = wire.AppendString(append(b, `,"avatar_url":`...), p.AvatarURL)
	b = append(append(b, `,"attributes":`...), p.Attributes...)
	return append(b, '}')
}

// AddBodies adds metadata to an ETag: the one of an entry can come back in another state.
func AddBodies(etag wire.ETag, bodies []string) wire.ETag {
	if bodies == nil {
		return etag
	}
	etag = etag.Text("metadata")
	for _, body := range bodies {
		etag = etag.Text(body)
	}
	return etag
}

// AppendMetadata appends the member metadata to the object of entry i, when it has some.
func AppendMetadata(b []byte, bodies []string, i int) []byte {
	if bodies == nil || bodies[i] == "" {
		return b
	}
	return append(append(b, `,"metadata":`...), bodies[i]...)
}

// Form returns the form of the entries in an answer.
func (on *Target) Form() wire.EntryForm {
	return wire.EntryForm{Mode: on.Query.Mode, Tie: &on.Ref.Rules.Tiebreak}
}

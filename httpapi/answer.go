package httpapi

import (
	"context"
	"encoding/binary"
	"net/http"
	"strconv"
	"strings"
	"time"

	"leaderboard"
)

// etag begins the ETag of an answer of this route; the route's own parameters are added to it.
func (c *call) etag(on *target, st *leaderboard.State) etagHash {
	return newETag(&on.ref, st, c.route.path, on.query.Mode)
}

// answer sends a reading answer: the common members, then what body appends.
func (c *call) answer(on *target, st *leaderboard.State, etag etagHash, body func([]byte) []byte) error {
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

// respond sends what body appends, without the brace at the end. A client that has this state of it already is told so,
// unless the answer is stale: that has to be seen.
func (c *call) respond(on *target, st *leaderboard.State, hash etagHash, body func([]byte) []byte) error {
	if c.notModified(on, st, []string{c.form(hash).etag(st.Seq)}) {
		return nil
	}
	return c.sendAppended(func(b []byte) []byte { return append(body(b), '}') })
}

// form adds to an answer's ETag in which form its numbers are.
func (c *call) form(hash etagHash) etagHash {
	if c.strings {
		return hash.text(numbersString)
	}
	return hash
}

// notModified answers a client that has an answer already, in one form or the other, unless it is stale: that has to be
// seen. For the others it sets what the answer says of itself as a whole, its plain form.
func (c *call) notModified(on *target, st *leaderboard.State, etag []string) bool {
	c.resolved.period, c.resolved.revision, c.resolved.stale = on.ref.Name, st.Revision, st.Stale
	h := c.w.Header()
	h["Etag"] = etag
	h["Cache-Control"] = c.cacheControl(on, st)
	match := c.r.Header["If-None-Match"]
	if match == nil || st.Stale {
		return false
	}
	tag, ok := noneMatch(match, etag[0])
	if ok {
		h["Etag"] = []string{tag}
		h["Vary"] = c.shared.values.vary
		c.sendNothing(http.StatusNotModified)
	}
	return ok
}

// cacheControl lets caches keep an answer only to ask whether it still holds, unless it holds for good.
func (c *call) cacheControl(on *target, st *leaderboard.State) []string {
	values := &c.shared.values
	switch {
	case st.Stale:
		return values.noStore
	case on.private:
		return values.private
	default:
		return values.public
	}
}

// appendCommon opens an answer with the members that all reading answers share; a comma follows them.
func appendCommon(b []byte, on *target, st *leaderboard.State) []byte {
	b = appendString(append(b, `{"board":`...), on.ref.Board)
	b = appendString(append(b, `,"window":`...), string(on.ref.Window))
	b = appendString(append(b, `,"period":`...), on.ref.Name)
	b = appendString(append(b, `,"mode":`...), string(on.query.Mode))
	b = strconv.AppendInt(append(b, `,"total":`...), st.Total, 10)
	b = strconv.AppendInt(append(b, `,"seq":`...), st.Seq, 10)
	b = appendTime(append(b, `,"as_of":`...), st.AsOf)
	b = appendString(append(b, `,"source":`...), string(st.Source))
	b = strconv.AppendBool(append(b, `,"stale":`...), st.Stale)
	return append(b, ',')
}

// appendPositioned appends the member entries of an answer about given members, each with its position.
func appendPositioned(b []byte, on *target, s *leaderboard.Standings, shown *shownProfiles) []byte {
	b = append(b, `"entries":[`...)
	for i := range s.Entries {
		e := &s.Entries[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendRanked(append(b, '{'), on.form(), &e.Ranked)
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

// ProfileLookup finds what is shown of members beside their entries. It may be called concurrently.
type ProfileLookup interface {
	// ProfilesOf are the profiles of members in their order, nil where there is none. They may be half a minute old,
	// except for what was put here. With an error they are those cached, however old.
	ProfilesOf(ctx context.Context, members []string) ([]*leaderboard.Profile, error)
}

// profileFinder finds the profiles of an answer.
type profileFinder struct {
	profiles ProfileLookup
	fresh    func(period int64, r leaderboard.Revision) bool // Config.Fresh
}

// shownProfiles are the profiles that an answer shows beside its entries. The zero value is none.
type shownProfiles struct {
	asked    bool
	profiles []*leaderboard.Profile // by the index of the entry, nil for a member without one
}

// slowProfiles is what a look-up of profiles may take before the answer beside which they are shown is judged again.
const slowProfiles = 50 * time.Millisecond

// of finds the profiles of an answer's members, in one query, when the request has ?profiles=true. When they cannot be
// looked up, those cached are shown and the state is marked stale: there may be something newer. So it is when the look-up
// took so long that the answer is no longer the newest.
func (l profileFinder) of(c *call, on *target, st *leaderboard.State, n int, member func(i int) string) shownProfiles {
	return l.find(c, on.profiles, st, func() bool { return l.fresh(on.ref.ID, st.Revision) }, n, member)
}

// ofEntries is of for a run of entries.
func (l profileFinder) ofEntries(c *call, on *target, st *leaderboard.State, entries []leaderboard.Ranked) shownProfiles {
	return l.of(c, on, st, len(entries), func(i int) string { return entries[i].Member })
}

// ofSelection is of for an answer about several boards, each in a state of its own.
func (l profileFinder) ofSelection(c *call, s *selection, st *leaderboard.State, a *combinedAnswer) shownProfiles {
	fresh := func() bool {
		for i := range a.states {
			if !l.fresh(s.refs[i].ID, a.states[i].Revision) {
				return false
			}
		}
		return true
	}
	return l.find(c, s.profiles, st, fresh, a.n, func(i int) string { return a.entry(i).Member })
}

func (l profileFinder) find(c *call, asked bool, st *leaderboard.State, fresh func() bool, n int, member func(i int) string) shownProfiles {
	if !asked {
		return shownProfiles{}
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
	return shownProfiles{asked: true, profiles: profiles}
}

// addTo adds what is shown to an answer's ETag: a profile can change when the entries do not.
func (s *shownProfiles) addTo(etag etagHash) etagHash {
	if !s.asked {
		return etag
	}
	etag = etag.text("profiles")
	for _, p := range s.profiles {
		if p == nil {
			etag = etag.int(0)
		} else {
			etag = etag.int(1).text(p.DisplayName).text(p.AvatarURL).text(string(p.Attributes))
		}
	}
	return etag
}

// appendTo appends the member profile to the object of entry i, when it has one.
func (s *shownProfiles) appendTo(b []byte, i int) []byte {
	if !s.asked || s.profiles[i] == nil {
		return b
	}
	p := s.profiles[i]
	b = appendString(append(b, `,"profile":{"display_name":`...), p.DisplayName)
	b = appendString(append(b, `,"avatar_url":`...), p.AvatarURL)
	b = append(append(b, `,"attributes":`...), p.Attributes...)
	return append(b, '}')
}

// The answers that are served most are encoded by appending; the tests compare the result with encoding/json.

func appendTime(b []byte, t leaderboard.Micros) []byte {
	return append(t.AppendTo(append(b, '"')), '"')
}

// appendOptInt and appendOptTime write null for nil.
func appendOptInt(b []byte, v *int64) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, *v, 10)
}

func appendOptTime(b []byte, t *leaderboard.Micros) []byte {
	if t == nil {
		return append(b, "null"...)
	}
	return appendTime(b, *t)
}

// appendRanked appends the members of an entry's object, without the braces.
func appendRanked(b []byte, f form, r *leaderboard.Ranked) []byte {
	return appendEntry(append(appendRanks(b, f.mode, &r.Ranks), ','), f.tie, &r.Entry)
}

// form is what entries look like besides what they are: their ranks in a mode, and the board's rules of tiebreaks.
type form struct {
	mode leaderboard.Mode
	tie  *leaderboard.Tiebreak
}

// form returns that of an answer.
func (on *target) form() form { return form{on.query.Mode, &on.ref.Rules.Tiebreak} }

// appendRanks appends the member rank, or one for each mode.
func appendRanks(b []byte, mode leaderboard.Mode, r *leaderboard.Ranks) []byte {
	if mode != leaderboard.ModeAll {
		return strconv.AppendInt(append(b, `"rank":`...), r.In(mode), 10)
	}
	return appendDense(append(appendStrictTied(b, r), ','), r)
}

func appendStrictTied(b []byte, r *leaderboard.Ranks) []byte {
	b = strconv.AppendInt(append(b, `"strict_rank":`...), r.Strict, 10)
	return strconv.AppendInt(append(b, `,"tied_rank":`...), r.Tied, 10)
}

// appendDense appends the member dense_rank, null when that is not known.
func appendDense(b []byte, r *leaderboard.Ranks) []byte {
	b = append(b, `"dense_rank":`...)
	if r.Dense == 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, r.Dense, 10)
}

func appendEntry(b []byte, tie *leaderboard.Tiebreak, e *leaderboard.Entry) []byte {
	b = appendString(append(b, `"member":`...), e.Member)
	b = strconv.AppendInt(append(b, `,"score":`...), e.Score, 10)
	b = appendTiebreak(append(b, ','), tie, e.Tiebreak)
	return appendTime(append(b, `,"created_time":`...), e.CreatedTime)
}

// appendTiebreak appends the member tiebreak, and fields when the board has any.
func appendTiebreak(b []byte, tie *leaderboard.Tiebreak, v int64) []byte {
	b = strconv.AppendInt(append(b, `"tiebreak":`...), v, 10)
	if len(tie.Fields) == 0 {
		return b
	}
	b = append(b, `,"fields":{`...)
	for i, f := range tie.Unpack(v) {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(appendString(b, f.Name), ':'), f.Value, 10)
	}
	return append(b, '}')
}

func appendPercentile(b []byte, tied, total int64) []byte {
	return strconv.AppendFloat(append(b, `"percentile":`...), leaderboard.Percentile(tied, total), 'f', -1, 64)
}

// etagHash is a strong ETag in the making: the hash of the state of the period and of the query in normal form, but not
// of where the answer came from. It is the same on every server.
type etagHash uint64

// answerFormat changes with the form of the answers.
const answerFormat = 2

// newETag begins the hash of an answer of a route.
func newETag(ref *leaderboard.PeriodRef, st *leaderboard.State, route string, mode leaderboard.Mode) etagHash {
	h := emptyETag.int(answerFormat).int(ref.ID).int(st.Incarnation).int(st.Seq).int(int64(st.AsOf)).text(route).text(string(mode))
	if len(ref.Rules.Tiebreak.Fields) > 0 { // while a board has no entries they may change
		h = h.text(ref.Rules.Tiebreak.Layout())
	}
	return h
}

// emptyETag is where the hash begins.
const emptyETag = etagHash(14695981039346656037)

// int adds a number: FNV-1a with 64 bits at a time in the place of 8, and a shift that brings the high ones down.
func (h etagHash) int(v int64) etagHash {
	h = (h ^ etagHash(v)) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

func (h etagHash) text(s string) etagHash {
	h = h.int(int64(len(s)))
	for ; len(s) > 8; s = s[8:] {
		h = h.int(int64(binary.LittleEndian.Uint64([]byte(s[:8]))))
	}
	var end [8]byte
	copy(end[:], s)
	return h.int(int64(binary.LittleEndian.Uint64(end[:])))
}

// dense adds whether an answer in mode all knows a dense rank, which does not follow from the state: copies of it count
// less deep than others.
func (h etagHash) dense(mode leaderboard.Mode, r *leaderboard.Ranks) etagHash {
	if mode != leaderboard.ModeAll {
		return h
	}
	return h.int(min(1, r.Dense))
}

// denseOf is dense for a page, of which all entries are known or none.
func (h etagHash) denseOf(mode leaderboard.Mode, entries []leaderboard.Ranked) etagHash {
	if len(entries) == 0 {
		return h
	}
	return h.dense(mode, &entries[0].Ranks)
}

// etag returns the header's value: the seq, for people, and the hash.
func (h etagHash) etag(seq int64) string {
	b := make([]byte, 0, 40)
	b = append(b, '"')
	b = strconv.AppendInt(b, seq, 10)
	b = append(b, '-')
	b = strconv.AppendUint(b, uint64(h), 16)
	return string(append(b, '"'))
}

// noneMatch says whether If-None-Match names an answer by the tag of its plain form or of its compressed one, and by
// which (weak comparison, RFC 9110 section 13.1.2).
func noneMatch(headers []string, etag string) (tag string, ok bool) {
	for _, h := range headers {
		for h != "" {
			h = strings.TrimLeft(h, ", \t")
			if strings.HasPrefix(h, "*") {
				return etag, true
			}
			h = strings.TrimPrefix(h, "W/")
			if !strings.HasPrefix(h, `"`) {
				break // not a list of tags: as if it were not there
			}
			end := strings.IndexByte(h[1:], '"')
			if end < 0 {
				break
			}
			tag := h[:end+2]
			if isForm(tag, etag) {
				return tag, true
			}
			h = h[end+2:]
		}
	}
	return "", false
}

// isForm says whether tag is that of an answer's plain form, etag, or that of its compressed one.
func isForm(tag, etag string) bool {
	return tag == etag || strings.HasSuffix(tag, gzipTagEnd) && tag[:len(tag)-len(gzipTagEnd)] == etag[:len(etag)-1]
}

// strongMatch says whether If-Match names an answer in one of its forms, or is * (strong comparison: a weak tag names
// nothing, RFC 9110 section 13.1.1).
func strongMatch(headers []string, etag string) bool {
	for _, h := range headers {
		for tag := range strings.SplitSeq(h, ",") {
			if tag = strings.Trim(tag, " \t"); tag == "*" || isForm(tag, etag) {
				return true
			}
		}
	}
	return false
}

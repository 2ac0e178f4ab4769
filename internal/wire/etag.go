package wire

import (
	"encoding/binary"
	"strconv"
	"strings"

	"leaderboard/leaderboard"
)

// ETag is a strong ETag in the making: the hash of the state of the period and of the query in normal form, but not
// of where the answer came from. It is the same on every server.
type ETag uint64

// AnswerFormat changes with the form of the answers.
const AnswerFormat = 2

// NewETag begins the hash of an answer of a route.
func NewETag(ref *leaderboard.PeriodRef, st *leaderboard.State, route string, mode leaderboard.Mode) ETag {
	h := EmptyETag.Int(AnswerFormat).Int(ref.ID).Int(st.Incarnation).Int(st.Seq).Int(int64(st.AsOf)).Text(route).Text(string(mode))
	if len(ref.Rules.Tiebreak.Fields) > 0 { // while a board has no entries they may change
		h = h.Text(ref.Rules.Tiebreak.Layout())
	}
	return h
}

// EmptyETag is the hash of nothing.
const EmptyETag = ETag(14695981039346656037)

// Int adds a number: FNV-1a with 64 bits at a time instead of 8, and a shift that brings the high bits down.
func (h ETag) Int(v int64) ETag {
	h = (h ^ ETag(v)) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

// Text adds a string and its length.
func (h ETag) Text(s string) ETag {
	h = h.Int(int64(len(s)))
	for ; len(s) > 8; s = s[8:] {
		h = h.Int(int64(binary.LittleEndian.Uint64([]byte(s[:8]))))
	}
	var end [8]byte
	copy(end[:], s)
	return h.Int(int64(binary.LittleEndian.Uint64(end[:])))
}

// Dense adds whether an answer in mode all has a dense rank. This does not follow from the state: copies of one state may know
// dense ranks to different depths.
func (h ETag) Dense(mode leaderboard.Mode, r *leaderboard.Ranks) ETag {
	if mode != leaderboard.ModeAll {
		return h
	}
	return h.Int(min(1, r.Dense))
}

// DenseOf is Dense for a page: all its entries have a dense rank, or no entry has.
func (h ETag) DenseOf(mode leaderboard.Mode, entries []leaderboard.Ranked) ETag {
	if len(entries) == 0 {
		return h
	}
	return h.Dense(mode, &entries[0].Ranks)
}

// Tag returns the header's value: the seq, for people, and the hash.
func (h ETag) Tag(seq int64) string {
	b := make([]byte, 0, 40)
	b = append(b, '"')
	b = strconv.AppendInt(b, seq, 10)
	b = append(b, '-')
	b = strconv.AppendUint(b, uint64(h), 16)
	return string(append(b, '"'))
}

// NoneMatch reports whether If-None-Match names an answer by the tag of its plain form or of its compressed form, and returns that
// tag (weak comparison, RFC 9110 section 13.1.2).
func NoneMatch(headers []string, etag string) (tag string, ok bool) {
	for _, h := range headers {
		for h != "" {
			h = strings.TrimLeft(h, ", \t")
			if strings.HasPrefix(h, "*") {
				return etag, true
			}
			h = strings.TrimPrefix(h, "W/")
			if !strings.HasPrefix(h, `"`) {
				break // not a list of tags: the header is ignored
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

// isForm reports whether tag is etag, the tag of an answer's plain form, or the tag of its compressed form.
func isForm(tag, etag string) bool {
	return tag == etag || strings.HasSuffix(tag, GzipTagEnd) && tag[:len(tag)-len(GzipTagEnd)] == etag[:len(etag)-1]
}

// StrongMatch reports whether If-Match names an answer in one of its forms, or is * (strong comparison: a weak tag names
// nothing, RFC 9110 section 13.1.1).
func StrongMatch(headers []string, etag string) bool {
	for _, h := range headers {
		for tag := range strings.SplitSeq(h, ",") {
			if tag = strings.Trim(tag, " \t"); tag == "*" || isForm(tag, etag) {
				return true
			}
		}
	}
	return false
}

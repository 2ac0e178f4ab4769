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

// EmptyETag is where the hash begins.
const EmptyETag = ETag(14695981039346656037)

// Int adds a number: FNV-1a with 64 bits at a time in the place of 8, and a shift that brings the high ones down.
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

// Dense adds whether an answer in mode all knows a dense rank, which does not follow from the state: copies of it count
// less deep than others.
func (h ETag) Dense(mode leaderboard.Mode, r *leaderboard.Ranks) ETag {
	if mode != leaderboard.ModeAll {
		return h
	}
	return h.Int(min(1, r.Dense))
}

// DenseOf is Dense for a page, of which all entries are known or none.
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

// NoneMatch reports whether If-None-Match names an answer by the tag of its plain form or of its compressed one, and by
// which (weak comparison, RFC 9110 section 13.1.2).
func NoneMatch(headers []string, etag string) (tag string, ok bool) {
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

// isForm reports whether tag is that of an answer's plain form, etag, or that of its compressed one.
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

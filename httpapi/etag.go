package httpapi

import (
	"strconv"
	"strings"

	"leaderboard"
)

// tag gathers what a representation is made of into a strong ETag: the state of the period and the question, in
// normal form, but not where the answer came from. FNV-1a, the same on every server.
type tag uint64

// tagFormat changes with the form of the answers.
const tagFormat = 1

// emptyTag is where the hash begins.
const emptyTag = tag(14695981039346656037)

func newTag(ref *leaderboard.PeriodRef, st *leaderboard.State, route string, mode leaderboard.Mode) tag {
	t := emptyTag.int(tagFormat).int(ref.ID).int(st.Seq).int(int64(st.AsOf)).text(route).text(string(mode))
	if len(ref.Rules.Tiebreak.Fields) > 0 { // while a board has no entries they may change
		t = t.text(ref.Rules.Tiebreak.Layout())
	}
	return t
}

func (t tag) int(v int64) tag {
	for range 8 {
		t = (t ^ tag(v&0xff)) * 1099511628211
		v >>= 8
	}
	return t
}

func (t tag) text(s string) tag {
	t = t.int(int64(len(s)))
	for i := range len(s) {
		t = (t ^ tag(s[i])) * 1099511628211
	}
	return t
}

// etag is the header's value: the seq, for people, and the hash.
func (t tag) etag(seq int64) string {
	b := make([]byte, 0, 40)
	b = append(b, '"')
	b = strconv.AppendInt(b, seq, 10)
	b = append(b, '-')
	b = strconv.AppendUint(b, uint64(t), 16)
	return string(append(b, '"'))
}

// noneMatch says whether If-None-Match names etag (weak comparison, RFC 9110 section 13.1.2).
func noneMatch(headers []string, etag string) bool {
	for _, h := range headers {
		for h != "" {
			h = strings.TrimLeft(h, ", \t")
			if strings.HasPrefix(h, "*") {
				return true
			}
			h = strings.TrimPrefix(h, "W/")
			if !strings.HasPrefix(h, `"`) {
				break // not a list of tags: as if it were not there
			}
			end := strings.IndexByte(h[1:], '"')
			if end < 0 {
				break
			}
			if h[:end+2] == etag {
				return true
			}
			h = h[end+2:]
		}
	}
	return false
}

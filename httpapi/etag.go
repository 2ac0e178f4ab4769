package httpapi

import (
	"encoding/binary"
	"strconv"
	"strings"

	"leaderboard"
)

// etagHash is a strong ETag in the making: the hash of the state of the period and of the query in normal form, but not
// of where the answer came from. It is the same on every server.
type etagHash uint64

// answerFormat changes with the form of the answers.
const answerFormat = 2

// newETag begins the hash of an answer of a route.
func newETag(ref *leaderboard.PeriodRef, st *leaderboard.State, route string, mode leaderboard.Mode) etagHash {
	h := emptyETag.int(answerFormat).int(ref.ID).int(st.History).int(st.Seq).int(int64(st.AsOf)).text(route).text(string(mode))
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
			if tag == etag || strings.HasSuffix(tag, gzipTagEnd) && tag[:len(tag)-len(gzipTagEnd)] == etag[:len(etag)-1] {
				return tag, true
			}
			h = h[end+2:]
		}
	}
	return "", false
}

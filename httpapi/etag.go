package httpapi

import (
	"strconv"
	"strings"

	"leaderboard"
)

// etagHash is a strong ETag in the making: the hash of the state of the period and of the query in normal form, but not
// of where the answer came from. FNV-1a, the same on every server.
type etagHash uint64

// answerFormat changes with the form of the answers.
const answerFormat = 1

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

func (h etagHash) int(v int64) etagHash {
	for range 8 {
		h = (h ^ etagHash(v&0xff)) * 1099511628211
		v >>= 8
	}
	return h
}

func (h etagHash) text(s string) etagHash {
	h = h.int(int64(len(s)))
	for i := range len(s) {
		h = (h ^ etagHash(s[i])) * 1099511628211
	}
	return h
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

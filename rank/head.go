package rank

import (
	"cmp"
	"encoding/binary"

	"leaderboard"
)

// Head is the part of a Key ahead of the member as three numbers: score, tiebreak and created_time, each such that less
// is better. Heads of one board compare like the first HeadLen bytes of keys.
type Head [3]uint64

// Head returns the head of an entry's key.
func (c Codec) Head(e *leaderboard.Entry) Head {
	s, t := c.Stored(e.Score, e.Tiebreak)
	return Head{^(uint64(s) ^ signBit), ^(uint64(t) ^ signBit), uint64(e.CreatedTime) ^ signBit}
}

// HeadOf returns the head of a key, which is not shorter than that.
func HeadOf(k Key) Head {
	return Head{beUint64(k[0:8]), beUint64(k[8:16]), beUint64(k[16:24])}
}

// Decode returns the entry with a head, without its member.
func (c Codec) Decode(h Head) leaderboard.Entry {
	e := leaderboard.Entry{CreatedTime: leaderboard.Micros(h[2] ^ signBit)}
	e.Score, e.Tiebreak = c.Stored(int64(^h[0]^signBit), int64(^h[1]^signBit))
	return e
}

// Compare returns -1 when h is ranked before o, 1 when after, and 0 when the member decides.
func (h *Head) Compare(o *Head) int {
	if h[0] != o[0] {
		return cmp.Compare(h[0], o[0])
	}
	if h[1] != o[1] {
		return cmp.Compare(h[1], o[1])
	}
	return cmp.Compare(h[2], o[2])
}

// Tied says whether two heads have the same score and tiebreak.
func (h *Head) Tied(o *Head) bool { return h[0] == o[0] && h[1] == o[1] }

// AppendTo appends the bytes that a key begins with.
func (h *Head) AppendTo(b []byte) []byte {
	for _, v := range h {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

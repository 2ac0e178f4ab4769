package rank

import (
	"cmp"
	"encoding/binary"
	"errors"

	"leaderboard/leaderboard"
)

// Key is the sort key of an entry: 24 bytes and the member.
type Key string

const (
	// ScoreLen is the length of the score, the first part of a key.
	ScoreLen = 8
	// PrefixLen is the length of the part of a key that tied entries share.
	PrefixLen = 16
	// HeadLen is the length of a key without the member.
	HeadLen = 24

	signBit = 1 << 63
)

// ErrKey means that a key has no valid form.
var ErrKey = errors.New("rank: not a sort key")

// Codec converts entries of one board to keys and back. Its zero value is for a board that is descending in score and
// tiebreak. Each field is XORed into the stored value: 0 where higher is better, -1 (all bits) where lower is.
type Codec struct {
	score, tiebreak int64
}

// CodecOf returns the codec of a board with these rules.
func CodecOf(r *leaderboard.Rules) Codec {
	var c Codec
	if r.Order == leaderboard.OrderAsc {
		c.score = -1
	}
	if r.Tiebreak.Order == leaderboard.OrderAsc {
		c.tiebreak = -1
	}
	return c
}

// Stored returns the form of score and tiebreak in MySQL, where higher is always better; it is its own inverse.
func (c Codec) Stored(score, tiebreak int64) (int64, int64) {
	return score ^ c.score, tiebreak ^ c.tiebreak
}

// Key returns the sort key of an entry.
func (c Codec) Key(e leaderboard.Entry) Key {
	var room [HeadLen + leaderboard.MaxMember]byte // keeps the one allocation to the result
	b := c.appendPrefix(room[:0], e.Score, e.Tiebreak)
	b = binary.BigEndian.AppendUint64(b, uint64(e.CreatedTime)^signBit)
	return Key(append(b, e.Member...))
}

// Prefix returns the part of the key that all entries with this score and tiebreak share.
func (c Codec) Prefix(score, tiebreak int64) Key {
	var room [PrefixLen]byte
	return Key(c.appendPrefix(room[:0], score, tiebreak))
}

func (c Codec) appendPrefix(b []byte, score, tiebreak int64) []byte {
	s, t := c.Stored(score, tiebreak)
	b = binary.BigEndian.AppendUint64(b, ^(uint64(s) ^ signBit))
	return binary.BigEndian.AppendUint64(b, ^(uint64(t) ^ signBit))
}

// Entry decodes a key.
func (c Codec) Entry(k Key) (leaderboard.Entry, error) {
	if !k.Valid() {
		return leaderboard.Entry{}, ErrKey
	}
	s := int64(^beUint64(k[0:8]) ^ signBit)
	t := int64(^beUint64(k[8:16]) ^ signBit)
	e := leaderboard.Entry{Member: string(k[HeadLen:]), CreatedTime: leaderboard.Micros(beUint64(k[16:24]) ^ signBit)}
	e.Score, e.Tiebreak = c.Stored(s, t)
	return e, nil
}

// Valid reports whether k has the form of a key: a head and a member of 1 to 64 bytes.
func (k Key) Valid() bool { return len(k) > HeadLen && len(k) <= HeadLen+leaderboard.MaxMember }

// Prefix returns the part that tied entries share.
func (k Key) Prefix() Key { return k[:PrefixLen] }

// Member returns the member at the end of the key.
func (k Key) Member() string { return string(k[HeadLen:]) }

// Tied reports whether two keys have the same score and tiebreak.
func Tied(a, b Key) bool { return a[:PrefixLen] == b[:PrefixLen] }

func beUint64(k Key) uint64 {
	_ = k[7]
	return uint64(k[0])<<56 | uint64(k[1])<<48 | uint64(k[2])<<40 | uint64(k[3])<<32 |
		uint64(k[4])<<24 | uint64(k[5])<<16 | uint64(k[6])<<8 | uint64(k[7])
}

// Head is a Key without the member, as three numbers: score, tiebreak and created_time, each such that less is better.
// Heads of one board compare like the first HeadLen bytes of keys.
type Head [3]uint64

// Head returns the head of an entry's key.
func (c Codec) Head(e *leaderboard.Entry) Head {
	s, t := c.Stored(e.Score, e.Tiebreak)
	return Head{^(uint64(s) ^ signBit), ^(uint64(t) ^ signBit), uint64(e.CreatedTime) ^ signBit}
}

// HeadOf returns the head of a key of at least HeadLen bytes.
func HeadOf(k Key) Head {
	return Head{beUint64(k[0:8]), beUint64(k[8:16]), beUint64(k[16:24])}
}

// Decode returns the entry of a head, without its member.
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

// Tied reports whether two heads have the same score and tiebreak.
func (h *Head) Tied(o *Head) bool { return h[0] == o[0] && h[1] == o[1] }

// Better reports whether h has a better score and tiebreak than o.
func (h *Head) Better(o *Head) bool { return h[0] < o[0] || h[0] == o[0] && h[1] < o[1] }

// AppendTo appends the first HeadLen bytes of the key.
func (h *Head) AppendTo(b []byte) []byte {
	for _, v := range h {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

package rank

import (
	"encoding/binary"
	"errors"

	"leaderboard"
)

// Key is the sort key of an entry, 24 bytes and the member.
type Key string

const (
	// ScoreLen is the length of the score, with which a key begins.
	ScoreLen = 8
	// PrefixLen is the length of the part of a key that tied entries share.
	PrefixLen = 16
	// HeadLen is the length of a key ahead of the member.
	HeadLen = 24

	signBit = 1 << 63
)

// ErrKey is a key that no entry has.
var ErrKey = errors.New("rank: not a sort key")

// Codec turns entries of one board into keys and back. Its zero value is a board that is descending in score and
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

// Stored returns the form of score and tiebreak in MySQL, higher is better in both; it is its own inverse.
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

// Valid says whether k has the form of a key: a head and a member of 1 to 64 bytes.
func (k Key) Valid() bool { return len(k) > HeadLen && len(k) <= HeadLen+leaderboard.MaxMember }

// Prefix returns the part that tied entries share.
func (k Key) Prefix() Key { return k[:PrefixLen] }

// Member returns the member that the key ends with.
func (k Key) Member() string { return string(k[HeadLen:]) }

// Tied says whether two keys have the same score and tiebreak.
func Tied(a, b Key) bool { return a[:PrefixLen] == b[:PrefixLen] }

func beUint64(k Key) uint64 {
	_ = k[7]
	return uint64(k[0])<<56 | uint64(k[1])<<48 | uint64(k[2])<<40 | uint64(k[3])<<32 |
		uint64(k[4])<<24 | uint64(k[5])<<16 | uint64(k[6])<<8 | uint64(k[7])
}

package entries

import (
	"errors"
	"fmt"

	"leaderboard"
	"leaderboard/rank"
)

// The payload of a row of changes, format 1: a head of two bytes, the format and the orientation of the keys (bit 0:
// score ascending, bit 1: tiebreak ascending; it may differ from today's rules of the board), then per change a byte
// that says whether an old (bit 0) and a new entry (bit 1) follow, the length of the member, the member, and the first
// rank.HeadLen bytes of the keys. The seq of a change follows from its place.
const (
	payloadFormat = 1

	scoreAsc    = 1
	tiebreakAsc = 2

	hasOld = 1
	hasNew = 2
)

var ErrPayload = errors.New("store: damaged payload in the change log")

func EncodeChanges(b []byte, rules *leaderboard.Rules, changes []leaderboard.Change) []byte {
	var orientation byte
	if rules.Order == leaderboard.OrderAsc {
		orientation |= scoreAsc
	}
	if rules.Tiebreak.Order == leaderboard.OrderAsc {
		orientation |= tiebreakAsc
	}
	codec := rank.CodecOf(rules)
	b = append(b, payloadFormat, orientation)
	for _, c := range changes {
		var has byte
		if c.Old != nil {
			has |= hasOld
		}
		if c.New != nil {
			has |= hasNew
		}
		b = append(b, has, byte(len(c.Member)))
		b = append(b, c.Member...)
		for _, e := range []*leaderboard.Entry{c.Old, c.New} {
			if e != nil {
				b = append(b, codec.Key(*e)[:rank.HeadLen]...)
			}
		}
	}
	return b
}

// DecodeChanges reads what encodeChanges wrote.
func DecodeChanges(b []byte, firstSeq, lastSeq int64) ([]leaderboard.Change, error) {
	return decodeAs(b, firstSeq, lastSeq, orientedCodec)
}

// DecodeStored leaves scores and tiebreaks as they are stored, higher is better: the keys of the zero codec are those
// in the payload, whatever the rules of the board were then or are now.
func DecodeStored(b []byte, firstSeq, lastSeq int64) ([]leaderboard.Change, error) {
	return decodeAs(b, firstSeq, lastSeq, func(byte) rank.Codec { return rank.Codec{} })
}

func decodeAs(b []byte, firstSeq, lastSeq int64, codecOf func(orientation byte) rank.Codec) ([]leaderboard.Change, error) {
	if len(b) < 2 {
		return nil, ErrPayload
	}
	if b[0] != payloadFormat {
		return nil, fmt.Errorf("%w: format %d is not known to this version of the program", ErrPayload, b[0])
	}
	codec := codecOf(b[1])
	b = b[2:]
	var out []leaderboard.Change
	for seq := firstSeq; seq <= lastSeq; seq++ {
		if len(b) < 2 || len(b) < 2+int(b[1]) {
			return nil, ErrPayload
		}
		has, member := b[0], string(b[2:2+int(b[1])])
		b = b[2+int(b[1]):]
		c := leaderboard.Change{Seq: seq, Member: member}
		for _, side := range []struct {
			bit   byte
			entry **leaderboard.Entry
		}{{hasOld, &c.Old}, {hasNew, &c.New}} {
			if has&side.bit == 0 {
				continue
			}
			if len(b) < rank.HeadLen {
				return nil, ErrPayload
			}
			e, err := codec.Entry(rank.Key(b[:rank.HeadLen]) + rank.Key(member))
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrPayload, err)
			}
			*side.entry, b = &e, b[rank.HeadLen:]
		}
		out = append(out, c)
	}
	if len(b) != 0 {
		return nil, ErrPayload
	}
	return out, nil
}

func orientedCodec(orientation byte) rank.Codec {
	rules := leaderboard.Rules{Order: leaderboard.OrderDesc, Tiebreak: leaderboard.Tiebreak{Order: leaderboard.OrderDesc}}
	if orientation&scoreAsc != 0 {
		rules.Order = leaderboard.OrderAsc
	}
	if orientation&tiebreakAsc != 0 {
		rules.Tiebreak.Order = leaderboard.OrderAsc
	}
	return rank.CodecOf(&rules)
}

package entries

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// The payload of a row of changes, format 1: a head of two bytes, the format and the orientation of the keys (bit 0:
// score ascending, bit 1: tiebreak ascending; it may differ from today's rules of the board), then per change a byte
// that reports whether an old (bit 0) and a new entry (bit 1) follow, the length of the member, the member, and the first
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

// DecodeChanges reads the output of encodeChanges.
func DecodeChanges(b []byte, firstSeq, lastSeq int64) ([]leaderboard.Change, error) {
	return decodeAs(b, firstSeq, lastSeq, orientedCodec)
}

// DecodeStored leaves scores and tiebreaks in their stored form, higher is better: the keys of the zero codec are the keys
// in the payload, under all rules that the board may have had.
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

// Decoder reads the payload of a row of the log.
type Decoder func(payload []byte, firstSeq, lastSeq int64) ([]leaderboard.Change, error)

// LogPosition is the place in the log of a period where reading continues: after the state at a seq.
type LogPosition struct{ PeriodID, Seq int64 }

// ReadLog reads the change log of a period: at most limit commits after the state at fromSeq, in order. Errors:
// ErrPeriodNotFound; ErrLogPruned when the log does not have the commit that starts at fromSeq though the period is ahead of
// it, and rank.ErrDiverged too when a commit of another branch leads past it.
func ReadLog(ctx context.Context, d *mysql.DB, q mysql.Querier, periodID, fromSeq int64, limit int, decode Decoder) ([]leaderboard.Commit, error) {
	p := LogPosition{periodID, fromSeq}
	parts, err := readParts(ctx, d, q, placeText(p, limit), decode)
	if err != nil {
		return nil, err
	}
	part := p.check(parts[periodID])
	return part.Commits, part.Err
}

// ReadLogs reads the change logs of many periods, each given once and at most mysql.MaxRows, in one statement. Of each it
// reads the next commits with at most a number of changes, but at least one commit: many changes of one period do not delay
// the others. The errors of ReadLog are the Err of a part; the error is about all parts.
func ReadLogs(ctx context.Context, d *mysql.DB, q mysql.Querier, places []LogPosition, changes int, decode Decoder) (map[int64]leaderboard.LogPart, error) {
	if len(places) == 0 {
		return nil, nil
	}
	parts, err := readParts(ctx, d, q, placesText(places, changes), decode)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		part := parts[p.PeriodID]
		if part != nil && len(part.Commits) == 0 && part.At.Seq > p.Seq { // the next commit is larger, or pruned
			one, err := readParts(ctx, d, q, placeText(p, 1), decode)
			if err != nil {
				return nil, err
			}
			part = one[p.PeriodID]
		}
		parts[p.PeriodID] = p.check(part)
	}
	out := make(map[int64]leaderboard.LogPart, len(places))
	for id, part := range parts {
		out[id] = *part
	}
	return out, nil
}

// check returns the fault in the part of a log that was read, or nil.
func (p LogPosition) check(part *leaderboard.LogPart) *leaderboard.LogPart {
	switch {
	case part == nil:
		return &leaderboard.LogPart{Err: leaderboard.ErrPeriodNotFound}
	case part.Err != nil:
		part.Commits = nil
	case len(part.Commits) > 0 && part.Commits[0].From().Seq < p.Seq:
		part.Commits, part.Err = nil, fmt.Errorf("%w: a commit goes past %d: %w", leaderboard.ErrLogPruned, p.Seq, rank.ErrDiverged)
	case len(part.Commits) == 0 && part.At.Seq > p.Seq, len(part.Commits) > 0 && part.Commits[0].From().Seq != p.Seq:
		part.Commits, part.Err = nil, fmt.Errorf("%w: nothing starts at %d, the period is at %d", leaderboard.ErrLogPruned, p.Seq, part.At.Seq)
	}
	for i := 1; i < len(part.Commits); i++ {
		if part.Commits[i].From() != part.Commits[i-1].To() { // an error of the reader
			part.Commits = part.Commits[:i]
		}
	}
	return part
}

const (
	// stateText and commitText have the same columns: the first is a commit without a beginning, and the state of its period.
	stateText  = "SELECT id, incarnation, 0 AS first_seq, last_seq, committed_at AS prev_committed_at, committed_at, entry_count, state AS payload FROM periods WHERE state <> 'deleting' AND id IN ("
	commitText = ") UNION ALL (SELECT period_id, 0, first_seq, last_seq, prev_committed_at, committed_at, entry_count, payload FROM changes WHERE "
)

// placeText is the statement for the state of a period and the next commits of its log.
func placeText(p LogPosition, limit int) string {
	t := (&mysql.Text{}).Str(stateText).Int(p.PeriodID).Str(commitText).Str("period_id = ").Int(p.PeriodID)
	return t.Str(" AND last_seq > ").Int(p.Seq).Str(" ORDER BY last_seq LIMIT ").Int(int64(max(1, limit))).Str(")").String()
}

// placesText is the statement for the states of periods and the commits of their next changes.
func placesText(places []LogPosition, changes int) string {
	t := (&mysql.Text{}).Str(stateText)
	for i, p := range places {
		t.Comma(i).Int(p.PeriodID)
	}
	t.Str(commitText)
	for i, p := range places {
		if i > 0 {
			t.Str(" OR ")
		}
		t.Str("period_id = ").Int(p.PeriodID).Str(" AND last_seq > ").Int(p.Seq).Str(" AND last_seq <= ").Int(p.Seq + int64(max(1, changes)))
	}
	return t.Str(")").String()
}

// readParts returns the rows of each period, in order.
func readParts(ctx context.Context, d *mysql.DB, q mysql.Querier, text string, decode Decoder) (map[int64]*leaderboard.LogPart, error) {
	rows, err := q.QueryContext(ctx, d.Limited(text))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	parts := map[int64]*leaderboard.LogPart{}
	part := func(id int64) *leaderboard.LogPart {
		if parts[id] == nil {
			parts[id] = &leaderboard.LogPart{}
		}
		return parts[id]
	}
	for rows.Next() {
		var (
			c               leaderboard.Commit
			prev, committed sql.NullTime
			payload         sql.RawBytes
		)
		if err := rows.Scan(&c.PeriodID, &c.Incarnation, &c.FirstSeq, &c.LastSeq, &prev, &committed, &c.EntryCount, &payload); err != nil {
			return nil, err
		}
		c.PrevCommittedAt, c.CommittedAt = leaderboard.MicrosOf(prev.Time), leaderboard.MicrosOf(committed.Time)
		if c.FirstSeq == 0 {
			p := part(c.PeriodID)
			p.At, p.Closed = c.To(), string(payload) == string(leaderboard.PeriodStateClosed)
			continue
		}
		p := part(c.PeriodID)
		if c.Changes, err = decode(payload, c.FirstSeq, c.LastSeq); err != nil {
			p.Err = fmt.Errorf("period %d, commit %d: %w", c.PeriodID, c.LastSeq, err)
		}
		p.Commits = append(p.Commits, c)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for id, p := range parts {
		if p.At == (leaderboard.Revision{}) { // the log of a period that is gone, or being deleted
			delete(parts, id)
			continue
		}
		for i := range p.Commits {
			p.Commits[i].Incarnation = p.At.Incarnation
		}
		slices.SortFunc(p.Commits, func(a, b leaderboard.Commit) int { return cmp.Compare(a.LastSeq, b.LastSeq) })
	}
	return parts, nil
}

package store

import (
	"context"
	"time"

	"leaderboard/internal/boards"
	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Members has the stored data of a member. All methods may be called concurrently.
type Members struct {
	db   *mysql.DB
	data []Data
}

// DataLists returns the lists of a member's stored data, in the order of MemberData.
func (s *Members) DataLists() []leaderboard.DataList {
	lists := make([]leaderboard.DataList, len(s.data))
	for i := range s.data {
		lists[i] = s.data[i].List
	}
	return lists
}

// MemberData passes every stored record of a member to a function, list by list. Data that change meanwhile are given as before
// or as after the change. An error of the function ends it and is returned unchanged. Other errors: a *leaderboard.RuleError,
// ErrUnavailable, ErrOverloaded.
func (s *Members) MemberData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	if broken := leaderboard.CheckMember(member); broken != nil {
		return mysql.Wrap("member data", broken)
	}
	for _, d := range s.data {
		tellOf := func(record any) error { return tell(leaderboard.MemberRecord{List: d.List.Name, Record: record}) }
		if err := d.Each(ctx, member, tellOf); err != nil {
			return err
		}
	}
	return nil
}

// AddData adds lists, such as a feature's, after the present ones. It is called before MemberData.
func (s *Members) AddData(data ...Data) { s.data = append(s.data, data...) }

// entryData looks through the periods of all boards, erasePeriods at once.
func (s *Members) entryData(ctx context.Context, member string, tell func(any) error) error {
	periods := func(after int64) ([]erasePeriod, error) {
		places, err := placesAfter(ctx, s.db, after)
		if err != nil || len(places) == 0 {
			return nil, mysql.Translate(ctx, "member data", err)
		}
		found, err := s.entriesOf(ctx, places, member)
		for i := range found {
			if err == nil {
				err = tell(found[i])
			}
		}
		return places, err
	}
	return InPages(periods, func(p *erasePeriod) (int64, error) { return p.ID, nil })
}

// entriesOf reads the entries of a member in periods, hidden ones too.
func (s *Members) entriesOf(ctx context.Context, places []erasePeriod, member string) ([]leaderboard.MemberEntry, error) {
	rows, err := s.db.Pool.QueryContext(ctx, s.db.Limited(memberEntries(places, member)))
	if err != nil {
		return nil, mysql.Translate(ctx, "member data", err)
	}
	defer rows.Close()
	var out []leaderboard.MemberEntry
	for rows.Next() {
		var (
			id      int64
			created time.Time
			p       boards.JoinedPeriod
			b       boards.Row
			stored  = leaderboard.Entry{Member: member}
			body    string
		)
		dest := append([]any{&id, &stored.Score, &stored.Tiebreak, &created, &body}, p.Dest()...)
		if err := rows.Scan(append(dest, b.Dest()...)...); err != nil {
			return nil, mysql.Translate(ctx, "member data", err)
		}
		board, err := b.Board()
		if err != nil {
			return nil, err
		}
		period := p.Period(board.ID)
		e := leaderboard.MemberEntry{Period: period.Ref(&board), Metadata: body}
		stored.CreatedTime = leaderboard.MicrosOf(created)
		if e.Entry, err = rank.CodecOf(&board.Rules).Entry(rank.Codec{}.Key(stored)); err != nil {
			return nil, err
		}
		_, e.Hidden = entries.PeriodOf(id)
		out = append(out, e)
	}
	return out, mysql.Translate(ctx, "member data", rows.Err())
}

package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/boards"
)

// Members has what is stored of a member. All methods may be called concurrently.
type Members struct {
	db    *mysql.DB
	kinds []kindOfData
}

// MemberData calls tell with everything that is stored of a member, kind by kind: the profile, friends in both directions,
// hides, the bar, plays, held submissions, entries in all periods of all boards by the ids of the periods, recorded submissions by board, the newest first, and
// the audit, the newest first. What changes meanwhile is given as it was before or after. An error of tell ends it and is
// returned as it is. Other errors: a *leaderboard.RuleError, ErrUnavailable, ErrOverloaded.
func (s *Members) MemberData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	if broken := leaderboard.CheckMember(member); broken != nil {
		return mysql.Wrap("member data", broken)
	}
	for _, kind := range s.kinds {
		if err := kind.data(ctx, member, tell); err != nil {
			return err
		}
	}
	return nil
}

// kindOfData is a kind of data and what tells it.
type kindOfData struct {
	kind string
	data Data
}

// dataKinds is the order in which MemberData tells kinds of data. Others come last.
func dataKinds() []string {
	return []string{"profile", "friends", "friend_of", "hidden", "bar", "plays", "held", "entries", "submissions", "audit"}
}

// AddData adds a kind of data, such as a feature has. It is called before MemberData.
func (s *Members) AddData(kind string, data Data) {
	order := dataKinds()
	place := func(kind string) int {
		if i := slices.Index(order, kind); i >= 0 {
			return i
		}
		return len(order)
	}
	s.kinds = append(s.kinds, kindOfData{kind, data})
	slices.SortStableFunc(s.kinds, func(a, b kindOfData) int { return cmp.Compare(place(a.kind), place(b.kind)) })
}

// entryData looks through the periods of all boards, erasePeriods at once.
func (s *Members) entryData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	periods := func(after int64) ([]erasePlace, error) {
		places, err := placesAfter(ctx, s.db, after)
		if err != nil || len(places) == 0 {
			return nil, mysql.Translate(ctx, "member data", err)
		}
		found, err := s.entriesOf(ctx, places, member)
		for i := range found {
			if err == nil {
				err = tell(leaderboard.MemberRecord{Entry: &found[i]})
			}
		}
		return places, err
	}
	return InPages(periods, func(p *erasePlace) (int64, error) { return p.ID, nil })
}

// entriesOf reads the entries of a member in periods, hidden ones too.
func (s *Members) entriesOf(ctx context.Context, places []erasePlace, member string) ([]leaderboard.MemberEntry, error) {
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

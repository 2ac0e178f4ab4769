package store

import (
	"context"
	"errors"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/boards"
)

// MemberData calls tell with everything that is stored of a member, kind by kind: the profile, friends in both directions,
// hides, the bar, plays, held submissions, entries in all periods of all boards by the ids of the periods, recorded submissions by board, the newest first, and
// the audit, the newest first. What changes meanwhile is given as it was before or after. An error of tell ends it and is
// returned as it is. Other errors: a *leaderboard.RuleError, ErrUnavailable, ErrOverloaded.
func (s *Members) MemberData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	if broken := leaderboard.CheckMember(member); broken != nil {
		return mysql.Wrap("member data", broken)
	}
	for _, part := range []func(context.Context, string, func(leaderboard.MemberRecord) error) error{
		s.profileData, s.friendData, s.fanData, s.hiddenData, s.barData, s.plays.data, s.held.data, s.entryData, s.submissionData, s.auditData,
	} {
		if err := part(ctx, member, tell); err != nil {
			return err
		}
	}
	return nil
}

func (s *Members) profileData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	p, err := s.profiles.Profile(ctx, member)
	if errors.Is(err, leaderboard.ErrProfileNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return tell(leaderboard.MemberRecord{Profile: &p})
}

func (s *Members) friendData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	return inPages(func(after string) ([]string, error) { return s.friends.Friends(ctx, member, after, dataPage) }, func(friend *string) (string, error) {
		return *friend, tell(leaderboard.MemberRecord{Friend: *friend})
	})
}

func (s *Members) fanData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	fans := func(after string) ([]string, error) {
		list, err := friendsBehind(ctx, s.db.Pool, s.db.Limited(selectFans), member, after, dataPage)
		return list, mysql.Translate(ctx, "member data", err)
	}
	return inPages(fans, func(fan *string) (string, error) { return *fan, tell(leaderboard.MemberRecord{FriendOf: *fan}) })
}

func (s *Members) hiddenData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	hides := func(after leaderboard.HiddenQuery) ([]leaderboard.HiddenMember, error) {
		after.Member, after.Limit = member, dataPage
		return s.hidden.Hidden(ctx, after)
	}
	return inPages(hides, func(h *leaderboard.HiddenMember) (leaderboard.HiddenQuery, error) {
		return leaderboard.HiddenQuery{AfterBoard: h.BoardID, AfterMember: h.Member}, tell(leaderboard.MemberRecord{Hidden: h})
	})
}

func (s *Members) barData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	bar, err := s.tokens.Bar(ctx, member)
	if errors.Is(err, leaderboard.ErrBarNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return tell(leaderboard.MemberRecord{Bar: &bar})
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
	return inPages(periods, func(p *erasePlace) (int64, error) { return p.ID, nil })
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

// submittedTo lists the boards with recorded submissions of a member: one step in the index for each board.
const submittedTo = "SELECT b.id AS board_id, b.name FROM boards b FORCE INDEX (PRIMARY) WHERE b.state = 'open' AND b.id > ?" +
	" AND EXISTS (SELECT 1 FROM submissions s FORCE INDEX (submissions_member) WHERE s.member = ? AND s.board_id = b.id) ORDER BY b.id LIMIT ?"

func (s *Members) submissionData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	boardsOf := func(after int64) ([]boardVersion, error) {
		var list []boardVersion
		err := s.db.Pool.SelectContext(ctx, &list, s.db.Limited(submittedTo), after, []byte(member), dataPage)
		return list, mysql.Translate(ctx, "member data", err)
	}
	return inPages(boardsOf, func(b *boardVersion) (int64, error) {
		records := func(after leaderboard.SubmissionsQuery) ([]leaderboard.SubmissionRecord, error) {
			after.BoardID, after.Member, after.Limit = b.ID, member, dataPage
			return s.records.Submissions(ctx, after)
		}
		return b.ID, inPages(records, func(r *leaderboard.SubmissionRecord) (leaderboard.SubmissionsQuery, error) {
			next := leaderboard.SubmissionsQuery{Before: r.At, BeforeID: r.ID}
			return next, tell(leaderboard.MemberRecord{Submission: &leaderboard.MemberSubmission{SubmissionRecord: *r, Board: string(b.Name)}})
		})
	})
}

func (s *Members) auditData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	records := func(after leaderboard.AuditQuery) ([]leaderboard.AuditEntry, error) {
		after.Member, after.Limit = member, dataPage
		found, _, err := s.audit.Audit(ctx, after)
		return found, err
	}
	return inPages(records, func(e *leaderboard.AuditEntry) (leaderboard.AuditQuery, error) {
		return leaderboard.AuditQuery{BeforeTime: e.Time, BeforeID: e.ID}, tell(leaderboard.MemberRecord{Audit: e})
	})
}

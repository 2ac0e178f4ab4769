package notices

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/internal/outbox"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

const (
	// fansOfOne bounds the friends that one member is looked for on the lists of, in byte order.
	fansOfOne = 200
	// fansTogether is the number of members whose fans are read by one statement, and maxFans the number of fans after
	// which no more are read.
	fansTogether = 50
	maxFans      = 20_000
)

// notice is a member that was passed.
type notice struct {
	passed leaderboard.Entry
	by     leaderboard.Change
	minute int64
}

// span is a part of a log, and whom it passed.
type span struct {
	period  leaderboard.Period
	to      int64 // the last seq of it
	notices []notice
}

// events are the notices as events. A member gets one a minute, by the time of the change: a log that is read again, after a
// restore too, gives the same ids.
func (s *span) events(b *leaderboard.Board) []outbox.Event {
	type data struct {
		Board  string             `json:"board"`
		Window leaderboard.Window `json:"window"`
		Period string             `json:"period"`
		Seq    int64              `json:"seq"`
		Score  int64              `json:"score"`
	}
	type by struct {
		Score    int64 `json:"score"`
		Previous int64 `json:"previous_score"`
	}
	all := make([]outbox.Event, 0, len(s.notices))
	for i := range s.notices {
		n := &s.notices[i]
		all = append(all, outbox.Event{
			Kind: leaderboard.EventKindMemberPassed, Board: b.Name, Always: true, Once: fmt.Sprint("member.passed ", s.period.ID, " ", s.period.Incarnation, " ", n.minute, " ", n.passed.Member),
			Data: func(context.Context, outbox.Tx) (any, []leaderboard.EventMember, error) {
				detail, err := json.Marshal(by{n.by.New.Score, n.by.Old.Score})
				members := []leaderboard.EventMember{{Member: n.passed.Member}, {Member: n.by.Member, Detail: string(detail)}}
				return data{b.Name, s.period.Window, s.period.Name(), n.by.Seq, n.passed.Score}, members, err
			},
		})
	}
	return all
}

// members returns the members of the notices, each once.
func (s *span) members() (all []string) {
	for i := range s.notices {
		all = append(all, s.notices[i].passed.Member, s.notices[i].by.Member)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// leaveOut removes the notices about some members.
func (s *span) leaveOut(gone map[string]bool) {
	s.notices = slices.DeleteFunc(s.notices, func(n notice) bool { return gone[n.passed.Member] || gone[n.by.Member] })
}

// logged is a change with the minute of its commit.
type logged struct {
	leaderboard.Change
	minute int64
}

// read finds out who was passed since a place in the log, in one state of the period.
func (f *Folder) read(ctx context.Context, p *cursor, b *leaderboard.Board) (s *span, err error) {
	look, err := f.db.Look(ctx)
	if err != nil {
		return nil, err
	}
	defer look.End(true)
	s = &span{}
	if s.period, err = f.boards.PeriodIn(ctx, look, p.Period); err != nil {
		return nil, err
	}
	s.to = s.period.LastSeq
	log, err := f.log(ctx, look, p.Period, max(p.Seq, s.to-maxChanges))
	if err != nil || len(log) == 0 || log[len(log)-1].Seq != s.to {
		return s, err // pruned, or too old for a notice
	}
	codec := rank.CodecOf(&b.Rules)
	changes := make([]change, len(log))
	for i := range log {
		changes[i].member = log[i].Member
		if log[i].Old != nil {
			changes[i].old = codec.Key(*log[i].Old)
		}
		if log[i].New != nil {
			changes[i].new = codec.Key(*log[i].New)
		}
	}
	passed, err := f.passed(ctx, look, p.Period, b, codec, changes)
	if err == nil {
		err = s.addNotices(codec, log, passed)
	}
	return s, err
}

// addNotices makes notices for passed members, each once a minute. It ends the span early when they are many.
func (s *span) addNotices(codec rank.Codec, log []logged, passed [][]rank.Key) error {
	type once struct {
		minute int64
		member string
	}
	told := map[once]bool{}
	for i, keys := range passed {
		for _, k := range keys {
			e, err := codec.Entry(k)
			if err != nil {
				return err
			}
			if at := (once{log[i].minute, e.Member}); !told[at] {
				told[at] = true
				s.notices = append(s.notices, notice{e, log[i].Change, at.minute})
			}
		}
		if len(s.notices) >= maxNotices {
			s.to = log[i].Seq
			break
		}
	}
	return nil
}

// log reads the changes of a period after a seq that are not older than maxAge.
func (f *Folder) log(ctx context.Context, q mysql.Querier, period, after int64) (out []logged, err error) {
	t := (&mysql.Text{}).Str("SELECT first_seq, last_seq, committed_at, payload FROM changes WHERE period_id = ").Int(period).Str(" AND last_seq > ").Int(after)
	t.Str(" AND committed_at > " + f.db.Now() + " - INTERVAL ").Int(int64(maxAge / time.Second)).Str(" SECOND ORDER BY last_seq LIMIT ").Int(maxChanges + 1)
	rows, err := q.QueryContext(ctx, f.db.Limited(t.String()))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			first, last int64
			committed   time.Time
			payload     []byte
		)
		if err := rows.Scan(&first, &last, &committed, &payload); err != nil {
			return nil, err
		}
		changes, err := entries.DecodeChanges(payload, first, last)
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			if c.Seq > after {
				out = append(out, logged{c, committed.Unix() / 60})
			}
		}
	}
	return out, rows.Err()
}

// passed returns the keys that each of the changes passed, of members that get notices.
func (f *Folder) passed(ctx context.Context, q mysql.Querier, period int64, b *leaderboard.Board, codec rank.Codec, changes []change) ([][]rank.Key, error) {
	n := b.Rules.Notify.Within
	if b.Rules.Notify.Passed == leaderboard.NotifyPassedTop {
		scan := entries.Scan{Range: entries.Everything(), Limit: n + len(changes)}
		t := (&mysql.Text{}).Str("SELECT member, score, tiebreak, created_time")
		scan.From(t, period)
		var top []rank.Key
		err := f.keys(ctx, q, t.String(), codec, func(k rank.Key) { top = append(top, k) })
		return topPassed(changes, top, n), err
	}
	fans, err := f.fans(ctx, q, changes)
	if err != nil || len(fans) == 0 {
		return nil, err
	}
	var members []string
	for _, list := range fans {
		members = append(members, list...)
	}
	slices.Sort(members)
	keys := map[string]rank.Key{}
	for chunk := range slices.Chunk(slices.Compact(members), mysql.MaxRows) {
		t := (&mysql.Text{}).Str("SELECT member, score, tiebreak, created_time FROM entries WHERE period_id = ").Int(period).Str(" AND member IN (").Hexes(chunk).Str(")")
		if err := f.keys(ctx, q, t.String(), codec, func(k rank.Key) { keys[k.Member()] = k }); err != nil {
			return nil, err
		}
	}
	return friendsPassed(changes, keys, fans, n), nil
}

// keys reads entries.
func (f *Folder) keys(ctx context.Context, q mysql.Querier, query string, codec rank.Codec, fn func(rank.Key)) error {
	rows, err := q.QueryContext(ctx, f.db.Limited(query))
	if err != nil {
		return err
	}
	defer rows.Close()
	return entries.EachRow(rows, codec, func(e leaderboard.Entry) { fn(codec.Key(e)) })
}

// fans returns, by each member whose entry got better, the members who have it as a friend.
func (f *Folder) fans(ctx context.Context, q mysql.Querier, changes []change) (map[string][]string, error) {
	var members []string
	for i := range changes {
		if changes[i].better() {
			members = append(members, changes[i].member)
		}
	}
	slices.Sort(members)
	fans, n := map[string][]string{}, 0
	for chunk := range slices.Chunk(slices.Compact(members), fansTogether) {
		t := (&mysql.Text{}).Str("SELECT friend, member FROM (")
		for i, m := range chunk {
			if i > 0 {
				t.Str(" UNION ALL ")
			}
			t.Str("(SELECT friend, member FROM friends FORCE INDEX (friends_of) WHERE friend = ").Hex(m).Str(" ORDER BY member LIMIT ").Int(fansOfOne).Str(")")
		}
		rows, err := q.QueryContext(ctx, f.db.Limited(t.Str(") fans").String()))
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var friend, member string
			if err := rows.Scan(&friend, &member); err != nil {
				_ = rows.Close()
				return nil, err
			}
			fans[friend] = append(fans[friend], member)
			n++
		}
		if err := rows.Err(); err != nil || n > maxFans {
			return fans, err
		}
	}
	return fans, nil
}

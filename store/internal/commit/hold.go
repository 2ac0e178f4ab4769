package commit

import (
	"context"
	"slices"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/outbox"
)

// hold returns why a submission is not carried out now: it waits for an admin, and is noted, or it is refused because too much
// of its member waits. nil: it is carried out. The decisions break no rule.
func (b *lockedBoard) hold(sub *leaderboard.Submission, caller *leaderboard.Caller, decisions []decision) *leaderboard.RuleError {
	rules := &b.known.Board.Rules
	first := slices.IndexFunc(decisions, func(d decision) bool { return d.changed })
	if rules.Review == nil || first < 0 {
		return nil
	}
	d := &decisions[first]
	why := leaderboard.AsRule(rules.Hold(sub, caller, &leaderboard.Holding{
		Next: d.next, First: first == 0, Played: b.playTime(sub, caller),
		At: func(rank int) (e leaderboard.Entry, ok bool) { e, ok = b.reviews.at[rank]; return e, ok },
	}))
	if why == nil {
		return nil
	}
	h := &leaderboard.Held{
		ID:      int64(b.clock+leaderboard.Micros(b.reviews.held))<<heldBits | int64(b.random()>>(64-heldBits)),
		BoardID: b.known.Board.ID, Board: b.known.Board.Name, Member: sub.Member, State: leaderboard.HeldStateWaiting, Reason: why.Detail,
		Score: sub.Score, NewScore: d.next.Score, Tiebreak: d.next.Tiebreak, CreatedTime: d.now, HeldTime: b.clock,
		Actor: caller.Key, RequestID: caller.RequestID, Sub: *sub,
	}
	if sub.CreatedTime != nil {
		h.CreatedTime = *sub.CreatedTime
	}
	h.Sub.If, h.Sub.Play = nil, nil
	for _, p := range b.periods {
		h.Periods = append(h.Periods, p.ref.ID)
	}
	waiting := b.reviews.waiting[sub.Member]
	worst, full := rules.Worst(waiting, h)
	if full != nil {
		return leaderboard.AsRule(full)
	}
	if worst >= 0 {
		b.reviews.drop(waiting[worst])
		waiting = slices.Delete(slices.Clone(waiting), worst, worst+1)
	}
	b.reviews.held++
	b.reviews.waiting[sub.Member] = append(slices.Clip(waiting), h)
	b.reviews.added = append(slices.Clip(b.reviews.added), h)
	return why
}

// heldBits are the random bits of the id of a held submission. Those before them are its time in microseconds.
const heldBits = 11

// playTime returns how long the play of a submission took, 0 without one.
func (b *lockedBoard) playTime(sub *leaderboard.Submission, caller *leaderboard.Caller) time.Duration {
	p := b.plays[sub.Member]
	if caller.Player == "" || p == nil || sub.Play == nil || *sub.Play != p.ID {
		return 0
	}
	return time.Duration(b.clock-p.StartedTime) * time.Microsecond
}

// appendHeldRows writes what became of held submissions.
func appendHeldRows(t *mysql.Text, reviewed []*lockedBoard) {
	for _, b := range reviewed {
		r := &b.reviews
		for chunk := range slices.Chunk(r.gone, mysql.MaxRows) {
			t.Str("DELETE FROM held WHERE id IN (").Ints(chunk).Str(");")
		}
		for chunk := range slices.Chunk(r.added, mysql.MaxRows) {
			t.Str("INSERT INTO held (id, board_id, member, held_at, expires_at, created_time, score, tiebreak, reason, submission, actor, request_id) VALUES ")
			for i, h := range chunk {
				t.Comma(i).Str("(").Int(h.ID).Str(",").Int(h.BoardID).Str(",").Hex(h.Member).Str(",").Time(h.HeldTime).Str(",").Time(b.heldUntil(h)).Str(",")
				t.Time(h.CreatedTime).Str(",").Int(h.NewScore).Str(",").Int(h.Tiebreak).Str(",").HexText(h.Reason).Str(",").HexBytes(textOf(h)).Str(",")
				t.Hex(h.Actor[:min(len(h.Actor), maxActor)]).Str(",").Hex(h.RequestID[:min(len(h.RequestID), maxRequestID)]).Str(")")
			}
			t.Str(";")
		}
		for _, h := range r.decided {
			t.Str("UPDATE held SET state = ").Hex(string(h.State)).Str(", decided_at = ").Time(h.DecidedTime).Str(", decided_by = ").Hex(h.DecidedBy[:min(len(h.DecidedBy), maxActor)])
			t.Str(", note = ").HexText(h.Note).Str(", outcome = ").Hex(string(h.Outcome)).Str(" WHERE id = ").Int(h.ID).Str(" AND state = 'waiting';")
		}
	}
}

// heldUntil returns when the row of a held submission goes.
func (b *lockedBoard) heldUntil(h *leaderboard.Held) leaderboard.Micros {
	return h.HeldTime + leaderboard.Micros(b.known.Board.Rules.Review.HeldFor()/time.Microsecond)
}

// enterHeld enters the events of held submissions, late in the transaction. A batch without them sends nothing.
func (t *transaction) enterHeld(ctx context.Context, reviewed []*lockedBoard) error {
	var all []outbox.News
	for _, b := range reviewed {
		all = append(all, b.reviews.news()...)
	}
	if len(all) == 0 {
		return nil
	}
	return outbox.Enter(ctx, t.Conn, t.db.Sysdate(), all...)
}

package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

const (
	// lookUps is how many entries one statement of a step looks up by period and member. The server gives up planning
	// by ranges at some ten thousands.
	lookUps = 4000
	// logRows is how many commits of a source one statement reads.
	logRows = 50
	// listedMembers is how many members of a leaving or arriving period one statement reads.
	listedMembers = 5000
)

// computeChanged passes the members to out whose entries may differ from the reflected state: those with changes in the
// log of a source, and those of the sources that leave or arrive.
func (d *derivation) computeChanged(ctx context.Context, out *output) error {
	members, err := d.changedMembers(ctx)
	if err != nil {
		return err
	}
	out.step.Members = int64(len(members))
	perStatement := min(db.MaxRows, max(20, lookUps/(len(d.periods)+1)))
	for chunk := range slices.Chunk(members, perStatement) {
		start := time.Now()
		found, err := d.lookUp(ctx, chunk)
		if err != nil {
			return err
		}
		for i, member := range chunk {
			if err := out.add(ctx, member, found[i], d.combine(member, found[i].entries)); err != nil {
				return err
			}
		}
		if err := d.rest(ctx, time.Since(start)); err != nil {
			return err
		}
	}
	return nil
}

// changedMembers are in byte order, each once.
func (d *derivation) changedMembers(ctx context.Context) ([]string, error) {
	members, entries := map[string]struct{}{}, int64(0)
	for _, s := range d.periods {
		entries += s.entries
	}
	if lag := d.lag(); lag > stepMembers && lag > entries {
		return nil, fmt.Errorf("%w: %d changes are more work than %d entries", errNeedsCompute, lag, entries)
	}
	for _, r := range d.reflected {
		if err := d.readMembers(ctx, r, members); err != nil {
			return nil, err
		}
	}
	for _, p := range slices.Concat(d.leaving(), d.arriving()) {
		if err := d.listMembers(ctx, p.periodID, members); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(members)), nil
}

// readMembers adds the members that have changed in a source since it was reflected.
func (d *derivation) readMembers(ctx context.Context, r reflected, members map[string]struct{}) error {
	source, ok := d.periods[r.periodID]
	if r.periodID != 0 && !ok {
		return fmt.Errorf("%w: period %d is gone", errNeedsCompute, r.periodID)
	}
	if source.lastSeq < r.seq {
		return fmt.Errorf("%w: period %d is at %d, behind %d", errNeedsCompute, r.periodID, source.lastSeq, r.seq)
	}
	for at := r.seq; at < source.lastSeq; {
		commits, err := entries.ReadLog(ctx, d.store.db, d.q, r.periodID, at, logRows, entries.DecodeChanges)
		if errors.Is(err, leaderboard.ErrLogPruned) || errors.Is(err, entries.ErrPayload) {
			err = fmt.Errorf("%w: %w", errNeedsCompute, err)
		}
		if err != nil {
			return err
		}
		for _, c := range commits {
			for _, change := range c.Changes {
				members[change.Member] = struct{}{}
			}
			at = c.LastSeq
		}
		if len(members) > stepMembers {
			return fmt.Errorf("%w: more than %d members have changed", errNeedsCompute, stepMembers)
		}
	}
	return nil
}

// listMembers adds all members of a period.
func (d *derivation) listMembers(ctx context.Context, periodID int64, members map[string]struct{}) error {
	for after := ""; periodID != 0; {
		if len(members) > stepMembers {
			return fmt.Errorf("%w: more than %d members are concerned", errNeedsCompute, stepMembers)
		}
		start := time.Now()
		n, err := d.scanMembers(ctx, streamQuery("member", periodID, after, listedMembers), func(member string) { members[member], after = struct{}{}, member })
		if err != nil || n < listedMembers {
			return err
		}
		if err := d.rest(ctx, time.Since(start)); err != nil {
			return err
		}
	}
	return nil
}

func (d *derivation) scanMembers(ctx context.Context, query string, fn func(string)) (n int, err error) {
	rows, err := d.q.QueryContext(ctx, d.store.db.Limited(query))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var member string
		if err := rows.Scan(&member); err != nil {
			return n, err
		}
		fn(member)
		n++
	}
	return n, rows.Err()
}

// held is what a member has: in the derived board and in its sources.
type held struct {
	visible *leaderboard.Entry
	shadow  *leaderboard.Entry          // of a hidden member, see batch_hidden.go
	entries map[int64]leaderboard.Entry // by period
}

// own is what the board has of the member, hidden or not.
func (h *held) own() *leaderboard.Entry {
	if h.visible == nil {
		return h.shadow
	}
	return h.visible
}

// put keeps an entry that a period has.
func (h *held) put(own, periodID int64, e leaderboard.Entry) {
	switch periodID {
	case own:
		h.visible = &e
	case -own:
		h.shadow = &e
	default:
		h.entries[periodID] = e
	}
}

// lookUp finds what members have, in their order.
func (d *derivation) lookUp(ctx context.Context, members []string) ([]held, error) {
	found, index := make([]held, len(members)), make(map[string]int, len(members))
	for i, m := range members {
		index[m], found[i].entries = i, make(map[int64]leaderboard.Entry, len(d.periods))
	}
	rows, err := d.q.QueryContext(ctx, d.store.db.Limited(lookUpQuery(d.ids(), members)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			id      int64
			e       leaderboard.Entry
			created time.Time
		)
		if err := rows.Scan(&id, &e.Member, &e.Score, &e.Tiebreak, &created); err != nil {
			return nil, err
		}
		e.CreatedTime = leaderboard.MicrosOf(created)
		e.Score, e.Tiebreak = d.codecOf(id).Stored(e.Score, e.Tiebreak)
		found[index[e.Member]].put(d.own.ID, id, e)
	}
	return found, rows.Err()
}

// ids are the periods that have entries of the board: its own, the shadow of that, and the sources that there are.
func (d *derivation) ids() []int64 {
	ids := []int64{d.own.ID, -d.own.ID}
	for _, s := range d.desired {
		if s.periodID != 0 && !slices.Contains(ids, s.periodID) {
			ids = append(ids, s.periodID)
		}
	}
	return ids
}

func lookUpQuery(periods []int64, members []string) string {
	t := (&db.Text{}).Str("SELECT period_id, member, score, tiebreak, created_at FROM entries FORCE INDEX (PRIMARY) WHERE period_id IN (")
	return t.Ints(periods).Str(") AND member IN (").Hexes(members).Str(")").String()
}

// codecOf is how a period, the board's own or a source, stores its entries.
func (d *derivation) codecOf(periodID int64) rank.Codec {
	if periodID == d.own.ID || periodID == -d.own.ID {
		return d.codec
	}
	return d.periods[periodID].codec
}

// combine is the entry that a member should have, nil for none.
func (d *derivation) combine(member string, entries map[int64]leaderboard.Entry) *leaderboard.Entry {
	var room [8]leaderboard.Part
	parts := room[:0]
	for _, s := range d.desired {
		if e, ok := entries[s.periodID]; ok {
			parts = append(parts, leaderboard.Part{Weight: s.Weight, Score: e.Score, CreatedTime: e.CreatedTime})
		}
	}
	e, ok := d.board.Rules.Derive.Combine(member, parts, len(d.desired))
	if !ok {
		return nil
	}
	return &e
}

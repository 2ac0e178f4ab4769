package commit

import (
	"cmp"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// metadata is that of the entries of a period, by member: the rows as the lock found them, and what a batch makes of them. A
// period of a board without the rule has none, which is nil. An entry that is moved, because its member is hidden or restored,
// keeps its key, and so its row.
type metadata struct {
	found, rows map[string]metadataRow
}

// metadataRow is a row of entry_metadata.
type metadataRow struct {
	key  rank.Key // as stored
	body *body    // nil: the entry has none, the one before it had
}

// body is a row of metadata_bodies: one that was found, or one to write.
type body struct {
	id   int64  // 0: it has none yet
	refs int64  // rows of entry_metadata with it, of one that was found
	text string // of one to write
}

// bodyOf returns what a submission brings, nil for nothing.
func bodyOf(sub *leaderboard.Submission) *body {
	if sub.Metadata == "" {
		return nil
	}
	return &body{text: sub.Metadata}
}

func newMetadata() *metadata {
	return &metadata{map[string]metadataRow{}, map[string]metadataRow{}}
}

// keepMetadata notes the metadata of the entry that a submission has led to. b is what came with it, nil for nothing.
func (p *period) keepMetadata(sub *leaderboard.Submission, cur, next *leaderboard.Entry, b *body) {
	if p.metadata == nil {
		return
	}
	row, ok := p.metadata.rows[sub.Member]
	if b == nil && sub.Edit != nil && sub.Edit.NoScore && ok && row.key == p.codec.Key(*cur) {
		b = row.body
	}
	if ok || b != nil {
		p.metadata.rows[sub.Member] = metadataRow{p.codec.Key(*next), b}
	}
}

// drop notes that a member has no entry any more.
func (m *metadata) drop(member string) {
	if m != nil {
		delete(m.rows, member)
	}
}

// mark returns a function that gives a member the metadata that it has now.
func (m *metadata) mark(member string) (undo func()) {
	if m == nil {
		return func() {}
	}
	row, ok := m.rows[member]
	return func() {
		if delete(m.rows, member); ok {
			m.rows[member] = row
		}
	}
}

// appendReadMetadata asks for the metadata of members in periods.
func appendReadMetadata(t *mysql.Text, periods []int64, members []string) {
	for chunk := range slices.Chunk(members, mysql.MaxRows) {
		entries.AppendMetadata(t, periods, chunk, false).Str(";")
	}
}

// scanMetadata reads the answers to appendReadMetadata into the periods that they are of.
func scanMetadata(rows *sql.Rows, members []string, periods []*period, bodies map[entries.BodyKey]*body) error {
	byID := make(map[int64]*metadata, len(periods))
	for _, p := range periods {
		if p.metadata == nil {
			p.metadata = newMetadata()
		}
		byID[p.ref.ID] = p.metadata
	}
	for range slices.Chunk(members, mysql.MaxRows) {
		if err := mysql.NextResult(rows); err != nil {
			return err
		}
		err := entries.EachMetadata(rows, func(r *entries.MetadataRow) {
			row, member := metadataRow{key: r.Key}, r.Key.Member()
			if r.BodyID != entries.NoBody {
				key := entries.BodyKey{Member: member, ID: r.BodyID}
				if bodies[key] == nil {
					bodies[key] = &body{id: r.BodyID, refs: r.Refs}
				}
				row.body = bodies[key]
			}
			if m := byID[r.PeriodID]; m != nil {
				m.found[member], m.rows[member] = row, row
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// metadataWrites are the rows that a batch changes.
type metadataWrites struct {
	upserts []metadataUpsert
	gone    map[int64][]string // members, by period
	bodies  []*body            // those with a delta, in the order of periods and members
	delta   map[*body]int64    // of the references to a body
	owner   map[*body]string   // the member that it is of
}

type metadataUpsert struct {
	period *period
	row    metadataRow
}

// metadataOf compares what periods have with what was found.
func metadataOf(periods []*period) *metadataWrites {
	w := &metadataWrites{gone: map[int64][]string{}, delta: map[*body]int64{}, owner: map[*body]string{}}
	count := func(b *body, member string, by int64) {
		if b == nil {
			return
		}
		if _, ok := w.owner[b]; !ok {
			w.bodies = append(w.bodies, b)
		}
		w.delta[b], w.owner[b] = w.delta[b]+by, member
	}
	for _, p := range periods {
		if p.metadata == nil {
			continue
		}
		for _, member := range slices.Sorted(maps.Keys(p.metadata.found)) {
			if _, ok := p.metadata.rows[member]; !ok {
				count(p.metadata.found[member].body, member, -1)
				w.gone[p.ref.ID] = append(w.gone[p.ref.ID], member)
			}
		}
		for _, member := range slices.Sorted(maps.Keys(p.metadata.rows)) {
			row := p.metadata.rows[member]
			old, ok := p.metadata.found[member]
			if ok && old == row {
				continue
			}
			count(old.body, member, -1)
			count(row.body, member, 1)
			w.upserts = append(w.upserts, metadataUpsert{p, row})
		}
	}
	return w
}

// appendMetadata writes what the batch made of the metadata of entries.
func appendMetadata(t *mysql.Text, periods []*period, random func() uint64) {
	if !slices.ContainsFunc(periods, func(p *period) bool { return p.metadata != nil }) {
		return
	}
	w := metadataOf(periods)
	w.appendBodies(t, random)
	for _, id := range slices.Sorted(maps.Keys(w.gone)) {
		for chunk := range slices.Chunk(w.gone[id], mysql.MaxRows) {
			t.Str("DELETE FROM entry_metadata WHERE period_id = ").Int(id).Str(" AND member IN (").Hexes(chunk).Str(");")
		}
	}
	for chunk := range slices.Chunk(w.upserts, mysql.MaxRows) {
		t.Str("INSERT INTO entry_metadata (period_id, member, score, tiebreak, created_time, body_id, emptied_at) VALUES ")
		for i, u := range chunk {
			e, err := rank.Codec{}.Entry(u.row.key)
			if err != nil {
				e = leaderboard.Entry{} // it was made of an entry
			}
			t.Comma(i).Str("(").Int(u.period.ref.ID).Str(",").Hex(e.Member).Str(",").Int(e.Score).Str(",").Int(e.Tiebreak).Str(",").Time(e.CreatedTime)
			if u.row.body != nil {
				t.Str(",").Int(u.row.body.id).Str(",NULL)")
			} else {
				t.Str(",").Int(entries.NoBody).Str(",").Time(u.period.clock).Str(")")
			}
		}
		t.Str(" ON DUPLICATE KEY UPDATE score = VALUES(score), tiebreak = VALUES(tiebreak), created_time = VALUES(created_time),")
		t.Str(" body_id = VALUES(body_id), emptied_at = VALUES(emptied_at);")
	}
}

// appendBodies gives new bodies their ids, and writes them. One takes the place of another of the member that nothing refers
// to any more.
func (w *metadataWrites) appendBodies(t *mysql.Text, random func() uint64) {
	var fresh, fewer, more, gone []*body
	unused := map[string][]*body{} // by member
	for _, b := range w.bodies {
		switch by := w.delta[b]; {
		case b.text != "" && by > 0:
			fresh = append(fresh, b)
		case b.text == "" && by < 0 && b.refs+by <= 0:
			unused[w.owner[b]] = append(unused[w.owner[b]], b)
		case b.text == "" && by < 0:
			fewer = append(fewer, b)
		case b.text == "" && by > 0:
			more = append(more, b)
		}
	}
	for _, b := range fresh {
		if free := unused[w.owner[b]]; len(free) > 0 {
			b.id, unused[w.owner[b]] = free[0].id, free[1:]
		} else {
			b.id = max(1, int64(random()>>1))
		}
	}
	for _, free := range unused {
		gone = append(gone, free...)
	}
	for chunk := range slices.Chunk(w.inOrder(fresh), mysql.MaxRows) {
		t.Str("INSERT INTO metadata_bodies (member, id, refs, body) VALUES ")
		for i, b := range chunk {
			t.Comma(i).Str("(").Hex(w.owner[b]).Str(",").Int(b.id).Str(",").Int(w.delta[b]).Str(",").Hex(b.text).Str(")")
		}
		t.Str(" ON DUPLICATE KEY UPDATE refs = VALUES(refs), body = VALUES(body);")
	}
	for _, b := range w.inOrder(append(fewer, more...)) {
		t.Str("UPDATE metadata_bodies SET refs = refs + ").Int(w.delta[b]).Str(" WHERE member = ").Hex(w.owner[b]).Str(" AND id = ").Int(b.id).Str(";")
	}
	// Housekeeping may have taken references away since they were read, those of periods that are given up.
	w.appendDelete(t, fewer, "refs <= 0 AND ")
	w.appendDelete(t, gone, "")
}

// appendDelete deletes bodies.
func (w *metadataWrites) appendDelete(t *mysql.Text, bodies []*body, condition string) {
	for chunk := range slices.Chunk(w.inOrder(bodies), mysql.MaxRows) {
		keys := make([]entries.BodyKey, len(chunk))
		for i, b := range chunk {
			keys[i] = entries.BodyKey{Member: w.owner[b], ID: b.id}
		}
		entries.AppendBodies(t.Str("DELETE FROM metadata_bodies WHERE "+condition), keys).Str(";")
	}
}

// inOrder sorts bodies by their primary key.
func (w *metadataWrites) inOrder(bodies []*body) []*body {
	slices.SortFunc(bodies, func(a, b *body) int {
		return cmp.Or(strings.Compare(w.owner[a], w.owner[b]), cmp.Compare(a.id, b.id))
	})
	return bodies
}

package store

import (
	"database/sql"
	"fmt"
	"slices"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// reading is what a batch reads under the lock: the idempotency keys that came with it, and the entries that its
// members have in any of its periods.
type reading struct {
	boardID int64
	periods []int64
	members []string
	keys    []string

	withHidden []int64       // the boards that may have hidden members
	hidden     hiddenMembers // found
	removed    []string      // members to remove
}

func newReading(boardID int64, periods []int64, members []string, reqs []*request) *reading {
	r := &reading{boardID: boardID, periods: periods, members: members}
	for _, req := range reqs {
		if req.key != "" {
			r.keys = append(r.keys, req.key)
		}
		if req.remove != "" {
			r.removed = append(r.removed, req.remove)
		}
	}
	return r
}

// appendTo appends one SELECT per chunk of keys, then one per chunk of members for all periods; none when the board is
// not known. A board has at most eight windows, so the ranges of one statement are some thousands at most.
func (r *reading) appendTo(t *db.Text) {
	if r.boardID == 0 {
		return
	}
	r.appendKeysTo(t)
	r.appendHidden(t)
	if len(r.periods) == 0 {
		return
	}
	for chunk := range slices.Chunk(r.members, db.MaxRows) {
		t.Str("SELECT period_id, member, score, tiebreak, created_at FROM entries FORCE INDEX (PRIMARY) WHERE period_id IN (")
		t.Ints(r.periods).Str(") AND member IN (").Hexes(chunk).Str(");")
	}
}

func (r *reading) appendKeysTo(t *db.Text) {
	for chunk := range slices.Chunk(r.keys, db.MaxRows) {
		t.Str("SELECT idempotency_key, request_hash, receipt FROM idempotency_keys WHERE board_id = ").Int(r.boardID)
		t.Str(" AND idempotency_key IN (").Hexes(chunk).Str(");")
	}
}

// scan reads the answers to appendTo, of which rows stands before the first. The periods are those of the reading.
func (r *reading) scan(rows *sql.Rows, periods []*period) (map[string]keyRow, error) {
	keys := map[string]keyRow{}
	if err := r.scanKeysOf(rows, keys); err != nil {
		return nil, err
	}
	if err := r.scanHidden(rows, periods); err != nil || len(r.periods) == 0 {
		return keys, err
	}
	for range slices.Chunk(r.members, db.MaxRows) {
		if err := db.NextResult(rows); err != nil {
			return nil, err
		}
		if err := scanPeriods(rows, periods); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// scanKeysOf reads the answers to appendKeysTo.
func (r *reading) scanKeysOf(rows *sql.Rows, keys map[string]keyRow) error {
	for range slices.Chunk(r.keys, db.MaxRows) {
		if err := db.NextResult(rows); err != nil {
			return err
		}
		if err := scanKeys(rows, keys); err != nil {
			return err
		}
	}
	return nil
}

// scanPeriods reads rows of period_id, member, score, tiebreak, created_at to the end of one answer into the periods
// that they are of, or into their shadows.
func scanPeriods(rows *sql.Rows, periods []*period) error {
	byID := make(map[int64]*period, len(periods))
	for _, p := range periods {
		byID[p.ref.ID] = p
	}
	var (
		id      int64
		created time.Time
		last    *period
	)
	for rows.Next() {
		e := &leaderboard.Entry{}
		if err := rows.Scan(&id, &e.Member, &e.Score, &e.Tiebreak, &created); err != nil {
			return err
		}
		if last == nil || last.ref.ID != max(id, -id) {
			if last = byID[max(id, -id)]; last == nil {
				return fmt.Errorf("an entry of period %d, which was not asked for", id)
			}
		}
		e.Score, e.Tiebreak = last.codec.Stored(e.Score, e.Tiebreak)
		e.CreatedTime = leaderboard.MicrosOf(created)
		if id < 0 {
			last.shadow.put(e.Member, e)
		} else {
			last.entries[e.Member] = e
		}
	}
	return rows.Err()
}

func scanKeys(rows *sql.Rows, keys map[string]keyRow) error {
	for rows.Next() {
		var key, hash, receipt sql.RawBytes
		if err := rows.Scan(&key, &hash, &receipt); err != nil {
			return err
		}
		row := keyRow{key: string(key)}
		copy(row.hash[:], hash)
		var err error
		if row.answer, err = decodeAnswer(receipt); err != nil {
			return err
		}
		keys[row.key] = row
	}
	return rows.Err()
}

// membersOf are the members of a batch, each once, in byte order. Ids that no member can have are left out.
func membersOf(reqs []*request) []string {
	var members []string
	for _, r := range reqs {
		if named := r.remove + r.settle; named != "" { // it is one of them
			members = append(members, named)
		}
		for _, e := range r.entries {
			if leaderboard.CheckMember(e.Member) == nil {
				members = append(members, e.Member)
			}
		}
	}
	slices.Sort(members)
	return slices.Compact(members)
}

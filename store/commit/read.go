package commit

import (
	"database/sql"
	"fmt"
	"slices"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// reading is the data that a batch reads of a board under its lock.
type reading struct {
	*Needs
	boardID int64
	periods []int64 // the current ones
}

// appendTo appends one SELECT per chunk of keys, then one per chunk of members for all periods; none when the board is
// not known. A board has at most eight windows, so the ranges of one statement are some thousands at most.
func (r *reading) appendTo(t *mysql.Text, b *Board) {
	if r.boardID == 0 {
		return
	}
	appendReadKeys(t, r.boardID, r.keys)
	each(b, func(p Reader) { p.Read(t) })
	if len(b.asides) > 0 {
		appendReadEntries(t, r.asideIn(), r.removed)
	}
	if len(r.periods) == 0 {
		return
	}
	appendReadEntries(t, r.periods, r.members)
	each(b, func(p EntryReader) { p.ReadEntries(t, r.periods, r.members) })
}

// asideIn returns the period_ids of the entries set aside. The reason of one may be erased with its member while a submission is on
// its way, so removals ask for them without it.
func (r *reading) asideIn() []int64 {
	sides := []int64{0} // no period: a list may not be empty
	for _, id := range r.periods {
		sides = append(sides, entries.AsideIn(id))
	}
	return sides
}

// scan reads the answers to appendTo, with rows before the first of them.
func (r *reading) scan(rows *sql.Rows, b *Board) error {
	b.keys = map[string]keyRow{}
	err := scanKeys(rows, r.keys, b.keys)
	if err == nil {
		err = first(b, func(p Reader) error { return p.Scan(rows) })
	}
	if err == nil && len(b.asides) > 0 {
		err = scanEntries(rows, r.removed, b.periods)
	}
	if err != nil || len(r.periods) == 0 {
		return err
	}
	return b.scanMembers(rows, b.periods, r.members)
}

// scanMembers reads the entries of members, and the data of parts for them.
func (b *Board) scanMembers(rows *sql.Rows, periods []*Period, members []string) error {
	if err := scanEntries(rows, members, periods); err != nil {
		return err
	}
	return first(b, func(p EntryReader) error { return p.ScanEntries(rows, periods, members) })
}

func appendReadEntries(t *mysql.Text, periods []int64, members []string) {
	for chunk := range slices.Chunk(members, mysql.MaxRows) {
		t.Str("SELECT period_id, member, score, tiebreak, created_time FROM entries FORCE INDEX (PRIMARY) WHERE period_id IN (")
		t.Ints(periods).Str(") AND member IN (").Hexes(chunk).Str(");")
	}
}

// scanEntries reads the answers to appendReadEntries into the periods that they are of, also those set aside.
func scanEntries(rows *sql.Rows, members []string, periods []*Period) error {
	for range slices.Chunk(members, mysql.MaxRows) {
		if err := mysql.NextResult(rows); err != nil {
			return err
		}
		if err := scanPeriods(rows, periods); err != nil {
			return err
		}
	}
	return nil
}

// scanPeriods reads rows of period_id, member, score, tiebreak, created_time to the end of one answer.
func scanPeriods(rows *sql.Rows, periods []*Period) error {
	byID := make(map[int64]*Period, len(periods))
	for _, p := range periods {
		byID[p.ref.ID] = p
	}
	var (
		id      int64
		created time.Time
		last    *Period
	)
	for rows.Next() {
		e := &leaderboard.Entry{}
		if err := rows.Scan(&id, &e.Member, &e.Score, &e.Tiebreak, &created); err != nil {
			return err
		}
		periodID, aside := entries.PeriodOf(id)
		if last == nil || last.ref.ID != periodID {
			if last = byID[periodID]; last == nil {
				return fmt.Errorf("an entry of period %d, which was not asked for", id)
			}
		}
		e.Score, e.Tiebreak = last.codec.Stored(e.Score, e.Tiebreak)
		e.CreatedTime = leaderboard.MicrosOf(created)
		if aside {
			last.aside.found(e.Member, e)
		} else {
			last.entries[e.Member] = e
		}
	}
	return rows.Err()
}

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

// needs are what the requests of a batch need to know of one board.
type needs struct {
	keys    []string // idempotency keys
	members []string // after tidy each once, in byte order; ids that no member can have are left out
	players []string // of them, those who submit with a play
	removed []string // of them, those whose hidden entries are read though no member may be hidden any more
	past    []pastEntries
	decided []int64 // ids of held submissions
}

// pastEntries are those of a member in periods that a request names, whether current or not.
type pastEntries struct {
	member  string
	periods []int64
}

func (n *needs) submissions(entries []leaderboard.Submission) {
	for i := range entries {
		n.submission(&entries[i])
	}
}

func (n *needs) submission(s *leaderboard.Submission) {
	if leaderboard.CheckMember(s.Member) == nil {
		n.members = append(n.members, s.Member)
		if s.Play != nil {
			n.players = append(n.players, s.Member)
		}
	}
}

// tidy sorts what was added.
func (n *needs) tidy() {
	slices.Sort(n.members)
	n.members = slices.Compact(n.members)
	slices.Sort(n.players)
	n.players = slices.Compact(n.players)
}

// reading is what a batch reads of a board under its lock.
type reading struct {
	*needs
	boardID   int64
	periods   []int64 // the current ones
	hasHidden bool    // members of the board may be hidden
	metadata  bool    // entries of the board may have metadata
	held      heldNeeds

	// After scan.
	plays   plays // of the members who submit with one
	reviews reviews
	bodies  map[entries.BodyKey]*body // of metadata, which periods share; nil on a board without the rule
}

// appendTo appends one SELECT per chunk of keys, then one per chunk of members for all periods; none when the board is
// not known. A board has at most eight windows, so the ranges of one statement are some thousands at most.
func (r *reading) appendTo(t *mysql.Text) {
	if r.boardID == 0 {
		return
	}
	appendReadKeys(t, r.boardID, r.keys)
	r.appendPlays(t)
	r.held.appendTo(t)
	r.appendHidden(t)
	if len(r.periods) == 0 {
		return
	}
	appendReadEntries(t, r.periods, r.members)
	if r.metadata {
		appendReadMetadata(t, r.periods, r.members)
	}
}

// scan reads the answers to appendTo, of which rows stands before the first.
func (r *reading) scan(rows *sql.Rows, periods []*period, hidden hiddenMembers) (map[string]keyRow, error) {
	keys := map[string]keyRow{}
	if err := scanKeys(rows, r.keys, keys); err != nil {
		return nil, err
	}
	if err := r.scanPlays(rows); err != nil {
		return keys, err
	}
	var err error
	if r.reviews, err = r.held.scan(rows, func(score, tiebreak int64) (int64, int64) { return periods[0].codec.Stored(score, tiebreak) }); err != nil {
		return keys, err
	}
	if err := r.scanHidden(rows, periods, hidden); err != nil || len(r.periods) == 0 {
		return keys, err
	}
	if err := scanEntries(rows, r.members, periods); err != nil || !r.metadata {
		return keys, err
	}
	r.bodies = map[entries.BodyKey]*body{}
	return keys, scanMetadata(rows, r.members, periods, r.bodies)
}

func appendReadEntries(t *mysql.Text, periods []int64, members []string) {
	for chunk := range slices.Chunk(members, mysql.MaxRows) {
		t.Str("SELECT period_id, member, score, tiebreak, created_time FROM entries FORCE INDEX (PRIMARY) WHERE period_id IN (")
		t.Ints(periods).Str(") AND member IN (").Hexes(chunk).Str(");")
	}
}

// scanEntries reads the answers to appendReadEntries into the periods that they are of, hidden entries too.
func scanEntries(rows *sql.Rows, members []string, periods []*period) error {
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
		periodID, isHidden := entries.PeriodOf(id)
		if last == nil || last.ref.ID != periodID {
			if last = byID[periodID]; last == nil {
				return fmt.Errorf("an entry of period %d, which was not asked for", id)
			}
		}
		e.Score, e.Tiebreak = last.codec.Stored(e.Score, e.Tiebreak)
		e.CreatedTime = leaderboard.MicrosOf(created)
		if isHidden {
			last.hidden.found(e.Member, e)
		} else {
			last.entries[e.Member] = e
		}
	}
	return rows.Err()
}

// appendHidden asks which of the members are hidden on a board that may have such, and for their hidden entries. While
// a member has a hidden entry in an open period there is a row of hidden_members, so most batches find nothing here.
// That row may have been erased with the member while a submission was on its way, so removals ask for hidden entries
// without it.
func (r *reading) appendHidden(t *mysql.Text) {
	if !r.hasHidden {
		return
	}
	sides := []int64{0} // no period: a list may not be empty
	for _, id := range r.periods {
		sides = append(sides, entries.HiddenIn(id))
	}
	for chunk := range slices.Chunk(r.members, mysql.MaxRows) {
		t.Str("SELECT h.board_id, h.member, h.state, e.period_id, e.score, e.tiebreak, e.created_time FROM hidden_members h FORCE INDEX (PRIMARY)")
		t.Str(" LEFT JOIN entries e FORCE INDEX (PRIMARY) ON e.period_id IN (").Ints(sides).Str(") AND e.member = h.member")
		t.Str(" WHERE h.board_id IN (0,").Int(r.boardID).Str(") AND h.member IN (").Hexes(chunk).Str(");")
	}
	appendReadEntries(t, sides, r.removed)
}

// scanHidden reads the answers to appendHidden.
func (r *reading) scanHidden(rows *sql.Rows, periods []*period, hidden hiddenMembers) error {
	if !r.hasHidden {
		return nil
	}
	for range slices.Chunk(r.members, mysql.MaxRows) {
		if err := mysql.NextResult(rows); err != nil {
			return err
		}
		if err := scanHiddenMembers(rows, periods, hidden); err != nil {
			return err
		}
	}
	return scanEntries(rows, r.removed, periods)
}

func scanHiddenMembers(rows *sql.Rows, periods []*period, hidden hiddenMembers) error {
	for rows.Next() {
		var (
			key                 hiddenKey
			state               string
			id, score, tiebreak sql.NullInt64
			created             sql.NullTime
		)
		if err := rows.Scan(&key.boardID, &key.member, &state, &id, &score, &tiebreak, &created); err != nil {
			return err
		}
		if state != StateRestoring {
			hidden[key] = true
		}
		for _, p := range periods {
			if id.Valid && id.Int64 == entries.HiddenIn(p.ref.ID) {
				e := &leaderboard.Entry{Member: key.member, CreatedTime: leaderboard.MicrosOf(created.Time)}
				e.Score, e.Tiebreak = p.codec.Stored(score.Int64, tiebreak.Int64)
				p.hidden.found(key.member, e)
			}
		}
	}
	return rows.Err()
}

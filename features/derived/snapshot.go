package derived

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"leaderboard/api"
	"leaderboard/internal/boards"
	"leaderboard/internal/bounded"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store"
)

// snapshots reads derived boards and the states of their sources.
type snapshots struct {
	db     *mysql.DB
	boards *store.Boards
	nested *bounded.Map[nestedSource, bool] // logged already, as often as rules change
}

// derivation is a derived board and the states of its sources in one snapshot.
type derivation struct {
	*snapshots
	q     *sql.Tx
	clock leaderboard.Micros
	paced bool // it pauses between pieces of work

	board leaderboard.Board
	own   leaderboard.Period
	codec rank.Codec // of own
	step  int64
	spec  []byte // the rule that the entries follow, empty when they must be computed

	reflected []reflected     // the states that the entries reflect, by position
	desired   []desired       // the states that they should reflect, by position
	periods   map[int64]state // of the sources that exist

	named       map[string]edition // the boards that the rule names and that exist
	from, until leaderboard.Micros // of the clock: desired is right from the first on, and before the second
}

// reflected is a row of derived_sources.
type reflected struct {
	periodID, weight, seq int64
}

// desired is a source as the clock and the rule make it.
type desired struct {
	sourceSpan
	periodID int64 // 0: there is no such period
}

// state is a period that is a source.
type state struct {
	lastSeq, entries int64
	codec            rank.Codec
}

// inSnapshot runs fn in a snapshot; if it may take long, in one of the few snapshots for that. Errors: ErrBoardNotFound,
// ErrNotDerived.
func (s *snapshots) inSnapshot(ctx context.Context, board string, long bool, fn func(*derivation) error) error {
	begin := s.db.Snapshot
	if long {
		begin = s.db.LongSnapshot
	}
	tx, err := begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	d := &derivation{snapshots: s, q: tx, periods: map[int64]state{}}
	if err := d.readBoard(ctx, board); err != nil {
		return err
	}
	if err := d.readReflected(ctx); err != nil {
		return err
	}
	if err := d.readDesired(ctx); err != nil {
		return err
	}
	return fn(d)
}

func (d *derivation) readBoard(ctx context.Context, name string) error {
	var (
		b      boards.Row
		p      boards.JoinedPeriod
		now    time.Time
		step   sql.NullInt64
		window = leaderboard.WindowAllTime
	)
	query := d.db.Limited("SELECT " + boards.JoinedColumns + ", " + d.db.Sysdate() + ", d.step, d.rule_hash, " + boards.JoinedPeriodColumns +
		" FROM boards b LEFT JOIN derived_boards d ON d.board_id = b.id" +
		" LEFT JOIN periods p ON p.board_id = b.id AND p.window_name = ? AND p.starts_at = '1970-01-01' WHERE b.name = ? AND b.state = 'open'")
	dest := append(b.Dest(), &now, &step, &d.spec)
	err := d.q.QueryRowContext(ctx, query, []byte(window), []byte(name)).Scan(append(dest, p.Dest()...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return leaderboard.ErrBoardNotFound
	}
	if err != nil {
		return err
	}
	if d.board, err = b.Board(); err != nil {
		return err
	}
	if d.board.Rules.Derive == nil || !step.Valid || !p.Exists() {
		return leaderboard.ErrNotDerived
	}
	d.clock, d.step, d.own, d.codec = leaderboard.MicrosOf(now), step.Int64, p.Period(b.ID), rank.CodecOf(&d.board.Rules)
	return nil
}

func (d *derivation) readReflected(ctx context.Context) error {
	rows, err := d.q.QueryContext(ctx, d.db.Limited("SELECT source_period_id, weight, seq FROM derived_sources WHERE board_id = ?"+
		" ORDER BY position LIMIT ?"), d.board.ID, leaderboard.MaxSources)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r reflected
		if err := rows.Scan(&r.periodID, &r.weight, &r.seq); err != nil {
			return err
		}
		d.reflected = append(d.reflected, r)
	}
	return rows.Err()
}

// nestedLogged bounds how many nested sources are remembered.
const nestedLogged = 2000

// nestedSource is a source that became derived itself, which is logged once.
type nestedSource struct {
	board, version, sourceVersion int64
	source                        string
}

// readDesired finds the boards and periods of the sources, and the other periods that are reflected.
func (d *derivation) readDesired(ctx context.Context) error {
	found, err := sourceBoards(ctx, d.q, d.db.Limited(sourcesQuery(d.board.Rules.Derive)))
	if err != nil {
		return err
	}
	find := sourcesAmong(found, d.boards.Calendar)
	if err := checkKnown(d.board.Rules.Derive, find); err != nil {
		return err
	}
	byID := map[int64]leaderboard.Board{}
	d.named = make(map[string]edition, len(found))
	for _, b := range found {
		d.named[b.Name] = edition{b.ID, b.Version}
		if b.Rules.Derive == nil {
			byID[b.ID] = b
			continue
		}
		told := nestedSource{d.board.ID, d.board.Version, b.Version, b.Name}
		if _, again := d.nested.Get(told); !again {
			d.nested.Put(told, 0, true)
			d.db.Log.WarnContext(ctx, "a source of a derived board is derived itself and is ignored", "board", d.board.Name, "source", b.Name)
		}
	}
	for _, span := range spansOf(d.board.Rules.Derive, d.clock, find) {
		d.desired = append(d.desired, desired{sourceSpan: span})
	}
	d.from, d.until = turnOf(d.board.Rules.Derive, d.clock, find)
	return d.readPeriods(ctx, byID)
}

// readPeriods finds the periods by their places, and the reflected periods by their ids.
func (d *derivation) readPeriods(ctx context.Context, sources map[int64]leaderboard.Board) error {
	ids := map[string]int64{}
	for id, b := range sources {
		ids[b.Name] = id
	}
	var places []periodKey
	for _, s := range d.desired {
		if s.Found {
			places = append(places, periodKey{ids[s.Board], s.Window, s.StartsAt})
		}
	}
	found := map[periodKey]int64{}
	if len(places) > 0 {
		if err := d.scanStates(ctx, placesQuery(places), sources, found); err != nil {
			return err
		}
	}
	for i := range d.desired {
		if s := &d.desired[i]; s.Found {
			s.periodID = found[periodKey{ids[s.Board], s.Window, s.StartsAt}]
		}
	}
	var left []int64
	for _, r := range d.reflected {
		if _, ok := d.periods[r.periodID]; !ok && r.periodID != 0 {
			left = append(left, r.periodID)
		}
	}
	if len(left) == 0 {
		return nil
	}
	query := (&mysql.Text{}).Str(selectStates + " WHERE state <> 'deleting' AND id IN (").Ints(left).Str(")").String()
	return d.scanStates(ctx, query, sources, found)
}

func (d *derivation) scanStates(ctx context.Context, query string, sources map[int64]leaderboard.Board, found map[periodKey]int64) error {
	rows, err := d.q.QueryContext(ctx, d.db.Limited(query))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			id, board, lastSeq, entries int64
			window                      string
			starts                      time.Time
		)
		if err := rows.Scan(&id, &board, &window, &starts, &lastSeq, &entries); err != nil {
			return err
		}
		b, ok := sources[board]
		if !ok {
			continue // of a board that was deleted, or is derived now
		}
		found[periodKey{board, leaderboard.Window(window), leaderboard.MicrosOf(starts)}] = id
		d.periods[id] = state{lastSeq: lastSeq, entries: entries, codec: rank.CodecOf(&b.Rules)}
	}
	return rows.Err()
}

// idle returns the inputs that the snapshot of the derivation read.
func (d *derivation) idle() *idle {
	i := &idle{board: d.board.ID, at: progress{d.board.Version, d.step}, from: d.from, until: d.until}
	for _, f := range d.board.Rules.Derive.From {
		i.names = append(i.names, namedEdition{f.Board, d.named[f.Board]})
	}
	for _, s := range d.desired {
		switch {
		case s.periodID != 0:
			i.periods = append(i.periods, periodSeq{s.periodID, d.periods[s.periodID].lastSeq})
		case s.Found:
			i.missing = append(i.missing, periodKey{d.named[s.Board].id, s.Window, s.StartsAt})
		}
	}
	return i
}

// state returns the state of the board relative to its sources.
func (d *derivation) state() api.DerivationState {
	switch spec := specOf(d.board.Rules.Derive); {
	case !slices.Equal(spec, d.spec):
		return api.DerivationStateComputing
	case len(d.leaving())+len(d.arriving()) > 0:
		return api.DerivationStateRolling
	default:
		return api.DerivationStateFollowing
	}
}

// specOf returns the hash that names a rule. It has its defaults.
func specOf(d *leaderboard.Derive) []byte {
	b, err := json.Marshal(d)
	if err != nil {
		return nil // it came from JSON
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// lag returns how many changes of the reflected sources are not reflected.
func (d *derivation) lag() int64 {
	n := int64(0)
	for _, r := range d.reflected {
		n += max(0, d.periods[r.periodID].lastSeq-r.seq)
	}
	return n
}

// part is a source that counts with a weight.
type part struct{ periodID, weight int64 }

// leaving returns the reflected sources that are not desired, arriving the desired sources that are not reflected.
func (d *derivation) leaving() []part { return without(d.reflectedParts(), d.desiredParts()) }

func (d *derivation) arriving() []part { return without(d.desiredParts(), d.reflectedParts()) }

func (d *derivation) reflectedParts() []part {
	var parts []part
	for _, r := range d.reflected {
		parts = append(parts, part{r.periodID, r.weight})
	}
	return parts
}

func (d *derivation) desiredParts() []part {
	var parts []part
	for _, s := range d.desired {
		parts = append(parts, part{s.periodID, s.Weight})
	}
	return parts
}

// without returns a without b, both as multisets.
func without(a, b []part) []part {
	count := map[part]int{}
	for _, p := range b {
		count[p]++
	}
	var rest []part
	for _, p := range a {
		if count[p]--; count[p] < 0 {
			rest = append(rest, p)
		}
	}
	return rest
}

// readingRests is how long a step that touches most of a board pauses after a piece of reading, as a multiple of the time
// that the piece took: a rollover of the day has time. It does not pause between pieces of writing: as long as the
// transaction is open, every reader of the board must skip the rows that it has changed, which slows ranks down. The section
// derived of the bench measures the rate of reads during a rollover (goal: 0.8 of that without).
const readingRests = 6

// rest leaves the server to other work for a while, in a rollover of the day or a computation. A step that only follows a
// busy source does not pause.
func (d *derivation) rest(ctx context.Context, took time.Duration) error {
	if !d.paced {
		return nil
	}
	return sleep(ctx, took*readingRests)
}

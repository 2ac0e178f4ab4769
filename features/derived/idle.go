package derived

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// The greatest number of rows that one statement about all derived boards reads.
const (
	askedBoards  = 5000
	askedNames   = 500
	askedPeriods = 1000
	askedPlaces  = 200
)

// overview keeps the inputs of steps that found no work, so that one question to the database covers all boards without
// work.
//
// Whether a step has work follows from the inputs that its snapshot reads: the rules of the board and its count of steps,
// the rules of the boards that it names, the seqs of their periods, the missing periods, and the clock. A step that found
// no work leaves its inputs here (idle). As long as all inputs are the same, the next step would find no work either. No
// input returns to an old value: versions, steps and seqs grow, and a period that appeared exists or is deleted. So
// successive statements that show them unchanged prove that nothing had happened when the first was sent; the next question
// finds later changes. A restored backup has older inputs. They differ from the inputs here, or the board had no work then
// either; and the first step with work removes the inputs here, so that they are never compared with a state after the
// backup.
type overview struct {
	asks *mysql.DB

	mu   sync.Mutex      // guards idle
	idle map[int64]*idle // by the id of the board
}

// idle is the inputs of a step that found no work.
type idle struct {
	board       int64
	at          progress
	from, until leaderboard.Micros // of the clock: the sources are these in [from, until)
	names       []namedEdition     // the boards that the rule names; a missing board has the zero edition
	periods     []periodSeq
	missing     []periodKey // periods that do not exist
}

// progress is a derived board with its rules, and how many steps it has taken.
type progress struct{ version, step int64 }

// edition is a board with its rules.
type edition struct{ id, version int64 }

type namedEdition struct {
	name string
	edition
}

// periodSeq is a state of a period.
type periodSeq struct{ id, lastSeq int64 }

// put keeps the inputs of a board's step, nil if it had work.
func (o *overview) put(boardID int64, found *idle) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if found == nil {
		delete(o.idle, boardID)
	} else {
		o.idle[boardID] = found
	}
}

// list lists derived boards in the order of their ids, after the id given (0 for the first), at most limit.
// Errors: ErrUnavailable.
func (o *overview) list(ctx context.Context, after int64, limit int) ([]*followedBoard, error) {
	var list []*followedBoard
	err := o.scan(ctx, listQuery(after, limit), func(rows *sql.Rows) error {
		var (
			b       followedBoard
			sources []byte
		)
		if err := rows.Scan(&b.id, &b.name, &sources); err != nil {
			return err
		}
		list = append(list, &b)
		return json.Unmarshal(sources, &b.sources)
	})
	return list, mysql.Translate(ctx, "derived boards", err)
}

func listQuery(after int64, limit int) string {
	return (&mysql.Text{}).Str("SELECT b.id, b.name, COALESCE(JSON_EXTRACT(b.rules, '$.derive.from[*].board'), '[]') FROM derived_boards d" +
		" JOIN boards b ON b.id = d.board_id AND b.state = 'open' WHERE d.board_id > ").Int(after).
		Str(" ORDER BY d.board_id LIMIT ").Int(int64(max(0, limit))).String()
}

// moved reports which of the boards may have work for a step, in this process or another. The others reflect their
// sources, as a few statements show for all boards together. It forgets boards that are not given. Errors: ErrUnavailable.
func (o *overview) moved(ctx context.Context, boardIDs []int64) ([]bool, error) {
	asked, known := make([]*idle, len(boardIDs)), map[int64]*idle{}
	o.mu.Lock()
	for i, id := range boardIDs {
		if was := o.idle[id]; was != nil {
			asked[i], known[id] = was, was
		}
	}
	o.idle = known
	o.mu.Unlock()
	now, err := o.inputsOf(ctx, asked)
	if err != nil {
		return nil, mysql.Translate(ctx, "moved sources", err)
	}
	found := make([]bool, len(boardIDs))
	for i, was := range asked {
		found[i] = was == nil || !now.same(was)
	}
	return found, nil
}

// inputs is the present values in the database of the inputs of idle boards' steps.
type inputs struct {
	clock   leaderboard.Micros // of the database, when it was asked first
	boards  map[int64]progress // by id
	names   map[string]edition
	periods map[int64]int64    // last_seq by id
	places  map[periodKey]bool // of periods that were missing; true: the period exists now
}

// same reports whether all inputs are unchanged.
func (n *inputs) same(was *idle) bool {
	if n.clock < was.from || n.clock >= was.until || n.boards[was.board] != was.at {
		return false
	}
	for _, b := range was.names {
		if n.names[b.name] != b.edition {
			return false
		}
	}
	for _, p := range was.periods {
		if seq, ok := n.periods[p.id]; !ok || seq != p.lastSeq {
			return false
		}
	}
	return !slices.ContainsFunc(was.missing, func(at periodKey) bool { return n.places[at] })
}

// inputsOf asks for everything that these boards, nil ones aside, had read.
func (o *overview) inputsOf(ctx context.Context, idles []*idle) (*inputs, error) {
	n := &inputs{names: map[string]edition{}, boards: map[int64]progress{}, periods: map[int64]int64{}, places: map[periodKey]bool{}}
	var ids []int64
	for _, was := range idles {
		if was == nil {
			continue
		}
		n.boards[was.board] = progress{}
		for _, b := range was.names {
			n.names[b.name] = edition{}
		}
		for _, p := range was.periods {
			if _, again := n.periods[p.id]; !again {
				n.periods[p.id] = 0
				ids = append(ids, p.id)
			}
		}
		for _, at := range was.missing {
			n.places[at] = false
		}
	}
	clear(n.periods)
	if err := o.readProgress(ctx, n); err != nil {
		return nil, err // without the other statements: each would wait for a database that is away
	}
	if err := o.readEditions(ctx, n); err != nil {
		return nil, err
	}
	if err := o.readSeqs(ctx, n, ids); err != nil {
		return nil, err
	}
	return n, o.readPlaces(ctx, n)
}

// progressQuery finds derived boards; now is the expression of the clock.
func progressQuery(now string, ids []int64) string {
	return (&mysql.Text{}).Str("SELECT d.board_id, b.version, d.step, " + now + " FROM derived_boards d FORCE INDEX (PRIMARY)" +
		" JOIN boards b ON b.id = d.board_id AND b.state = 'open' WHERE d.board_id IN (").Ints(ids).Str(")").String()
}

func (o *overview) readProgress(ctx context.Context, n *inputs) error {
	for ids := range slices.Chunk(slices.Collect(maps.Keys(n.boards)), askedBoards) {
		err := o.scan(ctx, progressQuery(o.asks.Now(), ids), func(rows *sql.Rows) error {
			var (
				id  int64
				at  progress
				now time.Time
			)
			err := rows.Scan(&id, &at.version, &at.step, &now)
			n.boards[id], n.clock = at, cmp.Or(n.clock, leaderboard.MicrosOf(now))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func editionsQuery(names []string) string {
	return (&mysql.Text{}).Str("SELECT name, id, version FROM boards WHERE state = 'open' AND name IN (").Hexes(names).Str(")").String()
}

func (o *overview) readEditions(ctx context.Context, n *inputs) error {
	for names := range slices.Chunk(slices.Collect(maps.Keys(n.names)), askedNames) {
		err := o.scan(ctx, editionsQuery(names), func(rows *sql.Rows) error {
			var name string
			var e edition
			err := rows.Scan(&name, &e.id, &e.version)
			n.names[name] = e
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func seqsQuery(ids []int64) string {
	return (&mysql.Text{}).Str("SELECT id, last_seq FROM periods WHERE state <> 'deleting' AND id IN (").Ints(ids).Str(")").String()
}

func (o *overview) readSeqs(ctx context.Context, n *inputs, ids []int64) error {
	for chunk := range slices.Chunk(ids, askedPeriods) {
		err := o.scan(ctx, seqsQuery(chunk), func(rows *sql.Rows) error {
			var id, seq int64
			err := rows.Scan(&id, &seq)
			n.periods[id] = seq
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *overview) readPlaces(ctx context.Context, n *inputs) error {
	for chunk := range slices.Chunk(slices.Collect(maps.Keys(n.places)), askedPlaces) {
		err := o.scan(ctx, placesQuery(chunk), func(rows *sql.Rows) error {
			var (
				id, board, seq, entries int64
				window                  string
				starts                  time.Time
			)
			err := rows.Scan(&id, &board, &window, &starts, &seq, &entries)
			n.places[periodKey{board, leaderboard.Window(window), leaderboard.MicrosOf(starts)}] = true
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *overview) scan(ctx context.Context, query string, row func(*sql.Rows) error) error {
	rows, err := o.asks.Pool.QueryContext(ctx, o.asks.Limited(query))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

package derived

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"sync"
	"time"

	"leaderboard"
	"leaderboard/store/internal/boards"
	"leaderboard/store/internal/db"
)

// How many rows one statement about all derived boards asks for at most.
const (
	askedNames   = 500
	askedPeriods = 1000
	askedPlaces  = 200
)

// overview is what this process knows of all derived boards, so that those that have nothing to do are asked about
// together.
//
// Whether a step has something to do follows from what its snapshot reads: the rules of the board and its count of
// steps, the rules of the boards that it names, the seqs of their periods, which of the periods are not there, and the
// clock. A step that found nothing to do leaves these here (idle). As long as all of them are the same, the next step
// would find nothing either. None of them comes back to what it was: versions, steps and seqs grow, and a period that
// appeared is there or gone. So statements that show them unchanged, one after the other, show that nothing had
// happened when the first of them was sent; what happens later the next round finds. A restored backup has older ones.
// They differ from those here, or the board idled then too; and the first step that has something to do takes away what
// is here, so that it is not taken for what comes after the backup.
type overview struct {
	asks *db.DB

	mu     sync.Mutex         // guards the fields below
	boards map[int64]*known   // by id
	round  int64              // of listing
	clock  leaderboard.Micros // of the database, when boards were listed
}

// known is a derived board.
type known struct {
	board *leaderboard.DerivedBoard
	step  int64 // of derived_boards, when it was listed
	round int64 // of overview, when it was listed
	idle  *idle // nil: the last step here had something to do, or there was none
}

// idle is what a step read that found nothing to do.
type idle struct {
	version, step int64
	from, until   leaderboard.Micros // of the clock: the sources are these from the first on, and before the second
	names         []namedEdition     // the boards that the rule names; one that is not there has the zero edition
	periods       []periodSeq
	missing       []place // periods that are not there
}

// edition is a board with its rules.
type edition struct{ id, version int64 }

type namedEdition struct {
	name string
	edition
}

// periodSeq is a state of a period.
type periodSeq struct{ id, lastSeq int64 }

// put keeps what a step of a board that is listed found, nil when it had something to do.
func (o *overview) put(boardID int64, found *idle) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if k := o.boards[boardID]; k != nil {
		k.idle = found
	}
}

// DerivedBoards lists derived boards in the order of their ids, after the id given (0 for the first), at most limit.
// Rules are read of those only that are new here or have changed. Errors: ErrUnavailable.
func (o *overview) DerivedBoards(ctx context.Context, after int64, limit int) ([]*leaderboard.DerivedBoard, error) {
	listed, err := o.listBoards(ctx, after, limit)
	if err != nil {
		return nil, db.Translate(ctx, "derived boards", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if after == 0 {
		o.round++
	}
	if len(listed) > 0 {
		o.clock = listed[0].clock
	}
	out := make([]*leaderboard.DerivedBoard, 0, len(listed))
	for _, l := range listed {
		k := o.boards[l.id]
		if l.unknown && l.board != nil {
			k = &known{board: l.board}
			o.boards[l.id] = k
		}
		if k != nil { // otherwise it is derived no more, or not open
			k.step, k.round = l.step, o.round
			out = append(out, k.board)
		}
	}
	if len(listed) < limit {
		maps.DeleteFunc(o.boards, func(_ int64, k *known) bool { return k.round != o.round })
	}
	return out, nil
}

// listed is a derived board in a list.
type listed struct {
	id, step int64
	clock    leaderboard.Micros
	unknown  bool                      // in this version
	board    *leaderboard.DerivedBoard // of an unknown one
}

// listQuery lists boards; now is the expression of the clock.
func listQuery(now string, after int64, limit int) string {
	return (&db.Text{}).Str("SELECT d.board_id, d.step, b.version, " + now + " FROM derived_boards d" +
		" JOIN boards b ON b.id = d.board_id AND b.state = 'open' WHERE d.board_id > ").Int(after).
		Str(" ORDER BY d.board_id LIMIT ").Int(int64(max(0, limit))).String()
}

func (o *overview) listBoards(ctx context.Context, after int64, limit int) ([]listed, error) {
	var list []listed
	var unknown []int64
	err := o.scan(ctx, listQuery(o.asks.Now(), after, limit), func(rows *sql.Rows) error {
		var (
			l       listed
			version int64
			now     time.Time
		)
		if err := rows.Scan(&l.id, &l.step, &version, &now); err != nil {
			return err
		}
		l.clock = leaderboard.MicrosOf(now)
		if l.unknown = !o.knows(l.id, version); l.unknown {
			unknown = append(unknown, l.id)
		}
		list = append(list, l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	found, err := o.readBoards(ctx, unknown)
	for i := range list {
		list[i].board = found[list[i].id]
	}
	return list, err
}

// knows says whether a board is known in a version.
func (o *overview) knows(id, version int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	k := o.boards[id]
	return k != nil && k.board.Version == version
}

func boardsQuery(ids []int64) string {
	return (&db.Text{}).Str("SELECT " + boards.Columns + " FROM boards WHERE state = 'open' AND id IN (").Ints(ids).Str(")").String()
}

// readBoards reads those of the boards that are derived.
func (o *overview) readBoards(ctx context.Context, ids []int64) (map[int64]*leaderboard.DerivedBoard, error) {
	found := make(map[int64]*leaderboard.DerivedBoard, len(ids))
	for chunk := range slices.Chunk(ids, askedNames) {
		list, err := sourceBoards(ctx, o.asks, o.asks.Limited(boardsQuery(chunk)))
		if err != nil {
			return nil, err
		}
		for i := range list {
			b := &list[i]
			if b.Rules.Derive == nil {
				continue
			}
			one := &leaderboard.DerivedBoard{ID: b.ID, Version: b.Version, Name: b.Name}
			for _, from := range b.Rules.Derive.From {
				one.Sources = append(one.Sources, from.Board)
			}
			found[b.ID] = one
		}
	}
	return found, nil
}

// MovedDerived says for which of the boards, as they were listed last, a step may find something to do: one that another
// process could take as well as this one. The others are where their sources are, which a few statements tell of all
// boards together. Errors: ErrUnavailable.
func (o *overview) MovedDerived(ctx context.Context, boardIDs []int64) ([]bool, error) {
	moved := make([]bool, len(boardIDs))
	asked := make([]*idle, len(boardIDs))
	n := 0
	o.mu.Lock()
	for i, id := range boardIDs {
		k := o.boards[id]
		if k == nil || k.idle == nil || k.idle.version != k.board.Version || k.idle.step != k.step {
			moved[i] = true
			continue
		}
		asked[i] = k.idle
		n++
	}
	clock := o.clock
	o.mu.Unlock()
	if n == 0 {
		return moved, nil
	}
	now, err := o.inputsOf(ctx, asked)
	if err != nil {
		return nil, db.Translate(ctx, "moved sources", err)
	}
	now.clock = clock
	for i, was := range asked {
		moved[i] = was == nil || !now.same(was)
	}
	return moved, nil
}

// inputs is what the database shows now of what idle boards had read.
type inputs struct {
	clock   leaderboard.Micros
	names   map[string]edition
	periods map[int64]int64 // last_seq by id
	places  map[place]bool  // that are asked for; true: there is a period
}

// same says whether all of it is as it was.
func (n *inputs) same(was *idle) bool {
	if n.clock < was.from || n.clock >= was.until {
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
	return !slices.ContainsFunc(was.missing, func(at place) bool { return n.places[at] })
}

// inputsOf asks for everything that these boards, nil ones aside, had read.
func (o *overview) inputsOf(ctx context.Context, idles []*idle) (*inputs, error) {
	n := &inputs{names: map[string]edition{}, periods: map[int64]int64{}, places: map[place]bool{}}
	var ids []int64
	for _, was := range idles {
		if was == nil {
			continue
		}
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
	if err := o.readEditions(ctx, n); err != nil {
		return nil, err // without the other questions: a database that is away would be waited for three times
	}
	if err := o.readSeqs(ctx, n, ids); err != nil {
		return nil, err
	}
	return n, o.readPlaces(ctx, n)
}

func editionsQuery(names []string) string {
	return (&db.Text{}).Str("SELECT name, id, version FROM boards WHERE state = 'open' AND name IN (").Hexes(names).Str(")").String()
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
	return (&db.Text{}).Str("SELECT id, last_seq FROM periods WHERE state <> 'deleting' AND id IN (").Ints(ids).Str(")").String()
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
			n.places[place{board, leaderboard.Window(window), leaderboard.MicrosOf(starts)}] = true
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *overview) scan(ctx context.Context, query string, row func(*sql.Rows) error) error {
	rows, err := o.asks.QueryContext(ctx, o.asks.Limited(query))
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

package metadata

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Store looks metadata up.
type Store struct {
	db *mysql.DB
	// alone runs a question to the database in a separate slot.
	alone func(ctx context.Context, ask func(context.Context) error) error
	known *known
	asked asked
}

// NewStore returns a Store that keeps nothing until Keep lets it.
func NewStore(db *mysql.DB, alone func(ctx context.Context, ask func(context.Context) error) error) *Store {
	return &Store{db, alone, newKnown(), newAsked()}
}

// Folding hears of commits of a period in memory, before answers show them.
func (s *Store) Folding(period int64, commits []leaderboard.Commit) { s.known.folding(period, commits) }

// Keep bounds the metadata kept for periods in memory, and returns its bytes.
func (s *Store) Keep(within int64, inMemory func(period int64) bool) int64 {
	return s.known.keep(within, inMemory)
}

// Metadata implements Reader. Known metadata is not read.
func (s *Store) Metadata(ctx context.Context, of []leaderboard.MetadataQuery) ([][]leaderboard.EntryMetadata, error) {
	out, missing, entries, lacking := make([][]leaderboard.EntryMetadata, len(of)), make([][]int, len(of)), 0, 0
	for i := range of {
		out[i] = make([]leaderboard.EntryMetadata, len(of[i].Entries))
		missing[i] = s.known.find(&of[i], out[i])
		entries, lacking = entries+len(out[i]), lacking+len(missing[i])
	}
	s.asked.memory.Add(float64(entries - lacking))
	if lacking == 0 {
		return out, nil
	}
	s.asked.mysql.Add(float64(lacking))
	return out, s.look(ctx, of, missing, out)
}

// look asks MySQL for the metadata that is missing, and keeps the answers.
func (s *Store) look(ctx context.Context, of []leaderboard.MetadataQuery, missing [][]int, out [][]leaderboard.EntryMetadata) error {
	wanted := wantedRows{states: true}
	if len(of) == 1 && len(missing[0]) == 1 {
		wanted.ahead = s.known.ahead(&of[0], of[0].Entries[missing[0][0]].Member)
	}
	for i := range of {
		codec := rank.CodecOf(of[i].Period.Rules)
		for _, j := range missing[i] {
			place := &out[i][j]
			wanted.add(of[i].Period.ID, codec.Key(of[i].Entries[j]), func(body string, same bool) {
				if place.Moved = !same; same {
					place.Body = body
				}
			})
		}
	}
	err := s.alone(ctx, func(ctx context.Context) error {
		return mysql.Translate(ctx, "metadata", wanted.read(ctx, s.db, s.db.Pool))
	})
	if err != nil {
		return err
	}
	var more []fact
	for _, r := range wanted.more {
		if e, err := rank.CodecOf(of[0].Period.Rules).Entry(r.Key); err == nil {
			more = append(more, fact{entry: e, body: r.Body})
		}
	}
	for i := range of {
		if at, ok := wanted.at[of[i].Period.ID]; ok {
			s.known.learn(&of[i], at, missing[i], out[i], more)
		}
	}
	return nil
}

// wantedRows is entries whose metadata is looked up.
type wantedRows struct {
	periods []int64
	members []string
	named   map[string]bool // the members
	of      map[int64]map[string][]wantedRow

	states bool                           // the revisions of the periods are wanted too
	at     map[int64]leaderboard.Revision // then
	ahead  int                            // the number of members after the only member that are read too
	more   []storedRow                    // then
}

// wantedRow is an entry, and the destination for its member's row, if any; same reports that the row is the entry's.
type wantedRow struct {
	key  rank.Key
	take func(body string, same bool)
}

func (w *wantedRows) add(period int64, key rank.Key, take func(body string, same bool)) {
	if w.of == nil {
		w.of, w.named = map[int64]map[string][]wantedRow{}, map[string]bool{}
	}
	if w.of[period] == nil {
		w.of[period] = map[string][]wantedRow{}
		w.periods = append(w.periods, period)
	}
	member := key.Member()
	if !w.named[member] {
		w.named[member] = true
		w.members = append(w.members, member)
	}
	w.of[period][member] = append(w.of[period][member], wantedRow{key, take})
}

// read looks all of it up with one statement.
func (w *wantedRows) read(ctx context.Context, d *mysql.DB, q mysql.Querier) error {
	if len(w.members) == 0 {
		return nil
	}
	w.at = map[int64]leaderboard.Revision{}
	rows, err := q.QueryContext(ctx, d.Limited(w.text()))
	if err != nil {
		return err
	}
	defer rows.Close()
	return eachRow(rows, func(r *storedRow) {
		if r.At != (leaderboard.Revision{}) {
			w.at[r.PeriodID] = r.At
			return
		}
		if !w.named[r.Key.Member()] {
			w.more = append(w.more, *r)
		}
		for _, wanted := range w.of[r.PeriodID][r.Key.Member()] {
			wanted.take(r.Body, r.Key == wanted.key)
		}
	})
}

// text returns the statement.
func (w *wantedRows) text() string {
	t := &mysql.Text{}
	if w.states {
		appendStates(t, w.periods).Str(" UNION ALL ")
	}
	if appendRows(t, w.periods, w.members, true); w.ahead > 0 {
		appendAfter(t.Str(" UNION ALL "), w.periods[0], w.members[0], w.ahead)
	}
	return t.String()
}

// ReadKept returns the metadata of entries of a period.
func (Part) ReadKept(ctx context.Context, d *mysql.DB, q mysql.Querier, period int64, of []rank.Key) ([]string, error) {
	bodies, wanted := make([]string, len(of)), wantedRows{}
	for i, key := range of {
		wanted.add(period, key, func(body string, same bool) {
			if same {
				bodies[i] = body
			}
		})
	}
	return bodies, wanted.read(ctx, d, q)
}

// asked counts the entries whose metadata was asked for, by where it was found.
type asked struct {
	all           *prometheus.CounterVec
	memory, mysql prometheus.Counter
}

func newAsked() asked {
	all := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "leaderboard_metadata_entries_total", Help: "Entries whose metadata was asked for, by where it was found.",
	}, []string{"source"})
	return asked{all, all.WithLabelValues("memory"), all.WithLabelValues("mysql")}
}

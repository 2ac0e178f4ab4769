package metadata

import (
	"context"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Store looks metadata up.
type Store struct {
	db *mysql.DB
	// alone runs a question to the database in a slot of its own.
	alone func(ctx context.Context, ask func(context.Context) error) error
}

// NewStore returns a Store.
func NewStore(db *mysql.DB, alone func(ctx context.Context, ask func(context.Context) error) error) *Store {
	return &Store{db, alone}
}

// Metadata implements Reader.
func (s *Store) Metadata(ctx context.Context, of []leaderboard.MetadataQuery) ([][]leaderboard.EntryMetadata, error) {
	out := make([][]leaderboard.EntryMetadata, len(of))
	wanted := wantedRows{}
	for i, q := range of {
		out[i] = make([]leaderboard.EntryMetadata, len(q.Entries))
		codec := rank.CodecOf(q.Period.Rules)
		for j := range q.Entries {
			place := &out[i][j]
			wanted.add(q.Period.ID, codec.Key(q.Entries[j]), func(body string, same bool) {
				if place.Moved = !same; same {
					place.Body = body
				}
			})
		}
	}
	err := s.alone(ctx, func(ctx context.Context) error {
		return mysql.Translate(ctx, "metadata", wanted.read(ctx, s.db, s.db.Pool))
	})
	return out, err
}

// wantedRows is entries of which metadata is looked up.
type wantedRows struct {
	periods []int64
	members []string
	named   map[string]bool // the members
	of      map[int64]map[string][]wantedRow
}

// wantedRow is one of them, and what takes the row of its member, if there is one; same reports that it is the entry's.
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
	rows, err := q.QueryContext(ctx, d.Limited(appendRows(&mysql.Text{}, w.periods, w.members, true).String()))
	if err != nil {
		return err
	}
	defer rows.Close()
	return eachRow(rows, func(r *storedRow) {
		for _, wanted := range w.of[r.PeriodID][r.Key.Member()] {
			wanted.take(r.Body, r.Key == wanted.key)
		}
	})
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

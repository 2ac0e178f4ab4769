package read

import (
	"context"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Metadata implements leaderboard.MetadataReader.
func (s *Reader) Metadata(ctx context.Context, of []leaderboard.MetadataQuery) ([][]leaderboard.EntryMetadata, error) {
	out := make([][]leaderboard.EntryMetadata, len(of))
	wanted := metadataWanted{}
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
	return out, mysql.Translate(ctx, "metadata", wanted.read(ctx, s.db, s.db.Pool))
}

// metadataWanted is entries of which metadata is looked up.
type metadataWanted struct {
	periods []int64
	members []string
	named   map[string]bool // the members
	of      map[int64]map[string][]wantedMetadata
}

// wantedMetadata is one of them, and what takes the row of its member, if there is one; same reports that it is the entry's.
type wantedMetadata struct {
	key  rank.Key
	take func(body string, same bool)
}

func (w *metadataWanted) add(period int64, key rank.Key, take func(body string, same bool)) {
	if w.of == nil {
		w.of, w.named = map[int64]map[string][]wantedMetadata{}, map[string]bool{}
	}
	if w.of[period] == nil {
		w.of[period] = map[string][]wantedMetadata{}
		w.periods = append(w.periods, period)
	}
	member := key.Member()
	if !w.named[member] {
		w.named[member] = true
		w.members = append(w.members, member)
	}
	w.of[period][member] = append(w.of[period][member], wantedMetadata{key, take})
}

// read looks all of it up with one statement.
func (w *metadataWanted) read(ctx context.Context, d *mysql.DB, q mysql.Querier) error {
	if len(w.members) == 0 {
		return nil
	}
	rows, err := q.QueryContext(ctx, d.Limited(entries.AppendMetadata(&mysql.Text{}, w.periods, w.members, true).String()))
	if err != nil {
		return err
	}
	defer rows.Close()
	return entries.EachMetadata(rows, func(r *entries.MetadataRow) {
		for _, wanted := range w.of[r.PeriodID][r.Key.Member()] {
			wanted.take(r.Body, r.Key == wanted.key)
		}
	})
}

// addMetadata gives the entries of answers the metadata that they have at the state of the view, where it is asked for. It is
// the last statement.
func (b *asking) addMetadata(ctx context.Context) error {
	wanted := metadataWanted{}
	add := func(r *leaderboard.Ranked) {
		wanted.add(b.ref.ID, b.codec.Key(r.Entry), func(body string, same bool) {
			if same {
				r.Metadata = body
			}
		})
	}
	for i := range b.asked {
		out := &b.answers[i]
		if !withMetadata(&b.asked[i]) || out.Err != nil {
			continue
		}
		if out.Page != nil {
			for j := range out.Page.Entries {
				add(&out.Page.Entries[j])
			}
		}
		if out.Members != nil {
			for j := range out.Members.Entries {
				add(&out.Members.Entries[j].Ranked)
			}
			if out.Members.Self != nil {
				add(&out.Members.Self.Ranked)
			}
		}
	}
	return wanted.read(ctx, b.reader.db, b.q)
}

func withMetadata(a *asked) bool {
	return a.page != nil && a.page.Metadata || a.members != nil && a.members.Metadata
}

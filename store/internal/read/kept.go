package read

import (
	"context"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// addKept adds to the entries of answers the data kept with them at the state of the view, where requested. It is the last
// statement.
func (b *questionBatch) addKept(ctx context.Context) error {
	var list []*leaderboard.Ranked
	for i := range b.questions {
		out := &b.answers[i]
		if !withKept(&b.questions[i]) || out.Err != nil {
			continue
		}
		if out.Page != nil {
			for j := range out.Page.Entries {
				list = append(list, &out.Page.Entries[j])
			}
		}
		if out.Members != nil {
			list = append(list, out.Members.All()...)
		}
	}
	keys := make([]rank.Key, len(list))
	for i, r := range list {
		keys[i] = b.codec.Key(r.Entry)
	}
	texts, err := b.reader.readKept(ctx, b.q, b.ref.ID, keys)
	for i := range texts {
		list[i].Metadata = texts[i]
	}
	return err
}

// readKept returns the data kept with entries, nil if nothing keeps any.
func (s *Reader) readKept(ctx context.Context, q mysql.Querier, period int64, keys []rank.Key) ([]string, error) {
	if s.kept == nil || len(keys) == 0 {
		return nil, nil
	}
	return s.kept.ReadKept(ctx, s.db, q, period, keys)
}

func withKept(a *question) bool {
	return a.page != nil && a.page.Metadata || a.members != nil && a.members.Metadata
}

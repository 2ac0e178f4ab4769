package read

import (
	"context"

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
	if b.reader.kept == nil || len(list) == 0 {
		return nil
	}
	keys := make([]rank.Key, len(list))
	for i, r := range list {
		keys[i] = b.codec.Key(r.Entry)
	}
	texts, err := b.reader.kept.ReadKept(ctx, b.reader.db, b.q, b.ref.ID, keys)
	for i := range texts {
		list[i].Metadata = texts[i]
	}
	return err
}

func withKept(a *question) bool {
	return a.page != nil && a.page.Metadata || a.members != nil && a.members.Metadata
}

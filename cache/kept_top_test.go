package cache

import (
	"testing"

	"leaderboard/cache/cachetest"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// TestLastPageStays: the last good first page of a period is there in an outage, however many other pages were read
// since, and its cursor continues after a cut page; its age and its length are reported correctly.
func TestLastPageStays(t *testing.T) {
	t.Parallel()
	w := cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
	w.Fill(300)
	r := NewReader(nil, &worldDatabase{World: w}, ReaderOptions{FreshFor: 1, LocalEntries: 64, LocalBytes: 1 << 20})
	good := page(t, r, w.Ref, leaderboard.PageQuery{Limit: 10})
	for i := range int64(300) {
		page(t, r, w.Ref, leaderboard.PageQuery{Limit: 1, Offset: i})
	}
	if _, ok := r.kept.answers.Get(newPending(pageQuestion{onePeriod{w.Ref}, leaderboard.PageQuery{Limit: 10}}).key()); ok {
		t.Fatal("the page is still kept as others are: nothing is tested")
	}
	w.Fail(leaderboard.ErrUnavailable)
	for limit, want := range map[int]string{10: good.Next, 4: string(rank.CodecOf(w.Ref.Rules).Key(good.Entries[3].Entry))} {
		got := page(t, r, w.Ref, leaderboard.PageQuery{Limit: limit})
		if !got.Stale || got.Seq != good.Seq || len(got.Entries) != limit || got.Next != want || got.Entries[0] != good.Entries[0] {
			t.Errorf("limit %d in an outage: %+v", limit, got)
		}
	}
	for name, q := range map[string]leaderboard.PageQuery{
		"longer": {Limit: 100}, "deeper": {Limit: 10, Offset: 5}, "newer": {Limit: 10, Query: leaderboard.Query{MinSeq: good.Seq + 1}},
	} {
		if got, err := r.Page(t.Context(), w.Ref, q); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

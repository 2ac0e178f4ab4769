package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// PropertyCombined runs random histories of several boards on the subject and on the model side by side, with entries
// that are tied across boards and entries of one member that are the same on several. After every step all combined
// rankings must be true at the states that they report; of a fresh subject these must be the newest.
func PropertyCombined(t *testing.T, s Subject, combined leaderboard.CombinedRankings, fresh bool) {
	var runs atomic.Int64
	prefix := boardName(t)
	rapid.Check(t, func(rt *rapid.T) {
		h := newCombinedHistory(t.Context(), rt, s, fmt.Sprintf("%s-%d", prefix[:min(40, len(prefix))], runs.Add(1)))
		h.combined, h.fresh = combined, fresh
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			h.step(rt)
			h.compare(rt)
		}
	})
}

// combinedHistory is several boards in the subject and in one model.
type combinedHistory struct {
	combined leaderboard.CombinedRankings
	fresh    bool
	boards   []*history
	refs     []leaderboard.PeriodRef
	model    []leaderboard.PeriodRef
}

func newCombinedHistory(ctx context.Context, t *rapid.T, s Subject, name string) *combinedHistory {
	orders := rapid.SampledFrom([]leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc})
	rules := leaderboard.Rules{Order: orders.Draw(t, "order"), Tiebreak: anyTiebreak().Draw(t, "tiebreak"), TopN: 1000}
	h, model := &combinedHistory{}, NewModel()
	for i := range rapid.IntRange(1, 4).Draw(t, "boards") {
		rules.Policy = rapid.SampledFrom([]leaderboard.Policy{leaderboard.PolicyBest, leaderboard.PolicyLatest, leaderboard.PolicySum}).Draw(t, "policy")
		one := &history{Subject: s, ctx: ctx, model: model, name: fmt.Sprintf("%s-%c", name, 'a'+i)}
		one.SetNow = nil
		one.syncClock(t)
		for _, database := range []Database{s.Database, model} {
			if _, _, err := database.PutBoard(ctx, one.name, rules); err != nil {
				t.Fatal(err)
			}
		}
		one.follow(t)
		one.twin = one.twins[0]
		h.boards = append(h.boards, one)
		h.refs, h.model = append(h.refs, one.ref), append(h.model, one.modelRef)
	}
	return h
}

func (h *combinedHistory) step(t *rapid.T) {
	one := rapid.SampledFrom(h.boards).Draw(t, "board")
	switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
	case what == 0:
		one.remove(t, anyMember().Draw(t, "removed"))
	case what == 1 && len(one.Disturb) > 0:
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(one.Disturb))).Draw(t, "disturbance")
		if err := one.Disturb[name](one.ctx, one.ref); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	case what < 5: // the same on several boards, with keys that are the same
		entries := rapid.SliceOfN(anySubmission(&one.ref.Rules.Tiebreak), 0, 8).Draw(t, "entries of several")
		for i := range entries {
			created := leaderboard.Micros(rapid.Int64Range(0, 2).Draw(t, "time of several"))
			entries[i].CreatedTime = &created
		}
		for _, one := range h.boards {
			if rapid.Bool().Draw(t, "too") {
				one.submit(t, leaderboard.SubmitRequest{Board: one.name, Entries: entries})
			}
		}
	default:
		one.submit(t, leaderboard.SubmitRequest{Board: one.name, Entries: rapid.SliceOfN(anySubmission(&one.ref.Rules.Tiebreak), 0, 12).Draw(t, "entries")})
	}
}

// compare asks every question in both modes.
func (h *combinedHistory) compare(t *rapid.T) {
	ctx, model := h.boards[0].ctx, h.boards[0].model
	oracle, err := NewCombinedOracle(ctx, model, h.model)
	if err != nil {
		t.Fatal(err)
	}
	offset, limit := rapid.Int64Range(0, 30).Draw(t, "offset"), rapid.IntRange(0, 20).Draw(t, "limit")
	after, behind := h.somewhere(t)
	member := anyMember().Draw(t, "asked")
	for _, mode := range []leaderboard.Mode{leaderboard.ModeStrict, leaderboard.ModeTied, leaderboard.ModeAll} {
		for _, q := range []leaderboard.CombinedQuery{
			{Limit: 100},
			{Limit: limit, Offset: offset},
			{Limit: limit, Offset: 2000},
			{Limit: limit, After: after, AfterBoard: behind},
			{Limit: limit, Around: member, Before: rapid.IntRange(0, 6).Draw(t, "before")},
		} {
			q.Mode, q.Uncached = mode, rapid.Bool().Draw(t, "fresh")
			fresh := h.fresh || q.Uncached
			got, err := h.combined.CombinedPage(ctx, h.refs, q)
			want, wantErr := model.CombinedPage(ctx, h.model, q)
			if fresh && wantErr != nil || errors.Is(err, leaderboard.ErrNotRanked) && q.Around != "" {
				if !errors.Is(err, leaderboard.ErrNotRanked) || fresh && wantErr == nil {
					t.Fatalf("%+v: %v, want %v", q, err, wantErr)
				}
				continue
			}
			if err == nil {
				err = oracle.CheckPage(q, got)
			}
			if err == nil && fresh && !slices.Equal(vector(got.States), vector(want.States)) {
				err = fmt.Errorf("%+v: at %v, not at %v", q, vector(got.States), vector(want.States))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		q := leaderboard.CombinedMemberQuery{Mode: mode, Member: member, Uncached: rapid.Bool().Draw(t, "fresh")}
		got, err := h.combined.CombinedMember(ctx, h.refs, q)
		if err == nil {
			err = oracle.CheckMember(mode, member, got)
		}
		if want, _ := model.CombinedMember(ctx, h.model, q); err == nil && (h.fresh || q.Uncached) && !slices.Equal(vector(got.States), vector(want.States)) {
			err = fmt.Errorf("%+v: at %v, not at %v", q, vector(got.States), vector(want.States))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// somewhere returns a place: the place of an entry, or any other.
func (h *combinedHistory) somewhere(t *rapid.T) (key, board string) {
	board = rapid.SampledFrom(append([]leaderboard.PeriodRef{{Board: "0"}, {Board: "z"}}, h.refs...)).Draw(t, "after board").Board
	all, err := h.boards[0].model.CombinedPage(h.boards[0].ctx, h.model, leaderboard.CombinedQuery{Mode: leaderboard.ModeStrict, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	e := leaderboard.Entry{
		Member: anyMember().Draw(t, "after"), Score: anyScore().Draw(t, "after score"), Tiebreak: anyScore().Draw(t, "after tiebreak"),
		CreatedTime: leaderboard.Micros(rapid.Int64Range(-1, 3).Draw(t, "after time")),
	}
	if len(all.Entries) > 0 && rapid.Bool().Draw(t, "after an entry") {
		e = rapid.SampledFrom(all.Entries).Draw(t, "after this").Entry
	}
	return string(rank.CodecOf(h.refs[0].Rules).Key(e)), board
}

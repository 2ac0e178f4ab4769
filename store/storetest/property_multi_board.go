package storetest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// PropertyMultiBoard runs random requests to three boards of different kinds, some of them across all, some to one, on both
// the subject and the model. Every receipt must be the same, and in the end every period and its log. The clock of the
// subject must be settable: otherwise a multi-board request has as many moments as boards.
func PropertyMultiBoard(t *testing.T, s Subject) {
	var runs atomic.Int64
	prefix := boardName(t)
	rapid.Check(t, func(rt *rapid.T) {
		h := &multiBoardHistory{Subject: s, t: rt, model: NewModel(), ties: map[string]leaderboard.Tiebreak{}}
		h.now = propertyStart
		h.passTime(0)
		h.makeBoards(fmt.Sprintf("%s-%d", prefix[:min(40, len(prefix))], runs.Add(1)))
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			h.step()
		}
		for _, name := range h.boards {
			h.compare(name)
		}
	})
}

// multiBoardHistory is three boards in the subject and in the model.
type multiBoardHistory struct {
	Subject
	t      *rapid.T
	model  *Model
	boards []string
	ties   map[string]leaderboard.Tiebreak // by board
	now    leaderboard.Micros
	sent   []leaderboard.MultiBoardRequest
}

func (h *multiBoardHistory) passTime(by leaderboard.Micros) {
	h.now += by
	h.SetNow(h.now)
	h.model.SetNow(h.now)
}

func (h *multiBoardHistory) makeBoards(prefix string) {
	for i, policy := range []leaderboard.Policy{leaderboard.PolicyBest, leaderboard.PolicyLatest, leaderboard.PolicySum} {
		rules := leaderboard.Rules{Policy: policy, Tiebreak: anyTiebreak().Draw(h.t, "tiebreak")}
		rules.Order = rapid.SampledFrom([]leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc}).Draw(h.t, "order")
		rules.Windows = rapid.SliceOfNDistinct(rapid.SampledFrom([]leaderboard.Window{
			leaderboard.WindowAllTime, leaderboard.WindowHour, leaderboard.WindowDay, leaderboard.WindowWeek,
		}), 1, 3, rapid.ID).Draw(h.t, "windows")
		rules.Overrides = anyOverrides().Draw(h.t, "overrides")
		name := fmt.Sprint(prefix, "-", i)
		for _, database := range []Database{h.Database, h.model} {
			if _, _, err := database.PutBoard(h.t.Context(), name, rules); err != nil {
				h.t.Fatal(err)
			}
		}
		h.boards, h.ties[name] = append(h.boards, name), rules.Tiebreak
	}
}

func (h *multiBoardHistory) step() {
	h.passTime(rapid.SampledFrom([]leaderboard.Micros{0, 1, 3_600_000_000, 86_400_000_000}).Draw(h.t, "time passed"))
	switch what := rapid.IntRange(0, 5).Draw(h.t, "what"); {
	case what == 0 && len(h.sent) > 0:
		h.submit(rapid.SampledFrom(h.sent).Draw(h.t, "again"))
	case what == 1:
		name := rapid.SampledFrom(h.boards).Draw(h.t, "board")
		r := leaderboard.SubmitRequest{Board: name, Entries: rapid.SliceOfN(h.submission(name), 0, 5).Draw(h.t, "entries")}
		got, err := h.Database.Submit(h.t.Context(), r)
		want, _ := h.model.Submit(h.t.Context(), r)
		if err != nil || !reflect.DeepEqual(got, want) {
			h.t.Fatalf("receipt is %+v, %v\nwant %+v", got, err, want)
		}
	case what == 2:
		r := leaderboard.HideRequest{Board: rapid.SampledFrom(h.boards).Draw(h.t, "board"), Member: anyMember().Draw(h.t, "hidden"), Reason: "r"}
		for _, database := range []Database{h.Database, h.model} {
			if _, err := database.Hide(h.t.Context(), r); err != nil {
				h.t.Fatal(err)
			}
		}
	default:
		r := leaderboard.MultiBoardRequest{Atomic: rapid.IntRange(0, 3).Draw(h.t, "atomic") == 0}
		for range rapid.IntRange(0, 12).Draw(h.t, "entries") {
			name := rapid.SampledFrom(append([]string{"none", "NONE"}, h.boards...)).Draw(h.t, "board")
			r.Entries = append(r.Entries, on(name, h.submission(name).Draw(h.t, "submission")))
		}
		if rapid.Bool().Draw(h.t, "has key") {
			r.Key = fmt.Sprint(h.boards[0], " ", len(h.sent))
			h.sent = append(h.sent, r)
		}
		h.submit(r)
	}
}

// submission draws one of the kinds that there are for a board.
func (h *multiBoardHistory) submission(board string) *rapid.Generator[leaderboard.Submission] {
	tie := h.ties[board]
	return anySubmission(&tie)
}

func (h *multiBoardHistory) submit(r leaderboard.MultiBoardRequest) {
	got, err := h.Database.SubmitMultiBoard(h.t.Context(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	want, err := h.model.SubmitMultiBoard(h.t.Context(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	if shortMultiBoard(got) != shortMultiBoard(want) || !reflect.DeepEqual(got, want) {
		h.t.Fatalf("receipt is %s %+v\nwant %s %+v", shortMultiBoard(got), got, shortMultiBoard(want), want)
	}
}

// compare holds the periods of a board and their logs against the model's.
func (h *multiBoardHistory) compare(name string) {
	got, want := h.periods(h.Database, name), h.periods(h.model, name)
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
		h.t.Fatalf("%s has periods %v, want %v", name, got, want)
	}
	for period, ref := range got {
		both := history{Subject: h.Subject, ctx: h.t.Context(), model: h.model, twin: &twin{ref: ref, modelRef: want[period]}}
		both.comparePages(h.t, leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Limit: 100})
		both.compareLogs(h.t)
	}
}

// periods returns all periods of a board by name.
func (h *multiBoardHistory) periods(database Database, name string) map[string]leaderboard.PeriodRef {
	b, err := database.Board(h.t.Context(), name)
	if err != nil {
		h.t.Fatal(err)
	}
	periods, err := database.Periods(h.t.Context(), b.ID, "", 0, 1000)
	if err != nil {
		h.t.Fatal(err)
	}
	refs := map[string]leaderboard.PeriodRef{}
	for _, p := range periods {
		if p.LastSeq > 0 { // the first read begins an empty period
			refs[string(p.Window)+" "+p.Name()] = p.Ref(&b)
		}
	}
	return refs
}

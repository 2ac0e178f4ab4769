package storetest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Property runs random histories on the subject and on the model side by side: boards of all kinds, submissions,
// retries, removals and the subject's disturbances. After every step every query in every mode must have the same
// answer. It runs rapid's number of histories (-rapid.checks); the time of the model follows the database's.
func Property(t *testing.T, s Subject) {
	var boards atomic.Int64
	prefix := boardName(t)
	rapid.Check(t, func(rt *rapid.T) {
		name := fmt.Sprintf("%s-%d", prefix[:min(40, len(prefix))], boards.Add(1))
		h := newHistory(t.Context(), rt, s, name)
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			h.step(rt)
			h.follow(rt)
			h.twin = rapid.SampledFrom(h.twins).Draw(rt, "period")
			h.compare(rt)
		}
		for _, h.twin = range h.twins {
			h.compareLogs(rt)
		}
		h.end(rt)
	})
}

// history is a board in the subject and in the model.
type history struct {
	Subject
	ctx   context.Context
	model *Model
	name  string
	twins []*twin // all periods so far
	*twin         // the period that is compared
	now   leaderboard.Micros
	sent  []leaderboard.SubmitRequest // with keys, to be sent again
	plays []begun                     // since time has passed
}

// twin is a period in the subject and in the model.
type twin struct {
	ref      leaderboard.PeriodRef
	modelRef leaderboard.PeriodRef
	last     int64 // seq of the last write
}

func newHistory(ctx context.Context, t *rapid.T, s Subject, name string) *history {
	ctx = leaderboard.WithCaller(ctx, leaderboard.Caller{Admin: true})
	h := &history{Subject: s, ctx: ctx, model: NewModel(), name: name, now: propertyStart}
	rules := leaderboard.Rules{
		Order:    rapid.SampledFrom([]leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc}).Draw(t, "order"),
		Tiebreak: anyTiebreak().Draw(t, "tiebreak"),
		Policy:   rapid.SampledFrom([]leaderboard.Policy{leaderboard.PolicyBest, leaderboard.PolicyLatest, leaderboard.PolicySum}).Draw(t, "policy"),
		TopN:     rapid.SampledFrom([]int{1, 3, 1000}).Draw(t, "top_n"),
		Windows:  []leaderboard.Window{leaderboard.WindowAllTime},

		Overrides: anyOverrides().Draw(t, "overrides"),
	}
	if s.Featured != nil {
		rules.Metadata = rapid.SampledFrom([]*leaderboard.Metadata{{MaxBytes: 20}, nil}).Draw(t, "rule metadata")
		rules.Players = anyPlayers().Draw(t, "players")
	}
	if s.Featured != nil && s.SetNow != nil {
		rules.Review = anyReview().Draw(t, "review")
	}
	if s.SetNow != nil {
		rules.TimeZone = rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo"}).Draw(t, "zone")
		rules.Windows = rapid.SliceOfNDistinct(rapid.SampledFrom([]leaderboard.Window{
			leaderboard.WindowAllTime, leaderboard.WindowHour, leaderboard.WindowDay, leaderboard.WindowWeek, leaderboard.WindowMonth, leaderboard.WindowQuarter, leaderboard.WindowYear,
		}), 1, 4, rapid.ID).Draw(t, "windows")
		s.SetNow(h.now)
	}
	h.syncClock(t)
	for _, database := range []Database{s.Database, h.model} {
		if _, _, err := database.PutBoard(ctx, name, rules); err != nil {
			t.Fatal(err)
		}
	}
	h.showAll(t)
	h.follow(t)
	h.twin = h.twins[0]
	return h
}

// propertyStart is 90 minutes before clocks in Europe are set forward, in the night to a Sunday.
const propertyStart leaderboard.Micros = 1774740600_000_000

// syncClock gives the model the time of the subject.
func (h *history) syncClock(t *rapid.T) {
	now, err := h.Database.Now(h.ctx)
	if err != nil {
		t.Fatal(err)
	}
	h.model.SetNow(now)
}

// turn lets time pass, to some seconds after a turn of the clock of all zones.
func (h *history) turn(t *rapid.T) {
	const minute = leaderboard.Micros(60_000_000)
	steps := []leaderboard.Micros{30 * minute, 60 * minute, 24 * 60 * minute, 7 * 24 * 60 * minute, 92 * 24 * 60 * minute, 366 * 24 * 60 * minute}
	h.now += rapid.SampledFrom(steps).Draw(t, "time passed")
	h.SetNow(h.now + 2_000_000)
	h.plays = nil // housekeeping may have taken the old ones
}

// follow compares the current periods of both sides and adds new periods.
func (h *history) follow(t *rapid.T) {
	h.syncClock(t)
	got, err := h.Database.Current(h.ctx, h.name)
	if err != nil {
		t.Fatal(err)
	}
	want, err := h.model.Current(h.ctx, h.name)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Periods) != len(want.Periods) {
		t.Fatalf("current periods are %+v, want %+v", got.Periods, want.Periods)
	}
	for i, p := range got.Periods {
		w := want.Periods[i]
		if p.Window != w.Window || p.Name() != w.Name() || p.StartsAt != w.StartsAt || p.EndsAt != w.EndsAt || p.LastSeq != w.LastSeq ||
			p.EntryCount != w.EntryCount || p.State != w.State {
			t.Fatalf("current period is %+v, want %+v", p, w)
		}
		if !slices.ContainsFunc(h.twins, func(t *twin) bool { return t.ref.ID == p.ID }) {
			h.twins = append(h.twins, &twin{ref: p.Ref(&got.Board), modelRef: w.Ref(&want.Board)})
		}
	}
}

// anyScore draws equal scores often and dangerous ones sometimes.
func anyScore() *rapid.Generator[int64] {
	const f = 1 << 53
	return rapid.OneOf(
		rapid.Int64Range(0, 3),
		rapid.SampledFrom([]int64{f - 1, f, f + 1, -f + 1, -f, -f - 1, math.MinInt64, math.MinInt64 + 1, math.MaxInt64 - 1, math.MaxInt64}),
		rapid.Int64(),
	)
}

func anyMember() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "A", "a ", "b", "é", " ", "m1", "m2", "m3", "m4", "m5", "m6"})
}

func anySubmission(tie *leaderboard.Tiebreak) *rapid.Generator[leaderboard.Submission] {
	return rapid.Custom(func(t *rapid.T) leaderboard.Submission {
		sub := leaderboard.Submission{Member: anyMember().Draw(t, "member"), Score: anyScore().Draw(t, "score")}
		drawTiebreak(t, tie, &sub)
		if rapid.IntRange(0, 3).Draw(t, "has time") == 0 {
			created := leaderboard.Micros(rapid.Int64Range(-1, 3).Draw(t, "time"))
			sub.CreatedTime = &created
		}
		DrawTerms(t, tie, &sub)
		return sub
	})
}

func (h *history) step(t *rapid.T) {
	switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
	case what == 5:
		switch rapid.IntRange(0, 5).Draw(t, "moderate") {
		case 0:
			h.forget(t)
		case 1, 2:
			if h.Featured != nil {
				h.decideHeld(t)
			}
		default:
			h.hideOrRestore(t)
		}
	case what == 0:
		h.remove(t, anyMember().Draw(t, "removed"))
	case what < 4 && what > 1 && h.SetNow != nil:
		h.turn(t)
	case what == 1 && len(h.sent) > 0:
		h.submit(t, rapid.SampledFrom(h.sent).Draw(t, "again"))
	case what > 6 && h.ref.Rules.NeedsPlay():
		h.play(t)
	case what == 4 && len(h.Disturb) > 0:
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(h.Disturb))).Draw(t, "disturbance")
		if err := h.Disturb[name](h.ctx, h.ref); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	default:
		r := leaderboard.SubmitRequest{Board: h.name, Entries: rapid.SliceOfN(anySubmission(&h.ref.Rules.Tiebreak), 0, 12).Draw(t, "entries"), Moves: rapid.Bool().Draw(t, "moves")}
		h.drawMetadata(t, r.Entries)
		r.Atomic = rapid.IntRange(0, 3).Draw(t, "atomic") == 0
		if rapid.Bool().Draw(t, "has key") {
			r.Key = fmt.Sprint("key ", len(h.sent))
			h.sent = append(h.sent, r)
		}
		h.submit(t, r)
	}
}

func (h *history) submit(t *rapid.T, r leaderboard.SubmitRequest) { h.submitBoth(h.ctx, t, r, r) }

// submitBoth submits r to the subject and its twin to the model, which differ in the plays at most.
func (h *history) submitBoth(ctx context.Context, t *rapid.T, r, twin leaderboard.SubmitRequest) {
	h.syncClock(t)
	got, err := h.Database.Submit(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	for i, res := range got.Results {
		if h.SetNow == nil && res.Status == leaderboard.StatusApplied && r.Entries[i].CreatedTime == nil && !timeKept(&r.Entries[i], &res) {
			h.model.SetNow(*res.CreatedTime) // the first assigned time is the clock, the others follow from it
			break
		}
	}
	want, err := h.model.Submit(ctx, twin)
	if err != nil {
		t.Fatal(err)
	}
	if moved(got.Results) != moved(want.Results) || (got.First == nil) != (want.First == nil) ||
		got.First != nil && (got.First.Name != want.First.Name || got.First.LastSeq != want.First.LastSeq) {
		t.Fatalf("moves are %s in %+v, want %s in %+v", moved(got.Results), got.First, moved(want.Results), want.First)
	}
	if short(got.Results) != short(want.Results) || tiebreaks(got.Results) != tiebreaks(want.Results) || !reflect.DeepEqual(times(got), times(want)) || got.Seq != want.Seq ||
		!reflect.DeepEqual(got.Seqs, want.Seqs) {
		t.Fatalf("receipt is %s %v %d\nwant %s %v %d", short(got.Results), times(got), got.Seq, short(want.Results), times(want), want.Seq)
	}
	h.wrote()
}

// wrote remembers which states the last write led to.
func (h *history) wrote() {
	for _, tw := range h.twins {
		if p, err := h.model.Period(h.ctx, tw.modelRef.ID); err == nil {
			tw.last = p.LastSeq
		}
	}
}

func times(r leaderboard.Receipt) []leaderboard.Micros {
	var out []leaderboard.Micros
	for _, res := range r.Results {
		if res.CreatedTime != nil {
			out = append(out, *res.CreatedTime)
		}
	}
	return out
}

func (h *history) remove(t *rapid.T, member string) {
	h.syncClock(t)
	got, err := h.Database.Remove(h.ctx, leaderboard.RemoveRequest{Board: h.name, Member: member})
	want, wantErr := h.model.Remove(h.ctx, leaderboard.RemoveRequest{Board: h.name, Member: member})
	if (err == nil) != (wantErr == nil) || short(got.Results) != short(want.Results) || got.Seq != want.Seq {
		t.Fatalf("remove: %+v, %v; want %+v, %v", got, err, want, wantErr)
	}
	h.wrote()
}

// compare asks both sides every query in every mode.
func (h *history) compare(t *rapid.T) {
	members := []string{"nobody"}
	for range 6 {
		if m := anyMember().Draw(t, "asked"); !slices.Contains(members, m) {
			members = append(members, m)
		}
	}
	offset := rapid.Int64Range(0, 14).Draw(t, "offset")
	limit := rapid.IntRange(0, 14).Draw(t, "limit")
	before := rapid.IntRange(0, 6).Draw(t, "before")
	after := string(rank.CodecOf(h.ref.Rules).Key(leaderboard.Entry{
		Member: anyMember().Draw(t, "after"), Score: anyScore().Draw(t, "after score"), Tiebreak: anyScore().Draw(t, "after tiebreak"),
		CreatedTime: leaderboard.Micros(rapid.Int64Range(-1, 3).Draw(t, "after time")),
	}))
	var questions []leaderboard.Question
	for _, mode := range Modes() {
		q := leaderboard.Query{Mode: mode, MinSeq: h.last}
		for _, page := range []leaderboard.PageQuery{
			{Limit: 100}, {Limit: limit, Offset: offset}, {Limit: limit, After: after}, {Limit: limit, Around: members[1], Before: before},
		} {
			page.Query = q
			h.comparePages(t, page)
			h.comparePagesWithMetadata(t, page)
			questions = append(questions, leaderboard.Question{Page: &page})
		}
		ask := leaderboard.MembersQuery{Query: q, Members: members}
		got, err := h.Rankings.Members(h.ctx, h.ref, ask)
		want, _ := h.model.Members(h.ctx, h.modelRef, ask)
		same(t, ask, err, got, want, func(s *leaderboard.Standings) (leaderboard.State, any) {
			return s.State, [2]any{s.Entries, s.NotRanked}
		})
		narrow := h.compareNarrow(t, ask)
		narrow.Metadata = rapid.Bool().Draw(t, "with metadata")
		questions = append(questions, leaderboard.Question{Members: &ask}, leaderboard.Question{Members: &narrow})
	}
	ask := leaderboard.ScoreQuery{MinSeq: h.last, Score: anyScore().Draw(t, "score asked"), Tiebreak: anyScore().Draw(t, "tiebreak asked")}
	got, err := h.Rankings.ScoreRank(h.ctx, h.ref, ask)
	want, _ := h.model.ScoreRank(h.ctx, h.modelRef, ask)
	same(t, ask, err, got, want, func(s *leaderboard.ScoreRank) (leaderboard.State, any) { return s.State, [2]int64{s.Strict, s.Tied} })
	questions = append(questions, h.compareMoves(t, members)...)
	h.compareTogether(t, append(questions, leaderboard.Question{Score: &ask}))
	h.comparePast(t, members[1])
	h.compareMore(t)
	dist := leaderboard.DistributionQuery{MinSeq: h.last, Buckets: rapid.IntRange(1, 9).Draw(t, "buckets")}
	gotD, err := h.Rankings.Distribution(h.ctx, h.ref, dist)
	wantD, _ := h.model.Distribution(h.ctx, h.modelRef, dist)
	same(t, dist, err, gotD, wantD, func(d *leaderboard.Distribution) (leaderboard.State, any) {
		return d.State, append([]leaderboard.Bucket{}, d.Buckets...)
	})
}

// compareMore has the subject's own comparison look at the period.
func (h *history) compareMore(t *rapid.T) {
	if h.Compare == nil {
		return
	}
	page, err := h.model.Page(h.ctx, h.modelRef, leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	ranking := make([]string, len(page.Entries))
	for i := range page.Entries {
		ranking[i] = page.Entries[i].Member
	}
	h.Compare(h.ctx, t, h.ref, ranking)
}

// comparePast queries a member in all periods at once; in each the answer equals the model's at the last write.
func (h *history) comparePast(t *rapid.T, member string) {
	var refs, modelRefs []leaderboard.PeriodRef
	for _, w := range h.twins {
		refs, modelRefs = append(refs, w.ref), append(modelRefs, w.modelRef)
		refs[len(refs)-1].LastSeq = w.last // no answer may be older
	}
	got, err := h.past(h.ctx, refs, member)
	want, wantErr := h.model.Past(h.ctx, modelRefs, member)
	if err != nil || wantErr != nil || len(got) != len(want) {
		t.Fatalf("past of %s: %+v, %v; want %+v, %v", member, got, err, want, wantErr)
	}
	for i := range got {
		g, w := &got[i], &want[i]
		if g.Seq != w.Seq || g.Total != w.Total || g.Stale || !reflect.DeepEqual(g.Ranked, w.Ranked) {
			t.Fatalf("past of %s in %s: %+v of %+v, want %+v of %+v", member, refs[i].Name, g.State, g.Ranked, w.State, w.Ranked)
		}
	}
}

// compareNarrow asks about the members, but for some of their standings only, and returns the query.
func (h *history) compareNarrow(t *rapid.T, ask leaderboard.MembersQuery) leaderboard.MembersQuery {
	ask.Limit, ask.Offset = rapid.IntRange(0, 7).Draw(t, "shown"), rapid.IntRange(0, 7).Draw(t, "from")
	ask.Self = rapid.SampledFrom(append(slices.Clone(ask.Members), "")).Draw(t, "self")
	got, err := h.Rankings.Members(h.ctx, h.ref, ask)
	want, _ := h.model.Members(h.ctx, h.modelRef, ask)
	same(t, ask, err, got, want, func(s *leaderboard.Standings) (leaderboard.State, any) {
		return s.State, [4]any{s.Entries, s.NotRanked, s.Ranked, s.Self}
	})
	return ask
}

func (h *history) comparePages(t *rapid.T, q leaderboard.PageQuery) {
	got, err := h.Rankings.Page(h.ctx, h.ref, q)
	want, wantErr := h.model.Page(h.ctx, h.modelRef, q)
	if wantErr != nil { // the one error there can be: around a member without an entry
		if err == nil || got != nil {
			t.Fatalf("%+v: %+v, want %v", q, got, wantErr)
		}
		return
	}
	same(t, q, err, got, want, func(p *leaderboard.Page) (leaderboard.State, any) {
		return p.State, [2]any{append([]leaderboard.Ranked{}, p.Entries...), p.Next}
	})
}

// same compares two answers; parts takes one apart into its state and the rest.
func same[A any](t *rapid.T, query any, err error, got, want A, parts func(A) (leaderboard.State, any)) {
	if err != nil {
		t.Fatalf("%+v: %v", query, err)
	}
	gotState, gotRest := parts(got)
	wantState, wantRest := parts(want)
	if gotState.Seq != wantState.Seq || gotState.Total != wantState.Total || gotState.Stale {
		t.Fatalf("%+v: state is %+v, want %+v", query, gotState, wantState)
	}
	if !reflect.DeepEqual(gotRest, wantRest) {
		t.Fatalf("%+v:\n%+v\nwant\n%+v", query, gotRest, wantRest)
	}
}

// compareLogs checks that both logs have the same changes.
func (h *history) compareLogs(t *rapid.T) {
	got, err := h.Database.Changes(h.ctx, h.ref.ID, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	want, err := h.model.Changes(h.ctx, h.modelRef.ID, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d commits, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].FirstSeq != want[i].FirstSeq || got[i].EntryCount != want[i].EntryCount || !reflect.DeepEqual(got[i].Changes, want[i].Changes) {
			t.Fatalf("commit %d: %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

// compareTogether sends all questions to the database at once, in any order, and the model one by one.
func (h *history) compareTogether(t *rapid.T, questions []leaderboard.Question) {
	questions = rapid.Permutation(questions).Draw(t, "together")
	questions = questions[:rapid.IntRange(1, len(questions)).Draw(t, "how many")]
	got, err := h.Database.Query(h.ctx, h.ref, questions)
	if err != nil {
		t.Fatalf("%d questions together: %v", len(questions), err)
	}
	for i, want := range QueryEach(h.ctx, h.model, h.modelRef, questions) {
		if difference := differs(got[i], want); difference != nil {
			t.Fatalf("question %d of %d: %v", i, len(questions), difference)
		}
	}
}

// moved is the moves of results.
func moved(results []leaderboard.Result) (text string) {
	for _, r := range results {
		for _, e := range []*leaderboard.Entry{r.Old, r.New} {
			if e == nil {
				text += "none "
			} else {
				text += fmt.Sprint(*e, " ")
			}
		}
	}
	return text
}

func anyEntryOf(t *rapid.T, member, label string) *leaderboard.Entry {
	return &leaderboard.Entry{
		Member: member, Score: anyScore().Draw(t, label+" score"), Tiebreak: rapid.Int64Range(0, 1).Draw(t, label+" tiebreak"),
		CreatedTime: leaderboard.Micros(rapid.Int64Range(1, 3).Draw(t, label+" time")),
	}
}

// compareMoves asks both sides about moves, in every mode, and returns the questions.
func (h *history) compareMoves(t *rapid.T, members []string) (questions []leaderboard.Question) {
	moves := []leaderboard.Move{{Member: members[len(members)-1]}}
	for _, m := range members {
		move := leaderboard.Move{Member: m, New: anyEntryOf(t, m, "new")}
		if rapid.Bool().Draw(t, "has old") {
			move.Old = anyEntryOf(t, m, "old")
			move.Friends = slices.DeleteFunc(slices.Clone(members), func(f string) bool { return f == m })
		}
		moves = append(moves, move)
	}
	for _, mode := range Modes() {
		ask := leaderboard.MovesQuery{Query: leaderboard.Query{Mode: mode, MinSeq: h.last}, Moves: moves}
		got, err := h.Rankings.Moves(h.ctx, h.ref, ask)
		want, _ := h.model.Moves(h.ctx, h.modelRef, ask)
		same(t, ask, err, got, want, func(m *leaderboard.Moves) (leaderboard.State, any) { return m.State, movesText(m, leaderboard.ModeAll) })
		questions = append(questions, leaderboard.Question{Moves: &ask})
	}
	return questions
}

// drawMetadata gives some submissions metadata, sometimes more than the boards of histories take; on a board without the rule few.
func (h *history) drawMetadata(t *rapid.T, entries []leaderboard.Submission) {
	for i := range entries {
		if h.ref.Rules.Metadata != nil || rapid.IntRange(0, 19).Draw(t, "metadata without the rule") == 0 {
			entries[i].Metadata = anyMetadata().Draw(t, "metadata")
		}
	}
}

func anyMetadata() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"", "", "", "", "", "", "", `{"n":1}`, `{"n":2}`, `{"w":"\u00fc"}`, `{}`, `{"text":"more than 20"}`})
}

// comparePagesWithMetadata reads a page with the metadata of its entries from both sides, and the metadata of these entries
// alone from the subject.
func (h *history) comparePagesWithMetadata(t *rapid.T, q leaderboard.PageQuery) {
	q.Metadata = !h.WithoutMetadata
	h.comparePages(t, q)
	q.Metadata = true
	want, err := h.model.Page(h.ctx, h.modelRef, q)
	if err != nil || h.ref.Rules.Metadata == nil || h.Metadata == nil {
		return
	}
	ask := leaderboard.MetadataQuery{Period: &h.ref}
	var bodies []leaderboard.EntryMetadata
	for _, e := range want.Entries {
		ask.Entries, bodies = append(ask.Entries, e.Entry), append(bodies, leaderboard.EntryMetadata{Body: e.Metadata})
	}
	got, err := h.Metadata(h.ctx, []leaderboard.MetadataQuery{ask})
	if err != nil || len(got) != 1 || len(bodies) > 0 && !reflect.DeepEqual(got[0], bodies) {
		t.Fatalf("metadata of %v: %v, %v; want %v", ask.Entries, got, err, bodies)
	}
}

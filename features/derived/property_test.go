package derived

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// property runs random histories of sources on a store and on the model, whose derived board computes everything from
// scratch in each step: unions and intersections, sums and extremes, weights of all kinds, days that turn, removals, sources
// that come late, go and come back, rules that change, submissions with conditions, edits and overrides, atomic or not.
// After every step of following, entries, log and status must be the same.
func property(t *testing.T, s subject) {
	var boards atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		h := &history{
			subject: s, ctx: leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: overrider}), model: newModel(storetest.NewModel()), now: historyStart,
			name: fmt.Sprint("sum", boards.Add(1)),
		}
		h.turn(rt)
		h.putSource(rt, "a")
		h.putSource(rt, "b")
		h.put(rt, &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: h.source("a")}}})
		h.putRule(rt)
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			h.step(rt)
		}
		h.follow(rt)
		h.compareLogs(rt)
	})
}

const (
	// historyStart is 90 minutes before clocks in Europe are set forward, in the night to a Sunday.
	historyStart leaderboard.Micros = 1774740600_000_000
	// overrider is the key of the histories, which some sources allow overrides.
	overrider = "koverriderabc"
)

// history is a derived board and up to three sources, in a store and in the model.
type history struct {
	subject
	ctx   context.Context
	model *model
	name  string
	now   leaderboard.Micros
}

// both does the same to both sides, whose errors must have the same meaning.
func (h *history) both(t *rapid.T, what string, do func(subject) error) {
	got, want := do(h.subject), do(subject{Database: h.model, sums: h.model})
	if (got == nil) != (want == nil) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

func (h *history) turn(t *rapid.T) {
	const hour = leaderboard.Micros(3_600_000_000)
	h.now += rapid.SampledFrom([]leaderboard.Micros{1, hour, 24 * hour, 50 * hour}).Draw(t, "time passed")
	h.setNow(h.now)
	h.model.SetNow(h.now)
}

// sourceTiebreak is the tiebreak of the sources: one field, which conditions and edits name.
var sourceTiebreak = leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "paid", Bits: 2}}}

func (h *history) source(name string) string { return h.name + "." + name }

// anyOverrides draws overrides: none, or such as allow some ops to one key.
func anyOverrides() *rapid.Generator[*leaderboard.Overrides] {
	return rapid.SampledFrom([]*leaderboard.Overrides{
		nil, {Keys: []string{overrider}, Ops: []leaderboard.Policy{leaderboard.PolicySum, leaderboard.PolicyBest}, KeepTime: true},
	})
}

func anyMember() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "A", "a ", "b", "é", " ", "m1", "m2", "m3", "m4", "m5", "m6"})
}

func anySource() *rapid.Generator[string] { return rapid.SampledFrom([]string{"a", "b", "late"}) }

func (h *history) putSource(t *rapid.T, name string) {
	rules := leaderboard.Rules{
		Order:    rapid.SampledFrom([]leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc}).Draw(t, "order"),
		Policy:   rapid.SampledFrom([]leaderboard.Policy{leaderboard.PolicyLatest, leaderboard.PolicyBest, leaderboard.PolicySum}).Draw(t, "policy"),
		Tiebreak: sourceTiebreak, Overrides: anyOverrides().Draw(t, "overrides"),
		Windows:  []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowAllTime, leaderboard.WindowHour}[:rapid.IntRange(1, 3).Draw(t, "windows")],
		TimeZone: rapid.SampledFrom([]string{"UTC", "Europe/Berlin"}).Draw(t, "zone"),
	}
	h.both(t, "put source", func(s subject) error {
		_, _, err := s.PutBoard(h.ctx, h.source(name), rules)
		return err
	})
}

// putRule gives the derived board a rule, unless its sources could have no entries.
func (h *history) putRule(t *rapid.T) {
	from := rapid.Custom(func(t *rapid.T) leaderboard.DeriveFrom {
		weight := rapid.SampledFrom([]int64{1, 1, 1, 0, -1, 2, -leaderboard.MaxWeight, leaderboard.MaxWeight}).Draw(t, "weight")
		return leaderboard.DeriveFrom{Board: h.source(anySource().Draw(t, "source")), Weight: &weight}
	})
	d := &leaderboard.Derive{
		Op:        rapid.SampledFrom([]leaderboard.DeriveOp{leaderboard.DeriveOpUnion, leaderboard.DeriveOpIntersect}).Draw(t, "op"),
		Aggregate: rapid.SampledFrom([]leaderboard.Aggregate{leaderboard.AggregateSum, leaderboard.AggregateMin, leaderboard.AggregateMax}).Draw(t, "aggregate"),
		From:      rapid.SliceOfNDistinct(from, 1, 3, func(f leaderboard.DeriveFrom) string { return f.Board }).Draw(t, "from"),
	}
	if d.Last = rapid.SampledFrom([]string{"", "2d", "3d", "4h"}).Draw(t, "last"); d.Last == "" {
		for i := range d.From {
			d.From[i].Window = rapid.SampledFrom([]leaderboard.Window{"", leaderboard.WindowAllTime, leaderboard.WindowDay}).Draw(t, "window")
			if d.From[i].Window == leaderboard.WindowDay {
				d.From[i].Period = rapid.SampledFrom([]string{"", "previous", "2026-03-29"}).Draw(t, "period")
			}
		}
	}
	h.put(t, d)
}

func (h *history) put(t *rapid.T, d *leaderboard.Derive) {
	h.both(t, "put rule", func(s subject) error {
		_, _, err := s.PutBoard(h.ctx, h.name, leaderboard.Rules{Derive: d})
		return err
	})
}

func (h *history) step(t *rapid.T) {
	switch rapid.IntRange(0, 13).Draw(t, "what") {
	case 0:
		h.turn(t)
	case 1:
		name := h.source(anySource().Draw(t, "removed from"))
		member := anyMember().Draw(t, "removed")
		h.both(t, "remove", func(s subject) error {
			_, err := s.Remove(h.ctx, leaderboard.RemoveRequest{Board: name, Member: member})
			return err
		})
	case 2:
		h.putSource(t, "late")
	case 3:
		name := h.source(anySource().Draw(t, "deleted"))
		h.both(t, "delete", func(s subject) error { return s.DeleteBoard(h.ctx, name) })
	case 4:
		h.putRule(t)
	case 5, 6, 7:
		h.follow(t)
	case 8:
		h.hideOrRestore(t)
	default:
		h.submit(t)
	}
}

// hideOrRestore hides or restores a member, on the derived board or on a source.
func (h *history) hideOrRestore(t *rapid.T) {
	name := rapid.SampledFrom([]string{h.name, h.name, h.source("a")}).Draw(t, "hidden on")
	r := hiding(name, anyMember().Draw(t, "hidden"))
	if rapid.Bool().Draw(t, "restore") {
		h.both(t, "restore", func(s subject) error { return s.Restore(h.ctx, r) })
		return
	}
	h.both(t, "hide", func(s subject) error {
		_, err := s.Hide(h.ctx, r)
		return err
	})
}

func (h *history) submit(t *rapid.T) {
	submission := rapid.Custom(func(t *rapid.T) leaderboard.Submission {
		score := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 1 << 53}))
		sub := leaderboard.Submission{Member: anyMember().Draw(t, "member"), Score: score.Draw(t, "score")}
		storetest.DrawTerms(t, &sourceTiebreak, &sub)
		return sub
	})
	r := leaderboard.SubmitRequest{Board: h.source(anySource().Draw(t, "board")), Entries: rapid.SliceOfN(submission, 1, 8).Draw(t, "entries")}
	r.Atomic = rapid.IntRange(0, 3).Draw(t, "atomic") == 0
	var results []string
	h.both(t, "submit", func(s subject) error {
		receipt, err := s.Submit(h.ctx, r)
		results = append(results, short(receipt.Results))
		return err
	})
	if results[0] != results[1] {
		t.Fatalf("results are %s\nwant        %s", results[0], results[1])
	}
}

// short returns results as text: members, statuses and scores.
func short(results []leaderboard.Result) (text string) {
	for _, r := range results {
		text += fmt.Sprint(r.Member, " ", r.Status)
		if r.Score != nil {
			text += fmt.Sprint(" ", *r.Score)
		}
		if r.Rule != nil {
			text += " " + r.Rule.Code
		}
		text += "; "
	}
	return text
}

// follow takes a step on both sides and compares the results.
func (h *history) follow(t *rapid.T) {
	h.compareStatus(t)
	again := rapid.IntRange(0, 5).Draw(t, "recompute") == 0
	h.both(t, "follow", func(s subject) error {
		if again {
			_, err := s.Recompute(h.ctx, h.name)
			return err
		}
		_, err := s.FollowSources(h.ctx, h.name, true)
		return err
	})
	h.compareStatus(t)
	q := leaderboard.PageQuery{Limit: 100, Query: leaderboard.Query{Mode: leaderboard.ModeStrict}}
	got, err := h.Page(h.ctx, h.ref(t, h.Database), q)
	want, wantErr := h.model.Page(h.ctx, h.ref(t, h.model), q)
	if err != nil || wantErr != nil {
		t.Fatal(err, wantErr)
	}
	if !reflect.DeepEqual(append([]leaderboard.Ranked{}, got.Entries...), append([]leaderboard.Ranked{}, want.Entries...)) || got.Seq != want.Seq {
		t.Fatalf("entries at %d are\n%+v\nwant at %d\n%+v", got.Seq, got.Entries, want.Seq, want.Entries)
	}
	if v, err := h.VerifySources(h.ctx, h.name); err != nil || !v.Equal || v.Checked < int64(len(want.Entries)) {
		t.Fatalf("verify: %+v, %v", v, err)
	}
}

func (h *history) ref(t *rapid.T, s storetest.Database) leaderboard.PeriodRef {
	l, err := s.Current(h.ctx, h.name)
	if err != nil {
		t.Fatal(err)
	}
	return l.Periods[0].Ref(&l.Board)
}

func (h *history) compareStatus(t *rapid.T) {
	got, err := h.Derivation(h.ctx, h.name)
	if err != nil {
		t.Fatal(err)
	}
	want, err := h.model.Derivation(h.ctx, h.name)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Sources) < len(want.Sources) || got.Seq != want.Seq || got.State != want.State {
		t.Fatalf("status is %+v\nwant %+v", got, want)
	}
	for i, source := range want.Sources {
		if got.Sources[i].LastSeq != source.LastSeq || got.Sources[i].Period != source.Period || got.Sources[i].Condition != source.Condition {
			t.Fatalf("source %d is %+v, want %+v", i, got.Sources[i], source)
		}
	}
}

// compareLogs checks that both logs have the same changes.
func (h *history) compareLogs(t *rapid.T) {
	got, err := h.Changes(h.ctx, h.ref(t, h.Database).ID, 0, 1000)
	want, wantErr := h.model.Changes(h.ctx, h.ref(t, h.model).ID, 0, 1000)
	if err != nil || wantErr != nil || len(got) != len(want) {
		t.Fatalf("%d commits, %v; want %d, %v", len(got), err, len(want), wantErr)
	}
	for i := range got {
		if got[i].FirstSeq != want[i].FirstSeq || got[i].EntryCount != want[i].EntryCount || !reflect.DeepEqual(got[i].Changes, want[i].Changes) {
			t.Fatalf("commit %d: %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

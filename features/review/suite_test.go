package review

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// subject is a store, or its model, with its held submissions.
type subject interface {
	storetest.Database
	Reviews
}

// stored is a store as a subject.
type stored struct {
	storetest.Database
	Reviews
}

// TestModel: the model is as good as a store.
func TestModel(t *testing.T) { runSuite(t, storetest.NewModel()) }

// TestConformance: the held submissions of a store are as the cases require, which the model passes too (promise A7).
func TestConformance(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := serve(t, dsn, dbtest.Patient)
		runSuite(t, stored{storetest.Of(s, storetest.Added{}), held(s)})
	})
}

func runSuite(t *testing.T, s subject) {
	for name, test := range map[string]func(*testing.T, subject){
		"held": testHeld, "times": testHeldTimes, "too many": testHeldFull, "atomic requests": testHeldAtomic, "erased": testHeldErased,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// board is a board of one test, with its only period.
type board struct {
	subject
	t   *testing.T
	ref leaderboard.PeriodRef
}

// reviewed makes a board of a policy that holds scores above 100.
func reviewed(t *testing.T, s subject, name string, policy leaderboard.Policy) *board {
	t.Helper()
	most := int64(100)
	made, _, err := s.PutBoard(t.Context(), name, leaderboard.Rules{Policy: policy, Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &most}}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.CurrentPeriod(t.Context(), made, leaderboard.WindowAllTime)
	if err != nil {
		t.Fatal(err)
	}
	return &board{s, t, p.Ref(&made)}
}

func (b *board) submit(atomic bool, entries ...leaderboard.Submission) string {
	b.t.Helper()
	r, err := b.Submit(b.t.Context(), leaderboard.SubmitRequest{Board: b.ref.Board, Entries: entries, Atomic: atomic})
	if err != nil {
		b.t.Fatal(err)
	}
	return short(r.Results)
}

// short returns results as text: status, score, previous score, and the code of a broken rule.
func short(results []leaderboard.Result) string {
	number := func(v *int64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v)
	}
	var out []string
	for _, r := range results {
		text := fmt.Sprintf("%s %s %s<%s", r.Member, r.Status, number(r.Score), number(r.Previous))
		if r.Rule != nil {
			text += " " + r.Rule.Code
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func score(member string, score int64) leaderboard.Submission {
	return leaderboard.Submission{Member: member, Score: score}
}

// page returns the board as text: rank, member and score of each entry.
func (b *board) page() string {
	b.t.Helper()
	p, err := b.Page(b.t.Context(), b.ref, leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Limit: 10})
	if err != nil {
		b.t.Fatal(err)
	}
	out := []string{}
	for _, e := range p.Entries {
		out = append(out, fmt.Sprint(e.Strict, " ", e.Member, " ", e.Score))
	}
	return fmt.Sprint(out)
}

// waiting returns the waiting submissions of the board, newest first, as "member score", and the ids.
func (b *board) waiting() (texts string, ids []int64) {
	b.t.Helper()
	list, err := b.Held(b.t.Context(), leaderboard.HeldQuery{BoardID: b.ref.BoardID, State: leaderboard.HeldStateWaiting, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	var out []string
	for _, h := range list {
		out, ids = append(out, fmt.Sprint(h.Member, " ", h.Score)), append(ids, h.ID)
	}
	return strings.Join(out, ", "), ids
}

// decide decides about a held submission, and returns the result.
func (b *board) decide(d leaderboard.HeldDecision) string {
	b.t.Helper()
	h, err := b.DecideHeld(asAdmin(b.t.Context()), d)
	if err != nil {
		if broken := leaderboard.AsRule(err); broken != nil {
			return broken.Code
		}
		return fmt.Sprint(err)
	}
	return strings.TrimSpace(fmt.Sprint(h.State, " ", h.Outcome))
}

func approve(id int64) leaderboard.HeldDecision {
	return leaderboard.HeldDecision{ID: id, Approve: true}
}

// testHeld: a held submission changes nothing until it is approved, once; a repeated request keeps the answer held.
func testHeld(t *testing.T, s subject) {
	b := reviewed(t, s, "held", leaderboard.PolicyBest)
	ask := func(key string, entries ...leaderboard.Submission) string {
		t.Helper()
		r, err := s.Submit(t.Context(), leaderboard.SubmitRequest{Board: b.ref.Board, Key: key, Entries: entries})
		if err != nil {
			t.Fatal(err)
		}
		return short(r.Results)
	}
	const first = "a applied 100<-; a held 100<100 held-for-review; b held -<- held-for-review; a unchanged 100<100"
	request := []leaderboard.Submission{score("a", 100), score("a", 101), score("b", 500), score("a", 7)}
	for range 2 {
		if got := ask("key", request...); got != first {
			t.Errorf("%s, want %s", got, first)
		}
	}
	texts, ids := b.waiting()
	if texts != "b 500, a 101" {
		t.Fatalf("%q waits", texts)
	}
	if got := b.page(); got != "[1 a 100]" {
		t.Errorf("before: %q", got)
	}
	for range 2 {
		if got := b.decide(approve(ids[0])); got != "approved applied" {
			t.Errorf("approved: %s", got)
		}
	}
	if got := b.decide(leaderboard.HeldDecision{ID: ids[0]}); !strings.Contains(got, leaderboard.ErrHeldDecided.Error()) {
		t.Errorf("rejected after that: %s", got)
	}
	if got := b.decide(leaderboard.HeldDecision{ID: ids[1], Note: "not seen"}); got != "rejected" {
		t.Errorf("rejected: %s", got)
	}
	if got := b.decide(approve(ids[1] + 1<<40)); !strings.Contains(got, leaderboard.ErrHeldNotFound.Error()) {
		t.Errorf("one that does not exist: %s", got)
	}
	if got := ask("key", request...); got != first {
		t.Errorf("the request again: %s", got)
	}
	if got := b.page(); got != "[1 b 500 2 a 100]" {
		t.Errorf("after: %q", got)
	}
	if texts, _ := b.waiting(); texts != "" {
		t.Errorf("%q still waits", texts)
	}
	if _, err := s.DecideHeld(t.Context(), leaderboard.HeldDecision{ID: ids[1], Note: strings.Repeat("é", leaderboard.MaxHeldNote+1)}); leaderboard.AsRule(err) == nil {
		t.Errorf("a long note: %v", err)
	}
	storetest.CheckLog(t, s, b.ref)
}

// testHeldTimes: an approved entry has the time of its submission, before entries that came meanwhile; with policy latest a
// later entry stays, and with policy sum the amount is added now.
func testHeldTimes(t *testing.T, s subject) {
	b := reviewed(t, s, "times", leaderboard.PolicyBest)
	b.submit(false, score("early", 200))
	_, ids := b.waiting()
	if _, err := s.Submit(asAdmin(t.Context()), leaderboard.SubmitRequest{Board: b.ref.Board, Entries: []leaderboard.Submission{score("late", 200)}}); err != nil {
		t.Fatal(err)
	}
	if got := b.decide(approve(ids[0])); got != "approved applied" {
		t.Fatal(got)
	}
	if got := b.page(); got != "[1 early 200 2 late 200]" {
		t.Errorf("best: %q", got)
	}
	for policy, want := range map[leaderboard.Policy]string{leaderboard.PolicyLatest: "approved unchanged: [1 m 9]", leaderboard.PolicySum: "approved applied: [1 m 308]"} {
		b := reviewed(t, s, "times-"+string(policy), policy)
		b.submit(false, score("m", 299), score("m", 9))
		_, ids := b.waiting()
		got := b.decide(approve(ids[0]))
		if got = fmt.Sprint(got, ": ", b.page()); got != want {
			t.Errorf("%s: %s, want %s", policy, got, want)
		}
	}
}

// testHeldFull: of a member's submissions that wait the best MaxHeldPerMember stay.
func testHeldFull(t *testing.T, s subject) {
	b := reviewed(t, s, "full", leaderboard.PolicyBest)
	var entries []leaderboard.Submission
	for i := range leaderboard.MaxHeldPerMember {
		entries = append(entries, score("m", int64(200+i)))
	}
	b.submit(false, entries...)
	got := b.submit(false, score("m", 200), score("m", 300), score("m", 199), score("n", 150))
	const want = "m rejected -<- too-many-held; m held -<- held-for-review; m rejected -<- too-many-held; n held -<- held-for-review"
	if texts, _ := b.waiting(); got != want || texts != "n 150, m 300, m 204, m 203, m 202, m 201" {
		t.Errorf("%s; %q waits", got, texts)
	}
}

// testHeldAtomic: an atomic request is not held in part: an entry that would be held is rejected, and nothing of the
// request waits.
func testHeldAtomic(t *testing.T, s subject) {
	b := reviewed(t, s, "atomic", leaderboard.PolicyBest)
	got := b.submit(true, score("a", 5), score("b", 101))
	if texts, _ := b.waiting(); got != "a aborted -<- aborted; b rejected -<- review-needed" || texts != "" {
		t.Errorf("%s; %q waits", got, texts)
	}
	b.submit(false, score("b", 101))
	b.submit(true, score("a", 5), score("b", 102))
	if texts, _ := b.waiting(); texts != "b 101" {
		t.Errorf("%q waits", texts)
	}
}

// testHeldErased: an erasure takes what waits of a member; a hidden member's submission is held and approved as ever, unseen.
func testHeldErased(t *testing.T, s subject) {
	b := reviewed(t, s, "erased", leaderboard.PolicyBest)
	const gone, hidden = "gone-for-good", "hidden-for-good"
	b.submit(false, score(gone, 500), score(hidden, 600))
	if _, err := s.Forget(t.Context(), gone, "boss"); err != nil {
		t.Fatal(err)
	}
	hide := leaderboard.HideRequest{Board: b.ref.Board, Member: hidden, Reason: "aimbot", Actor: "boss"}
	if _, err := s.Hide(t.Context(), hide); err != nil {
		t.Fatal(err)
	}
	texts, ids := b.waiting()
	if texts != hidden+" 600" {
		t.Fatalf("%q waits", texts)
	}
	if got := b.decide(approve(ids[0])); got != "approved applied" {
		t.Errorf("hidden: %s", got)
	}
	if _, err := s.Page(t.Context(), b.ref, leaderboard.PageQuery{Limit: 1}); err != nil && !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Fatal(err)
	}
	if err := s.Restore(t.Context(), hide); err != nil {
		t.Fatal(err)
	}
	if page, err := s.Page(t.Context(), b.ref, leaderboard.PageQuery{Limit: 10}); err != nil || len(page.Entries) != 1 || page.Entries[0].Score != 600 {
		t.Errorf("restored: %+v, %v", page, err)
	}
}

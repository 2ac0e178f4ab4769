package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// reviewed makes a board with a rule of review.
func reviewed(t *testing.T, s Featured, rules leaderboard.Rules, hold ...leaderboard.HoldRule) *board {
	t.Helper()
	rules.Review = &leaderboard.Review{Hold: hold}
	name := boardName(t)
	return newBoardNamed(t, Subject{Database: s, Featured: s, Rankings: s}, name[max(0, len(name)-50):]+string(rules.Policy), rules)
}

func holdAbove(score int64) leaderboard.HoldRule { return leaderboard.HoldRule{Above: &score} }

// waiting returns what waits on the board, newest first, as "member score", and the ids.
func (b *board) waiting() (texts string, ids []int64) {
	b.t.Helper()
	list, err := b.Featured.Held(b.t.Context(), leaderboard.HeldQuery{BoardID: b.ref.BoardID, State: leaderboard.HeldStateWaiting, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	var out []string
	for _, h := range list {
		out, ids = append(out, fmt.Sprint(h.Member, " ", h.Score)), append(ids, h.ID)
	}
	return strings.Join(out, ", "), ids
}

// decide decides about a held submission, and returns what became of it.
func (b *board) decide(d leaderboard.HeldDecision) string {
	b.t.Helper()
	ctx := leaderboard.WithCaller(b.t.Context(), leaderboard.Caller{Key: "kadminadmina", Admin: true})
	h, err := b.Featured.DecideHeld(ctx, d)
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

// testHeld: what is held changes nothing until it is approved, once; a repeated request keeps the answer held.
func testHeld(t *testing.T, s Featured) {
	b := reviewed(t, s, leaderboard.Rules{}, holdAbove(100))
	ask := func(key string, entries ...leaderboard.Submission) string {
		t.Helper()
		r, err := s.Submit(t.Context(), leaderboard.SubmitRequest{Board: b.ref.Board, Key: key, Entries: entries})
		if err != nil {
			t.Fatal(err)
		}
		b.last = r.Seq
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
	if got := b.page(leaderboard.PageQuery{Limit: 10}); fmt.Sprint(got) != "[1 a 100]" {
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
	if got := b.page(leaderboard.PageQuery{Limit: 10}); fmt.Sprint(got) != "[1 b 500 2 a 100]" {
		t.Errorf("after: %q", got)
	}
	if texts, _ := b.waiting(); texts != "" {
		t.Errorf("%q still waits", texts)
	}
	if _, err := s.DecideHeld(t.Context(), leaderboard.HeldDecision{ID: ids[1], Note: strings.Repeat("é", leaderboard.MaxHeldNote+1)}); leaderboard.AsRule(err) == nil {
		t.Errorf("a long note: %v", err)
	}
	CheckLog(t, s, b.ref)
}

// testHeldTimes: an approved entry has the time at which it came in, where that is before those that came meanwhile; with policy
// latest a later entry stays, and with policy sum the amount is added now.
func testHeldTimes(t *testing.T, s Featured) {
	b := reviewed(t, s, leaderboard.Rules{}, holdAbove(100))
	b.submit(score("early", 200))
	_, ids := b.waiting()
	admin := leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: "kadminadmina", Admin: true})
	if _, err := s.Submit(admin, leaderboard.SubmitRequest{Board: b.ref.Board, Entries: []leaderboard.Submission{score("late", 200)}}); err != nil {
		t.Fatal(err)
	}
	if got := b.decide(approve(ids[0])); got != "approved applied" {
		t.Fatal(got)
	}
	b.last = 2
	if got := b.page(leaderboard.PageQuery{Limit: 10}); fmt.Sprint(got) != "[1 early 200 2 late 200]" {
		t.Errorf("best: %q", got)
	}
	for policy, want := range map[leaderboard.Policy]string{leaderboard.PolicyLatest: "approved unchanged: [1 m 9]", leaderboard.PolicySum: "approved applied: [1 m 308]"} {
		b := reviewed(t, s, leaderboard.Rules{Policy: policy}, holdAbove(100))
		b.submit(score("m", 299), score("m", 9))
		_, ids := b.waiting()
		got := b.decide(approve(ids[0]))
		b.last = 0
		if got = fmt.Sprint(got, ": ", b.page(leaderboard.PageQuery{Limit: 10})); got != want {
			t.Errorf("%s: %s, want %s", policy, got, want)
		}
	}
}

// testHeldReasons: each rule holds what it names, and keys of scope admin are not held.
func testHeldReasons(t *testing.T, s Featured) {
	rate := int64(10)
	b := reviewed(t, s, leaderboard.Rules{Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}},
		leaderboard.HoldRule{RankWithin: 2}, leaderboard.HoldRule{PerSecond: &rate}, leaderboard.HoldRule{By: leaderboard.HoldByPlayers})
	by := func(c leaderboard.Caller, entries ...leaderboard.Submission) string {
		t.Helper()
		r, err := s.Submit(leaderboard.WithCaller(context.WithoutCancel(t.Context()), c), leaderboard.SubmitRequest{Board: b.ref.Board, Entries: entries})
		if err != nil {
			t.Fatal(err)
		}
		var why []string
		for _, res := range r.Results {
			text := string(res.Status)
			if res.Rule != nil {
				text += " " + strings.TrimPrefix(res.Rule.Detail, "an admin decides: ")
			}
			why = append(why, text)
		}
		return strings.Join(why, "; ")
	}
	key, admin := leaderboard.Caller{Key: "kotherotherk"}, leaderboard.Caller{Key: "kadminadmina", Admin: true}
	const among = "held the entry would be among the first 2"
	for _, c := range []struct {
		what, got, want string
	}{
		{"an empty board", by(key, score("a", 1)), among},
		{"an admin", by(admin, score("a", 50), score("b", 40), score("c", 30)), "applied; applied; applied"},
		{"third", by(key, score("d", 39), score("d", 40)), "applied; applied"},
		{"second", by(key, score("d", 41)), among},
		{"first", by(key, score("c", 60)), among},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
	player := leaderboard.Caller{Key: "token:k", Player: leaderboard.PlayerOwner("token:k", "p")}
	for _, c := range []struct {
		score int64
		want  string
	}{{0, "held a player has submitted it"}, {30, "held the score is more than 10 for each second of the play"}} {
		id := beginPlay(t, s, b, "p")
		sub := leaderboard.Submission{Member: "p", Score: c.score, Play: &id}
		if got := by(player, sub); got != c.want {
			t.Errorf("a player: %s, want %s", got, c.want)
		}
		if got := by(player, sub); !strings.Contains(got, "rejected") { // the play counts when it is held
			t.Errorf("the same play again: %s", got)
		}
	}
}

// testHeldFull: of a member's submissions that wait the best MaxHeldPerMember stay.
func testHeldFull(t *testing.T, s Featured) {
	b := reviewed(t, s, leaderboard.Rules{}, holdAbove(100))
	var entries []leaderboard.Submission
	for i := range leaderboard.MaxHeldPerMember {
		entries = append(entries, score("m", int64(200+i)))
	}
	b.submit(entries...)
	got := short(b.submit(score("m", 200), score("m", 300), score("m", 199), score("n", 150)))
	const want = "m rejected -<- too-many-held; m held -<- held-for-review; m rejected -<- too-many-held; n held -<- held-for-review"
	if texts, _ := b.waiting(); got != want || texts != "n 150, m 300, m 204, m 203, m 202, m 201" {
		t.Errorf("%s; %q waits", got, texts)
	}
}

// testHeldAtomic: an atomic request is not held in part: what would be held is rejected, and nothing of it waits.
func testHeldAtomic(t *testing.T, s Featured) {
	b := reviewed(t, s, leaderboard.Rules{}, holdAbove(100))
	got := short(b.atomic("", score("a", 5), score("b", 101)).Results)
	if texts, _ := b.waiting(); got != "a aborted -<- aborted; b rejected -<- review-needed" || texts != "" {
		t.Errorf("%s; %q waits", got, texts)
	}
	b.submit(score("b", 101))
	b.atomic("", score("a", 5), score("b", 102))
	if texts, _ := b.waiting(); texts != "b 101" {
		t.Errorf("%q waits", texts)
	}
}

// testHeldErased: an erasure takes what waits of a member; a hidden member's submission is held and approved as ever, unseen.
func testHeldErased(t *testing.T, s Featured) {
	b := reviewed(t, s, leaderboard.Rules{}, holdAbove(100))
	gone, hidden := boardName(t)+"-gone", boardName(t)+"-hidden"
	gone, hidden = gone[max(0, len(gone)-60):], hidden[max(0, len(hidden)-60):]
	b.submit(score(gone, 500), score(hidden, 600))
	if _, err := s.Forget(t.Context(), gone, "boss"); err != nil {
		t.Fatal(err)
	}
	b.hide(hidden)
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
	b.restore(hidden)
	if page, err := s.Page(t.Context(), b.ref, leaderboard.PageQuery{Limit: 10}); err != nil || len(page.Entries) != 1 || page.Entries[0].Score != 600 {
		t.Errorf("restored: %+v, %v", page, err)
	}
}

package storetest

import (
	"reflect"
	"testing"

	"leaderboard/leaderboard"
)

// playing makes a board on which players submit with plays, at most a point a second, and returns how a player submits
// there.
func playing(t *testing.T, s Featured, name string, policy leaderboard.Policy) (b *board, play func(member string, id leaderboard.PlayID, score int64, key string) leaderboard.Receipt) {
	t.Helper()
	least, rate := int64(-10), int64(1)
	b = newBoardNamed(t, Subject{Database: s, Featured: s, Rankings: s}, name, leaderboard.Rules{
		Policy: policy, Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}, Limits: leaderboard.Limits{MinScore: &least, PerSecond: &rate},
	})
	return b, func(member string, id leaderboard.PlayID, score int64, key string) leaderboard.Receipt {
		t.Helper()
		ctx := leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: "token:k", Player: leaderboard.PlayerOwner("token:k", member)})
		sub := leaderboard.Submission{Member: member, Score: score, Play: &id}
		if id == (leaderboard.PlayID{}) {
			sub.Play = nil
		}
		r, err := s.Submit(ctx, leaderboard.SubmitRequest{Board: b.ref.Board, Key: leaderboard.IdempotencyKeyOf(ctx, key), Entries: []leaderboard.Submission{sub}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// beginPlay begins a play of a member on a board.
func beginPlay(t *testing.T, s Featured, b *board, member string) leaderboard.PlayID {
	t.Helper()
	play, err := s.BeginPlay(t.Context(), leaderboard.Board{ID: b.ref.BoardID, Name: b.ref.Board}, member)
	if err != nil {
		t.Fatal(err)
	}
	return play.ID
}

const muchMore = 1 << 60 // than a play of a test can have taken seconds

// testPlays: a play counts once. Refusals leave it, the third ends it; a repeated request has the first answer and uses nothing up.
func testPlays(t *testing.T, s Featured) {
	b, submit := playing(t, s, boardName(t), leaderboard.PolicySum)
	want := func(what, want string, r leaderboard.Receipt) {
		t.Helper()
		if got := short(r.Results); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	want("no play", "a rejected -<- play-needed", submit("a", leaderboard.PlayID{}, 0, ""))
	want("one that was not begun", "a rejected -<- play-gone", submit("a", leaderboard.NewPlayID(), 0, ""))
	id := beginPlay(t, s, b, "a")
	want("too much", "a rejected -<- play-rate", submit("a", id, muchMore, ""))
	want("too little", "a rejected -<- score-out-of-range", submit("a", id, -11, ""))
	first := submit("a", id, -1, "key")
	want("after two refusals", "a applied -1<-", first)
	want("once more", "a rejected -1<-1 play-gone", submit("a", id, -1, ""))
	first.Replayed = true
	if again := submit("a", id, -1, "key"); !reflect.DeepEqual(again, first) {
		t.Errorf("repeated: %+v, the first time %+v", again, first)
	}
	id = beginPlay(t, s, b, "a")
	for range leaderboard.MaxPlayRefusals {
		want("refused", "a rejected -1<-1 play-rate", submit("a", id, muchMore, ""))
	}
	want("after three refusals", "a rejected -1<-1 play-gone", submit("a", id, -1, ""))
	b.submit(score("a", muchMore)) // by a key
	old := beginPlay(t, s, b, "a")
	id = beginPlay(t, s, b, "a")
	if got := short(submit("a", old, -1, "").Results[:1]); got != "a rejected 1152921504606846975<1152921504606846975 play-gone" {
		t.Errorf("ended by a later one: %s", got)
	}
	submit("a", id, -1, "")
	CheckLog(t, s, b.ref)
}

// testPlaysOfOthers: a play is valid for its member and its board only; a play without effect is used up too; an erasure deletes
// the member's plays.
func testPlaysOfOthers(t *testing.T, s Featured) {
	b, submit := playing(t, s, boardName(t), leaderboard.PolicyBest)
	other, _ := playing(t, s, boardName(t)+"-other", leaderboard.PolicyBest)
	status := func(r leaderboard.Receipt) leaderboard.Status { return r.Results[0].Status }
	id := beginPlay(t, s, b, "a")
	if status(submit("b", id, -1, "")) != leaderboard.StatusRejected || status(submit("a", beginPlay(t, s, other, "a"), -1, "")) != leaderboard.StatusRejected {
		t.Error("the play of another member, or of another board, counts")
	}
	if status(submit("a", id, -1, "")) != leaderboard.StatusApplied {
		t.Error("a play is used up by another's submission")
	}
	id = beginPlay(t, s, b, "a")
	if status(submit("a", id, -2, "")) != leaderboard.StatusUnchanged || status(submit("a", id, 0, "")) != leaderboard.StatusRejected {
		t.Error("a play that changed nothing is left")
	}
	gone := beginPlay(t, s, b, "gone")
	for done := false; !done; {
		e, err := s.Forget(t.Context(), "gone", "")
		if err != nil {
			t.Fatal(err)
		}
		done = e.Done
	}
	if status(submit("gone", gone, -1, "")) != leaderboard.StatusRejected {
		t.Error("a play is left of a member who was erased")
	}
}

package storetest

import (
	"context"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// anyPlayers draws the rule players: none, or such as wants plays.
func anyPlayers() *rapid.Generator[*leaderboard.Players] {
	return rapid.SampledFrom([]*leaderboard.Players{nil, {Submit: leaderboard.PlayersSubmitPlay, MaxTime: "24h"}})
}

// begun is a play in the subject and in the model, whose ids differ.
type begun struct{ got, want leaderboard.Play }

// play begins a play of a member, or submits with a play that was begun: the member's last play or an earlier one, another
// member's, a used one, or none.
func (h *history) play(t *rapid.T) {
	if len(h.plays) == 0 || rapid.IntRange(0, 2).Draw(t, "begin") == 0 {
		h.begin(t, anyMember().Draw(t, "player"))
		return
	}
	got := leaderboard.SubmitRequest{Board: h.name}
	want := got
	for range rapid.IntRange(1, 4).Draw(t, "with plays") { // the database sees one player; its callers check whose entry it is
		p := rapid.SampledFrom(h.plays).Draw(t, "play")
		sub := leaderboard.Submission{Member: p.got.Member, Score: anyScore().Draw(t, "score")}
		if rapid.IntRange(0, 5).Draw(t, "of another") == 0 {
			sub.Member = anyMember().Draw(t, "member")
		}
		drawTiebreak(t, &h.ref.Rules.Tiebreak, &sub)
		twin := sub
		if rapid.IntRange(0, 5).Draw(t, "with one") > 0 {
			sub.Play, twin.Play = &p.got.ID, &p.want.ID
		}
		got.Entries, want.Entries = append(got.Entries, sub), append(want.Entries, twin)
	}
	ctx := leaderboard.WithCaller(h.ctx, leaderboard.Caller{Key: "token:k", Player: leaderboard.PlayerOwner("token:k", "m")})
	h.submitBoth(ctx, t, got, want)
}

// begin begins a play on both sides.
func (h *history) begin(t *rapid.T, member string) {
	h.syncClock(t)
	begin := func(ctx context.Context, database Featured, ref leaderboard.PeriodRef) leaderboard.Play {
		p, err := database.BeginPlay(ctx, leaderboard.Board{ID: ref.BoardID, Name: h.name}, member)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	h.plays = append(h.plays, begun{begin(h.ctx, h.Featured, h.ref), begin(h.ctx, h.model, h.modelRef)})
}

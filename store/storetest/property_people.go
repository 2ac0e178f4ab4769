package storetest

import (
	"context"
	"slices"

	"pgregory.net/rapid"

	"leaderboard/internal/names"
	"leaderboard/leaderboard"
)

// forget forgets a member, hidden or not. Every period so far may have changed.
func (h *history) forget(t *rapid.T) {
	member := anyMember().Draw(t, "forgotten")
	h.syncClock(t)
	got, err := h.Database.Forget(h.ctx, member, "boss")
	if err != nil || !got.Done {
		t.Fatalf("forget %q: %+v, %v", member, got, err)
	}
	want, err := h.model.Forget(h.ctx, member, "boss")
	if err != nil || got.Member != want.Member || got.Entries < want.Entries { // boards of earlier histories have some too
		t.Fatalf("forget %q: %+v, want %+v, %v", member, got, want, err)
	}
	h.wrote()
	h.compareHidden(t)
	h.compareAll(t)
}

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

// compareFound gives a member a name, then searches members of the period by their shown names: the search finds exactly
// the members of the ranking. The model knows the ranking, the database the names: members of earlier histories may have
// names too.
func (h *history) compareFound(t *rapid.T) {
	if h.Featured == nil {
		return
	}
	given := leaderboard.Profile{Member: anyMember().Draw(t, "named"), DisplayName: rapid.SampledFrom([]string{"", "Ada", "Émile Ada", "Émile", "m"}).Draw(t, "name")}
	if _, _, err := h.Featured.PutProfile(h.ctx, given); err != nil {
		t.Fatal(err)
	}
	page, err := h.model.Page(h.ctx, h.modelRef, leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	members := make([]string, len(page.Entries))
	for i := range page.Entries {
		members[i] = page.Entries[i].Member
	}
	profiles, err := h.Featured.Profiles(h.ctx, members)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for _, p := range profiles {
		named[p.Member] = leaderboard.FoldName(p.DisplayName)
	}
	q := leaderboard.ShownQuery{Period: h.ref.ID, Prefix: rapid.SampledFrom([]string{"", "a", "m", "ADA", "e"}).Draw(t, "begins with"), Limit: rapid.IntRange(1, 20).Draw(t, "found at once")}
	search := names.NewSearch(&leaderboard.ShownQuery{Prefix: q.Prefix, Limit: len(members)})
	for _, m := range members {
		search.Add(leaderboard.ShownName{Folded: named[m], Member: m})
	}
	want := search.Found()
	var got []leaderboard.ShownName
	for {
		found, err := h.Featured.FindMembers(h.ctx, q)
		if err != nil || found.Partial {
			t.Fatalf("find %+v: %+v, %v", q, found, err)
		}
		for _, m := range found.Members {
			got, q.After = append(got, m), m
		}
		if len(found.Members) < q.Limit {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q finds %q, want %q", q.Prefix, got, want)
	}
}

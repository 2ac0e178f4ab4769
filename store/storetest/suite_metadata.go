package storetest

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

func withMetadata(sub leaderboard.Submission, metadata string) leaderboard.Submission {
	sub.Metadata = metadata
	return sub
}

// withBodies returns the entries of a board with their metadata as text, best first, and checks that these are the same when
// they are looked up for the entries alone.
func (b *board) withBodies() string {
	b.t.Helper()
	q := b.query(leaderboard.ModeStrict)
	q.Metadata = true
	p, err := b.Database.Page(b.t.Context(), b.ref, leaderboard.PageQuery{Query: q, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	ask := leaderboard.MetadataQuery{Period: &b.ref}
	var out []string
	for _, e := range p.Entries {
		ask.Entries = append(ask.Entries, e.Entry)
		out = append(out, fmt.Sprint(e.Member, " ", e.Score, " ", e.Metadata))
	}
	got, err := b.Featured.Metadata(b.t.Context(), []leaderboard.MetadataQuery{ask})
	if err != nil {
		b.t.Fatal(err)
	}
	for i, e := range p.Entries {
		if got[0][i] != (leaderboard.EntryMetadata{Body: e.Metadata}) {
			b.t.Errorf("beside the entry %+v there is %+v, in one state there was %q", e.Entry, got[0][i], e.Metadata)
		}
	}
	return strings.Join(out, "; ")
}

func (b *board) wantBodies(want string) {
	b.t.Helper()
	if got := b.withBodies(); got != want {
		b.t.Errorf("entries with metadata are %s\nwant                        %s", got, want)
	}
}

// testMetadata: an entry has the metadata of the submission that made it what it is, and no other.
func testMetadata(t *testing.T, s Featured) {
	rules := leaderboard.Rules{Policy: leaderboard.PolicyBest, Tiebreak: leaderboard.Tiebreak{Fields: gameFields()}, Metadata: &leaderboard.Metadata{MaxBytes: 100}}
	b := newBoard(t, Subject{Database: s, Featured: s, Rankings: s}, rules)
	b.submit(withMetadata(withFields("a", 5, 0, 0, 0), `{"n":1}`), withMetadata(withFields("b", 3, 0, 0, 0), `{"n":2}`), withFields("c", 1, 0, 0, 0))
	b.wantBodies(`a 5 {"n":1}; b 3 {"n":2}; c 1 `)

	old, err := s.Page(t.Context(), b.ref, leaderboard.PageQuery{Query: b.query(leaderboard.ModeStrict), Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	b.submit(
		withMetadata(withFields("a", 4, 0, 0, 0), `{"n":3}`),                     // unchanged
		withMetadata(withFields("b", 6, 0, 0, 0), `{"n":4}`),                     // replaced
		withMetadata(withFields("c", 2, 0, 0, 0), `{"n":5}`),                     // the first
		edited("a", leaderboard.Edit{Set: map[string]int64{"paid": 1}}),          // the metadata stays, beside another key
		withMetadata(withFields("d", 1, 0, 0, 0), `{"n":6}`), score("nobody", 7), // rejected
	)
	b.wantBodies(`b 6 {"n":4}; a 5 {"n":1}; c 2 {"n":5}; d 1 {"n":6}`)
	stale := leaderboard.MetadataQuery{Period: &b.ref}
	for _, e := range old.Entries {
		stale.Entries = append(stale.Entries, e.Entry)
	}
	if got, err := s.Metadata(t.Context(), []leaderboard.MetadataQuery{stale}); err != nil || !leaderboard.MetadataMoved(got) || got[0][0].Body+got[0][1].Body+got[0][2].Body != "" {
		t.Errorf("beside entries of before there is %+v, %v", got, err)
	}

	b.submit(withFields("b", 7, 0, 0, 0), withFields("c", 3, 0, 0, 0), edited("d", leaderboard.Edit{Set: map[string]int64{"paid": 1}}))
	b.wantBodies(`b 7 ; a 5 {"n":1}; c 3 ; d 1 {"n":6}`)
	b.submit(edited("b", leaderboard.Edit{Set: map[string]int64{"paid": 1}}), withMetadata(edited("d", leaderboard.Edit{Set: map[string]int64{"paid": 0}}), `{}`))
	b.wantBodies(`b 7 ; a 5 {"n":1}; c 3 ; d 1 {}`)

	b.hide("a")
	b.submit(withMetadata(withFields("a", 9, 0, 0, 0), `{"n":7}`), withMetadata(withFields("b", 8, 0, 0, 0), `{"n":8}`))
	b.wantBodies(`b 8 {"n":8}; c 3 ; d 1 {}`)
	b.restore("a")
	b.wantBodies(`a 9 {"n":7}; b 8 {"n":8}; c 3 ; d 1 {}`)

	if _, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, Member: "a"}); err != nil {
		t.Fatal(err)
	}
	b.caughtUp()
	b.submit(withFields("a", 9, 0, 0, 0))
	b.wantBodies(`a 9 ; b 8 {"n":8}; c 3 ; d 1 {}`)
}

// testMetadataWindows: each window has the metadata of its own entry.
func testMetadataWindows(t *testing.T, s Featured) {
	rules := leaderboard.Rules{
		Policy: leaderboard.PolicyLatest, Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowYear}, Metadata: &leaderboard.Metadata{MaxBytes: 100},
	}
	b := newBoard(t, Subject{Database: s, Featured: s, Rankings: s}, rules)
	l, err := s.Current(t.Context(), b.ref.Board)
	if err != nil {
		t.Fatal(err)
	}
	year := &board{Subject: b.Subject, t: t, ref: l.Periods[1].Ref(&l.Board)}
	b.submit(withMetadata(score("a", 5), `{"n":1}`), withMetadata(score("b", 4), `{"n":2}`))
	if _, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, PeriodID: year.ref.ID, Member: "a"}); err != nil {
		t.Fatal(err)
	}
	b.wantBodies(`a 5 {"n":1}; b 4 {"n":2}`)
	year.wantBodies(`b 4 {"n":2}`)
	b.submit(withMetadata(score("a", 6), `{"n":3}`), score("b", 3), withMetadata(score("b", 2), `{"n":4}`))
	b.wantBodies(`a 6 {"n":3}; b 2 {"n":4}`)
	year.wantBodies(`a 6 {"n":3}; b 2 {"n":4}`)
	if _, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, Member: "a"}); err != nil {
		t.Fatal(err)
	}
	year.caughtUp()
	year.wantBodies(`b 2 {"n":4}`)
}

// testMetadataRefused: metadata that the board does not take rejects the submission, which changes nothing.
func testMetadataRefused(t *testing.T, s Featured) {
	b := newBoard(t, Subject{Database: s, Featured: s, Rankings: s}, leaderboard.Rules{Metadata: &leaderboard.Metadata{MaxBytes: 7}})
	got := b.submit(withMetadata(score("a", 5), `{"n":1}`), withMetadata(score("a", 6), `{"n":12}`), withMetadata(score("b", 6), `[1]`))
	if want := "a applied 5<-; a rejected 5<5 invalid-metadata; b rejected -<- invalid-metadata"; short(got) != want {
		t.Errorf("results are %s, want %s", short(got), want)
	}
	b.wantBodies(`a 5 {"n":1}`)
	other := newBoardNamed(t, Subject{Database: s, Featured: s, Rankings: s}, b.ref.Board+"-none", leaderboard.Rules{})
	if got := other.submit(withMetadata(score("a", 5), `{"n":1}`)); short(got) != "a rejected -<- invalid-metadata" {
		t.Errorf("without the rule: %s", short(got))
	}
}

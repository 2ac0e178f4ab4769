package metadata_test

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/features/metadata"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// subject is a store, or its model, with its reader of metadata.
type subject interface {
	storetest.Database
	metadata.Reader
}

// stored is a store as a subject.
type stored struct {
	storetest.Database
	metadata.Reader
}

// TestModel: the model is as good as a store.
func TestModel(t *testing.T) { runSuite(t, storetest.NewModel()) }

// TestConformance: the stored metadata is as the cases require, which the model passes too.
func TestConformance(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, bodies := opened(t, dsn, dbtest.Patient)
		runSuite(t, stored{storetest.Of(s, storetest.Added{}), bodies})
	})
}

// runSuite runs the cases of metadata.
func runSuite(t *testing.T, s subject) {
	t.Run("metadata", func(t *testing.T) { testMetadata(t, s) })
	t.Run("several windows", func(t *testing.T) { testMetadataWindows(t, s) })
	t.Run("refused", func(t *testing.T) { testMetadataRefused(t, s) })
}

// board is a board of one test, with one of its periods.
type board struct {
	subject
	t   testing.TB
	ref leaderboard.PeriodRef
}

func newBoard(t testing.TB, s subject, name string, rules leaderboard.Rules) *board {
	t.Helper()
	if _, _, err := s.PutBoard(t.Context(), name, rules); err != nil {
		t.Fatal(err)
	}
	return (&board{s, t, leaderboard.PeriodRef{Board: name}}).in(0)
}

// in returns the board with the period of one of its windows.
func (b *board) in(window int) *board {
	b.t.Helper()
	l, err := b.Current(b.t.Context(), b.ref.Board)
	if err != nil {
		b.t.Fatal(err)
	}
	return &board{b.subject, b.t, l.Periods[window].Ref(&l.Board)}
}

func (b *board) submit(entries ...leaderboard.Submission) []leaderboard.Result {
	b.t.Helper()
	r, err := b.Submit(b.t.Context(), leaderboard.SubmitRequest{Board: b.ref.Board, Entries: entries})
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Results
}

func (b *board) remove(r leaderboard.RemoveRequest) {
	b.t.Helper()
	r.Board, r.Member = b.ref.Board, "a"
	if _, err := b.Remove(b.t.Context(), r); err != nil {
		b.t.Fatal(err)
	}
}

// short returns results as text.
func short(results []leaderboard.Result) string {
	var out []string
	for _, r := range results {
		text := fmt.Sprint(r.Member, " ", r.Status)
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

// paid is a score with the field of the board.
func paid(member string, score int64) leaderboard.Submission {
	return leaderboard.Submission{Member: member, Score: score, Fields: map[string]int64{"paid": 0}}
}

func edited(member string, paid int64) leaderboard.Submission {
	return leaderboard.Submission{Member: member, Edit: &leaderboard.Edit{NoScore: true, Set: map[string]int64{"paid": paid}}}
}

func withMetadata(sub leaderboard.Submission, metadata string) leaderboard.Submission {
	sub.Metadata = metadata
	return sub
}

// withBodies returns the entries of a board with their metadata as text, best first, and checks that these are the same when
// they are looked up for the entries alone.
func (b *board) withBodies() string {
	b.t.Helper()
	p, err := b.Page(b.t.Context(), b.ref, leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict, Metadata: true}, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	ask := leaderboard.MetadataQuery{Period: &b.ref}
	var out []string
	for _, e := range p.Entries {
		ask.Entries = append(ask.Entries, e.Entry)
		out = append(out, fmt.Sprint(e.Member, " ", e.Score, " ", e.Metadata))
	}
	got, err := b.Metadata(b.t.Context(), []leaderboard.MetadataQuery{ask})
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

// testMetadata: an entry has the metadata of the submission that made it, and no other.
func testMetadata(t *testing.T, s subject) {
	rules := leaderboard.Rules{Policy: leaderboard.PolicyBest, Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "paid", Bits: 1}}}, Metadata: &leaderboard.Metadata{MaxBytes: 100}}
	b := newBoard(t, s, "metadata", rules)
	b.submit(withMetadata(paid("a", 5), `{"n":1}`), withMetadata(paid("b", 3), `{"n":2}`), paid("c", 1))
	b.wantBodies(`a 5 {"n":1}; b 3 {"n":2}; c 1 `)

	old, err := s.Page(t.Context(), b.ref, leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	b.submit(
		withMetadata(paid("a", 4), `{"n":3}`),                     // unchanged
		withMetadata(paid("b", 6), `{"n":4}`),                     // replaced
		withMetadata(paid("c", 2), `{"n":5}`),                     // the first
		edited("a", 1),                                            // the metadata stays, as part of another key
		withMetadata(paid("d", 1), `{"n":6}`), score("nobody", 7), // rejected
	)
	b.wantBodies(`b 6 {"n":4}; a 5 {"n":1}; c 2 {"n":5}; d 1 {"n":6}`)
	stale := leaderboard.MetadataQuery{Period: &b.ref}
	for _, e := range old.Entries {
		stale.Entries = append(stale.Entries, e.Entry)
	}
	if got, err := s.Metadata(t.Context(), []leaderboard.MetadataQuery{stale}); err != nil || !leaderboard.MetadataMoved(got) || got[0][0].Body+got[0][1].Body+got[0][2].Body != "" {
		t.Errorf("beside entries of before there is %+v, %v", got, err)
	}

	b.submit(paid("b", 7), paid("c", 3), edited("d", 1))
	b.wantBodies(`b 7 ; a 5 {"n":1}; c 3 ; d 1 {"n":6}`)
	b.submit(edited("b", 1), withMetadata(edited("d", 0), `{}`))
	b.wantBodies(`b 7 ; a 5 {"n":1}; c 3 ; d 1 {}`)

	hide := leaderboard.HideRequest{Board: b.ref.Board, Member: "a", Reason: "aimbot"}
	if _, err := s.Hide(t.Context(), hide); err != nil {
		t.Fatal(err)
	}
	b.submit(withMetadata(paid("a", 9), `{"n":7}`), withMetadata(paid("b", 8), `{"n":8}`))
	b.wantBodies(`b 8 {"n":8}; c 3 ; d 1 {}`)
	if err := s.Restore(t.Context(), hide); err != nil {
		t.Fatal(err)
	}
	b.wantBodies(`a 9 {"n":7}; b 8 {"n":8}; c 3 ; d 1 {}`)

	b.remove(leaderboard.RemoveRequest{})
	b.submit(paid("a", 9))
	b.wantBodies(`a 9 ; b 8 {"n":8}; c 3 ; d 1 {}`)
}

// testMetadataWindows: each window has its own entry's metadata.
func testMetadataWindows(t *testing.T, s subject) {
	rules := leaderboard.Rules{
		Policy: leaderboard.PolicyLatest, Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowYear}, Metadata: &leaderboard.Metadata{MaxBytes: 100},
	}
	b := newBoard(t, s, "windows", rules)
	year := b.in(1)
	b.submit(withMetadata(score("a", 5), `{"n":1}`), withMetadata(score("b", 4), `{"n":2}`))
	b.remove(leaderboard.RemoveRequest{PeriodID: year.ref.ID})
	b.wantBodies(`a 5 {"n":1}; b 4 {"n":2}`)
	year.wantBodies(`b 4 {"n":2}`)
	b.submit(withMetadata(score("a", 6), `{"n":3}`), score("b", 3), withMetadata(score("b", 2), `{"n":4}`))
	b.wantBodies(`a 6 {"n":3}; b 2 {"n":4}`)
	year.wantBodies(`a 6 {"n":3}; b 2 {"n":4}`)
	b.remove(leaderboard.RemoveRequest{})
	year.wantBodies(`b 2 {"n":4}`)
}

// testMetadataRefused: metadata that the board does not take rejects the submission, which changes nothing.
func testMetadataRefused(t *testing.T, s subject) {
	b := newBoard(t, s, "refused", leaderboard.Rules{Metadata: &leaderboard.Metadata{MaxBytes: 7}})
	got := b.submit(withMetadata(score("a", 5), `{"n":1}`), withMetadata(score("a", 6), `{"n":12}`), withMetadata(score("b", 6), `[1]`))
	if want := "a applied; a rejected invalid-metadata; b rejected invalid-metadata"; short(got) != want {
		t.Errorf("results are %s, want %s", short(got), want)
	}
	b.wantBodies(`a 5 {"n":1}`)
	other := newBoard(t, s, "none", leaderboard.Rules{})
	if got := other.submit(withMetadata(score("a", 5), `{"n":1}`)); short(got) != "a rejected invalid-metadata" {
		t.Errorf("without the rule: %s", short(got))
	}
}

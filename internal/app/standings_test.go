package app

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// standingsWorld is two servers of one database, and a model that gets the same submissions.
type standingsWorld struct {
	t       *testing.T
	servers [2]*client.Client
	model   *storetest.Model
	random  *rand.Rand
	friends map[string][]string
	hidden  map[string]bool // board and member

	told, passed, none int
}

// standingsBoards are boards of every policy, with many ties: scores are few.
func standingsBoards() map[string]leaderboard.Rules {
	return map[string]leaderboard.Rules{
		"best":   {Resident: leaderboard.ResidentAlways, Mode: leaderboard.ModeTied},
		"latest": {Policy: leaderboard.PolicyLatest, Order: leaderboard.OrderAsc, Mode: leaderboard.ModeDense},
		"sum":    {Policy: leaderboard.PolicySum, Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}},
	}
}

// TestStandingsOfRandomSubmits: after each of many submits to two servers, the standings equal the model's at that moment: with
// ties, members that come twice, hidden members, and friends that are passed.
func TestStandingsOfRandomSubmits(t *testing.T) {
	t.Parallel()
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	w := &standingsWorld{t: t, model: storetest.NewModel(), random: rand.New(rand.NewPCG(1, 2)), friends: map[string][]string{}, hidden: map[string]bool{}}
	for i := range w.servers {
		a := startReady(t, dsn, redisURL, func(c *Config) { c.standingWait = apptest.MaxWait })
		w.servers[i] = admins(t, a)
	}
	for name, rules := range standingsBoards() {
		if _, _, err := w.servers[0].PutBoard(t.Context(), name, rules); err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.model.PutBoard(t.Context(), name, rules); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		for k := range 20 {
			w.friends[w.member(i)] = append(w.friends[w.member(i)], w.member(i+1+k))
		}
		slices.Sort(w.friends[w.member(i)])
		if _, err := w.servers[0].PutFriends(t.Context(), w.member(i), w.friends[w.member(i)]); err != nil {
			t.Fatal(err)
		}
	}
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range standingsBoards() {
			if !yield(name) {
				return
			}
		}
	})
	n := testenv.Size(600, 100_000)
	for i := range n {
		board := names[w.random.IntN(len(names))]
		if i%25 == 24 {
			w.hideOrRestore(board)
		}
		if w.submit(board); t.Failed() {
			t.Fatalf("after %d submits", i+1)
		}
	}
	t.Logf("%d submits: %d standings, %d members passed, %d of hidden members", n, w.told, w.passed, w.none)
	if w.told < n || w.passed == 0 || w.none == 0 {
		t.Error("these are too few")
	}
}

const standingsMembers = 40

func (w *standingsWorld) member(i int) string { return fmt.Sprintf("m%02d", i%standingsMembers) }

func (w *standingsWorld) server() *client.Client { return w.servers[w.random.IntN(2)] }

func (w *standingsWorld) hideOrRestore(board string) {
	member, t := w.member(w.random.IntN(8)), w.t
	r := leaderboard.HideRequest{Board: board, Member: member, Reason: "x", Actor: "boss"}
	var err, modelErr error
	if key := board + " " + member; w.hidden[key] {
		delete(w.hidden, key)
		err, modelErr = w.server().RestoreMember(t.Context(), board, member, "x", client.HideOptions{}), w.model.Restore(t.Context(), r)
	} else {
		w.hidden[key] = true
		_, err = w.server().HideMember(t.Context(), board, member, "x", client.HideOptions{})
		_, modelErr = w.model.Hide(t.Context(), r)
	}
	if err := errors.Join(err, modelErr); err != nil {
		t.Fatal(err)
	}
}

// submit sends a few entries, has the model take what the server took, and compares the standings.
func (w *standingsWorld) submit(board string) {
	t := w.t
	var entries []leaderboard.Submission
	for range 1 + w.random.IntN(4) {
		entries = append(entries, leaderboard.Submission{Member: w.member(w.random.IntN(standingsMembers)), Score: int64(w.random.IntN(30))})
	}
	modes := []leaderboard.Mode{"", leaderboard.ModeStrict, leaderboard.ModeTied, leaderboard.ModeDense}
	o := client.SubmitOptions{Standings: true, Mode: modes[w.random.IntN(len(modes))], Friends: w.random.IntN(2) == 0}
	got, err := w.server().Submit(t.Context(), board, entries, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if r := &got.Results[i]; r.Status == leaderboard.StatusApplied {
			entries[i].CreatedTime = new(leaderboard.MicrosOf(*r.CreatedTime))
		}
	}
	receipt, err := w.model.Submit(t.Context(), leaderboard.SubmitRequest{Board: board, Entries: entries, Moves: true})
	if err != nil {
		t.Fatal(err)
	}
	mode := cmp.Or(o.Mode, receipt.First.Rules.Mode)
	ask := leaderboard.MovesQuery{Query: leaderboard.Query{Mode: leaderboard.ModeAll}}
	for _, r := range receipt.Results {
		ask.Moves = append(ask.Moves, leaderboard.Move{Member: r.Member, Old: r.Old, New: r.New, Friends: w.friends[r.Member]})
	}
	want, err := w.model.Moves(t.Context(), *receipt.First, ask)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Results {
		if g, r := &got.Results[i], &receipt.Results[i]; g.Status != r.Status || *g.Score != *r.Score {
			t.Fatalf("%s %s of %s: %+v, the model has %+v", board, o.Mode, r.Member, g, r)
		}
		w.compare(&got.Results[i], want.Moved[i], mode, want.Total, o.Friends)
	}
}

// compare compares one standing with the model's.
func (w *standingsWorld) compare(r *client.Result, want *leaderboard.Moved, mode leaderboard.Mode, total int64, friends bool) {
	w.t.Helper()
	if want == nil {
		if w.none++; r.Standing != nil {
			w.t.Errorf("%s is hidden, and is said to be %+v", r.Member, r.Standing)
		}
		return
	}
	if r.Standing == nil {
		w.t.Errorf("%s has no standing, want %+v", r.Member, want)
		return
	}
	w.told++
	got, previous := r.Standing, int64(0)
	if got.PreviousRank != nil {
		previous = *got.PreviousRank
	}
	wantPrevious := int64(0)
	if want.Previous != nil {
		wantPrevious = want.Previous.In(mode)
	}
	if got.Rank != want.In(mode) || previous != wantPrevious || got.Total != total {
		w.t.Errorf("%s in %s: %d → %d of %d, want %d → %d of %d", r.Member, mode, previous, got.Rank, got.Total, wantPrevious, want.In(mode), total)
	}
	if friends && !slices.Equal(got.Passed, want.Passed) {
		w.t.Errorf("%s has passed %v, want %v", r.Member, got.Passed, want.Passed)
	}
	w.passed += len(got.Passed)
}

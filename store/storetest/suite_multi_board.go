package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// on returns a submission to a board.
func on(board string, sub leaderboard.Submission) leaderboard.BoardSubmission {
	return leaderboard.BoardSubmission{Board: board, Submission: sub}
}

// shortMultiBoard returns a receipt as text: the results with their boards.
func shortMultiBoard(r leaderboard.MultiBoardReceipt) string {
	var out []string
	for _, res := range r.Results {
		out = append(out, res.Board+": "+short([]leaderboard.Result{res.Result}))
	}
	return strings.Join(out, "; ")
}

// multiBoardBoards makes boards of one test: a sum, a best with two windows, and a board that is over.
func multiBoardBoards(t *testing.T, s Database) (sum, best, over string) {
	t.Helper()
	past := leaderboard.Micros(1)
	name := boardName(t)
	sum, best, over = name[:min(60, len(name))]+"-sum", name[:min(60, len(name))]+"-two", name[:min(60, len(name))]+"-end"
	for board, rules := range map[string]leaderboard.Rules{
		sum:  {Policy: leaderboard.PolicySum},
		best: {Windows: []leaderboard.Window{leaderboard.WindowYear, leaderboard.WindowAllTime}, Order: leaderboard.OrderAsc},
		over: {EndsAt: &past},
	} {
		if _, _, err := s.PutBoard(t.Context(), board, rules); err != nil {
			t.Fatal(err)
		}
	}
	return sum, best, over
}

// testMultiBoard: one request for several boards follows the rules of each, in order, and an entry that is refused leaves
// its neighbours alone.
func testMultiBoard(t *testing.T, s Database) {
	sum, best, over := multiBoardBoards(t, s)
	r, err := s.SubmitMultiBoard(t.Context(), leaderboard.MultiBoardRequest{Entries: []leaderboard.BoardSubmission{
		on(best, score("m", 9)), on(sum, score("m", 5)), on("no-such-board", score("m", 1)), on(sum, score("m", 5)), on(over, score("m", 1)),
		on(best, score("m", 7)), on("'; DROP TABLE boards; --\x00\xff", score("m", 1)), on(sum, score("", 1)), on(best, score("m", 8)), on(sum, score("n", 1)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%[1]s: m applied 9<-; %[2]s: m applied 5<-; no-such-board: m rejected -<- board-not-found; %[2]s: m applied 10<5; "+
		"%[3]s: m rejected -<- board-ended; %[1]s: m applied 7<9; '; DROP TABLE boards; --\x00\xff: m rejected -<- board-not-found; "+
		"%[2]s:  rejected -<- invalid-member; %[1]s: m unchanged 7<7; %[2]s: n applied 1<-", best, sum, over)
	if got := shortMultiBoard(r); got != want {
		t.Errorf("results %s\nwant    %s", got, want)
	}
	wantSeqs := map[string]leaderboard.BoardSeqs{
		sum: {Seq: 3}, over: {},
		best: {Seq: 2, Seqs: map[leaderboard.Window]int64{leaderboard.WindowYear: 2, leaderboard.WindowAllTime: 2}},
	}
	if !reflect.DeepEqual(r.Boards, wantSeqs) {
		t.Errorf("boards are at %+v, want %+v", r.Boards, wantSeqs)
	}
	for name, entries := range map[string][]string{sum: {"1 m 10", "2 n 1"}, best: {"1 m 7"}, over: {}} {
		l, err := s.Current(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range l.Periods {
			page, err := s.Page(t.Context(), p.Ref(&l.Board), leaderboard.PageQuery{Limit: 10})
			if err != nil || !reflect.DeepEqual(lines(page, leaderboard.ModeStrict), entries) {
				t.Errorf("%s, %s: %q, %v; want %q", name, p.Window, lines(page, leaderboard.ModeStrict), err, entries)
			}
			CheckLog(t, s, p.Ref(&l.Board))
		}
	}
	if r, err := s.SubmitMultiBoard(t.Context(), leaderboard.MultiBoardRequest{}); err != nil || len(r.Results) != 0 || len(r.Boards) != 0 {
		t.Errorf("nothing submitted: %+v, %v", r, err)
	}
}

// testMultiBoardKeys: keys of multi-board requests are separate from boards' keys, and an entry's board is part of the
// request.
func testMultiBoardKeys(t *testing.T, s Database) {
	sum, best, _ := multiBoardBoards(t, s)
	key := boardName(t)
	ask := func(key string, entries ...leaderboard.BoardSubmission) (leaderboard.MultiBoardReceipt, error) {
		return s.SubmitMultiBoard(t.Context(), leaderboard.MultiBoardRequest{Key: key, Entries: entries})
	}
	entries := []leaderboard.BoardSubmission{on(sum, score("m", 5)), on(best, score("m", 5)), on("none-\xff", score("m\xff", 5))}
	first, err := ask(key, entries...)
	if err != nil || first.Boards[sum].Seq != 1 || first.Boards[best].Seqs[leaderboard.WindowAllTime] != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	if _, err := s.Submit(t.Context(), leaderboard.SubmitRequest{Board: sum, Key: key, Entries: []leaderboard.Submission{score("m", 5)}}); err != nil {
		t.Errorf("the same key on one board: %v", err)
	}
	first.Replayed = true
	for range 2 {
		if again, err := ask(key, entries...); err != nil || !reflect.DeepEqual(again, first) {
			t.Errorf("the same again: %+v, %v\nwant %+v", again, err, first)
		}
	}
	for what, other := range map[string][]leaderboard.BoardSubmission{
		"other score": {on(sum, score("m", 6)), entries[1], entries[2]}, "other board": {on(best, score("m", 5)), entries[1], entries[2]},
		"other order": {entries[1], entries[0], entries[2]}, "fewer": entries[:2], "none": nil,
	} {
		if r, err := ask(key, other...); !errors.Is(err, leaderboard.ErrKeyReused) {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	// A request that did nothing is remembered too.
	for range 2 {
		r, err := ask(key+" none", entries[2])
		if err != nil || r.Results[0].Rule == nil || r.Results[0].Rule.Code != leaderboard.CodeBoardNotFound || r.Boards == nil || len(r.Boards) != 0 {
			t.Errorf("no board at all: %+v, %v", r, err)
		}
	}
	if r, err := ask("", on(sum, score("m", 0))); err != nil || *r.Results[0].Score != 10 {
		t.Errorf("the sum in the end: %+v, %v; want 10", r, err)
	}
}

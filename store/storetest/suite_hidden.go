package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

func hiding(board, member string) leaderboard.HideRequest {
	return leaderboard.HideRequest{Board: board, Member: member, Reason: "aimbot", Actor: "boss"}
}

// hide hides members on the board.
func (b *board) hide(members ...string) {
	b.t.Helper()
	for _, m := range members {
		h, err := b.Database.Hide(b.t.Context(), hiding(b.ref.Board, m))
		if err != nil {
			b.t.Fatal(err)
		}
		if h.Member != m || h.Board != b.ref.Board || h.Reason != "aimbot" || h.Actor != "boss" || h.HiddenAt == 0 {
			b.t.Errorf("hidden as %+v", h)
		}
	}
	b.caughtUp()
}

func (b *board) restore(members ...string) {
	b.t.Helper()
	for _, m := range members {
		if err := b.Database.Restore(b.t.Context(), hiding(b.ref.Board, m)); err != nil {
			b.t.Fatal(err)
		}
	}
	b.caughtUp()
}

// caughtUp makes the next queries require the present state.
func (b *board) caughtUp() {
	b.t.Helper()
	p, err := b.Database.Period(b.t.Context(), b.ref.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	b.last = p.LastSeq
}

// testHiddenRanks: everybody below a hidden member moves up in every mode, and down again.
func testHiddenRanks(t *testing.T, s Subject) {
	b := newBoard(t, s, leaderboard.Rules{Policy: leaderboard.PolicyLatest})
	b.submit(score("a", 9), score("b", 7), score("c", 7), score("d", 5), score("e", 3))
	want := func(what string, pages map[leaderboard.Mode]string) {
		t.Helper()
		for mode, want := range pages {
			if got := strings.Join(b.page(leaderboard.PageQuery{Query: leaderboard.Query{Mode: mode}, Limit: 10}), ", "); got != want {
				t.Errorf("%s, %s: %s; want %s", what, mode, got, want)
			}
		}
	}
	b.hide("a", "d")
	want("a and d hidden", map[leaderboard.Mode]string{
		leaderboard.ModeStrict: "1 b 7, 2 c 7, 3 e 3", leaderboard.ModeTied: "1 b 7, 1 c 7, 3 e 3", leaderboard.ModeDense: "1 b 7, 1 c 7, 2 e 3",
	})
	st, err := b.Rankings.Members(t.Context(), b.ref, leaderboard.MembersQuery{Query: b.query(leaderboard.ModeStrict), Members: []string{"a", "e"}})
	if err != nil || len(st.Entries) != 1 || st.Entries[0].Strict != 3 || !reflect.DeepEqual(st.NotRanked, []string{"a"}) || st.Total != 3 {
		t.Errorf("members: %+v, %v", st, err)
	}
	if _, err := b.Rankings.Page(t.Context(), b.ref, leaderboard.PageQuery{Query: b.query(leaderboard.ModeStrict), Around: "d", Limit: 3}); !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Errorf("around a hidden member: %v", err)
	}
	before := b.last
	if got := short(b.submit(score("a", 1), score("d", 8), score("f", 6))); got != "a applied 1<9; d applied 8<5; f applied 6<-" {
		t.Errorf("submitted while hidden: %s", got)
	}
	if b.last != before+1 {
		t.Errorf("seq is %d after %d and one visible change", b.last, before)
	}
	want("after submissions", map[leaderboard.Mode]string{leaderboard.ModeStrict: "1 b 7, 2 c 7, 3 f 6, 4 e 3", leaderboard.ModeTied: "1 b 7, 1 c 7, 3 f 6, 4 e 3"})
	b.restore("a")
	want("a restored", map[leaderboard.Mode]string{leaderboard.ModeStrict: "1 b 7, 2 c 7, 3 f 6, 4 e 3, 5 a 1"})
	b.restore("d")
	want("d restored", map[leaderboard.Mode]string{leaderboard.ModeTied: "1 d 8, 2 b 7, 2 c 7, 4 f 6, 5 e 3, 6 a 1"})
}

// testHiddenEntry: a hidden member notices nothing, keeps the time at which a score was reached, and the log has
// moves only.
func testHiddenEntry(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{Policy: leaderboard.PolicySum})
	b.hide("m")
	r := b.submit(score("m", 5), score("m", -2), score("n", 3))
	if got := short(r); got != "m applied 5<-; m applied 3<5; n applied 3<-" {
		t.Errorf("submitted: %s", got)
	}
	if *r[1].CreatedTime <= *r[0].CreatedTime || *r[2].CreatedTime <= *r[1].CreatedTime {
		t.Errorf("times %s, %s, %s do not grow", r[0].CreatedTime, r[1].CreatedTime, r[2].CreatedTime)
	}
	later := b.submit(score("m", 1))
	last := b.submit(score("m", 0), score("o", 4))
	if got := short(last); got != "m unchanged 4<4; o applied 4<-" || *last[0].CreatedTime != *later[0].CreatedTime {
		t.Errorf("submitted again: %s, %s; before %s", got, last[0].CreatedTime, later[0].CreatedTime)
	}
	if *last[1].CreatedTime <= *later[0].CreatedTime {
		t.Errorf("o reached its score at %s, m before it at %s", last[1].CreatedTime, later[0].CreatedTime)
	}
	b.restore("m")
	if got := b.page(leaderboard.PageQuery{Limit: 10}); !reflect.DeepEqual(got, []string{"1 m 4", "2 o 4", "3 n 3"}) {
		t.Errorf("restored: %q", got)
	}
	b.hide("o")
	var log []string
	for _, c := range CheckLog(t, s, b.ref) {
		for _, change := range c.Changes {
			log = append(log, fmt.Sprintf("%s %t>%t", change.Member, change.Old != nil, change.New != nil))
		}
	}
	if want := []string{"n false>true", "o false>true", "m false>true", "o true>false"}; !reflect.DeepEqual(log, want) {
		t.Errorf("the log has %q, want %q", log, want)
	}
	page, err := s.Page(t.Context(), b.ref, leaderboard.PageQuery{Limit: 1})
	if err != nil || page.Entries[0].CreatedTime != *later[0].CreatedTime {
		t.Errorf("restored with %+v, %v; want the time %s", page, err, later[0].CreatedTime)
	}
}

// testHiddenRemoved: a hidden entry can be removed, and counts as an entry for the rules.
func testHiddenRemoved(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	b.hide("m")
	b.submit(score("m", 5))
	_, _, err := s.PutBoard(t.Context(), b.ref.Board, leaderboard.Rules{Order: leaderboard.OrderAsc})
	wantConflict(t, err, "/order", "order stays desc, because the board has entries of hidden members")
	r, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, Member: "m"})
	if err != nil || short(r.Results) != "m applied -<5" || r.Seq != 0 {
		t.Errorf("removed: %+v, %v", r, err)
	}
	if _, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, Member: "m"}); !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Errorf("removed again: %v", err)
	}
	b.restore("m")
	if got := b.page(leaderboard.PageQuery{Limit: 10}); len(got) != 0 {
		t.Errorf("removed, and yet restored: %q", got)
	}
}

// testHiddenEverywhere: everywhere means later boards too. A member that is hidden twice is shown when both are
// over.
func testHiddenEverywhere(t *testing.T, s Database) {
	subject, m := Subject{Database: s, Rankings: s}, boardName(t)+"-member"
	first := newBoardNamed(t, subject, boardName(t)+"-1", leaderboard.Rules{})
	first.submit(score(m, 5), score("n", 3))
	if _, err := s.Hide(t.Context(), hiding("", m)); err != nil {
		t.Fatal(err)
	}
	second := newBoardNamed(t, subject, boardName(t)+"-2", leaderboard.Rules{})
	second.submit(score(m, 6), score("n", 4))
	show := func(want ...string) {
		t.Helper()
		for i, b := range []*board{first, second} {
			if b.caughtUp(); fmt.Sprint(b.page(leaderboard.PageQuery{Limit: 5})) != want[i] {
				t.Errorf("board %d shows %q, want %s", i+1, b.page(leaderboard.PageQuery{Limit: 5}), want[i])
			}
		}
	}
	show("[1 n 3]", "[1 n 4]")
	first.hide(m)
	if err := s.Restore(t.Context(), hiding("", m)); err != nil {
		t.Fatal(err)
	}
	show("[1 n 3]", fmt.Sprintf("[1 %s 6 2 n 4]", m))
	if _, err := s.Hide(t.Context(), hiding("", m)); err != nil {
		t.Fatal(err)
	}
	first.restore(m)
	show("[1 n 3]", "[1 n 4]")
	if err := s.Restore(t.Context(), hiding("", m)); err != nil {
		t.Fatal(err)
	}
	show(fmt.Sprintf("[1 %s 5 2 n 3]", m), fmt.Sprintf("[1 %s 6 2 n 4]", m))
}

// testHiddenList: the recorded data, and the refused requests.
func testHiddenList(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	m := b.ref.Board + "-m"
	b.hide("x", m, "y")
	if _, err := s.Hide(t.Context(), hiding("", m)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Restore(t.Context(), hiding("", m)) }()
	list := func(q leaderboard.HiddenQuery) (out []leaderboard.HiddenMember) {
		t.Helper()
		for q.Limit = 1; ; {
			page, err := s.Hidden(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				return out
			}
			out = append(out, page...)
			q.AfterBoard, q.AfterMember = page[0].BoardID, page[0].Member
		}
	}
	names := func(list []leaderboard.HiddenMember) (out []string) {
		for _, h := range list {
			if h.BoardID == b.ref.BoardID || h.Member == m { // others may be hidden everywhere
				out = append(out, h.Board+"/"+h.Member)
			}
		}
		return out
	}
	in := b.ref.Board + "/"
	if got, want := names(list(leaderboard.HiddenQuery{Board: b.ref.Board})), []string{"/" + m, in + m, in + "x", in + "y"}; !reflect.DeepEqual(got, want) {
		t.Errorf("hidden are %q, want %q", got, want)
	}
	if got, want := names(list(leaderboard.HiddenQuery{Member: m})), []string{"/" + m, in + m}; !reflect.DeepEqual(got, want) {
		t.Errorf("hidden is %q, want %q", got, want)
	}
	first := list(leaderboard.HiddenQuery{Board: b.ref.Board, Member: "x"})[0]
	again, err := s.Hide(t.Context(), leaderboard.HideRequest{Board: b.ref.Board, Member: "x", Reason: "wallhack", Actor: "judge"})
	if err != nil || again.HiddenAt != first.HiddenAt || again.Reason != "wallhack" || again.Actor != "judge" {
		t.Errorf("hidden again as %+v, %v; before %+v", again, err, first)
	}
	if _, err := s.Hide(t.Context(), leaderboard.HideRequest{Board: b.ref.Board, Member: "x", Reason: "wallhack", Actor: "judge"}); err != nil {
		t.Error(err)
	}
	if got := list(leaderboard.HiddenQuery{Board: b.ref.Board, Member: "x"}); len(got) != 1 || got[0] != again {
		t.Errorf("listed as %+v, want %+v", got, again)
	}
	b.restore(m)
	testHidingRefused(t, s, b.ref.Board)
}

func testHidingRefused(t *testing.T, s Database, board string) {
	long := strings.Repeat("é", 101)
	for _, r := range []leaderboard.HideRequest{
		{Board: board, Member: "", Reason: "r"},
		{Board: board, Member: "m"},
		{Board: board, Member: "m", Reason: long},
		{Board: board, Member: "m", Reason: "r", Actor: long},
		{Board: board, Member: "m", Reason: "\xff"},
	} {
		var broken *leaderboard.RuleError
		if _, err := s.Hide(t.Context(), r); !errors.As(err, &broken) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := s.Hide(t.Context(), hiding("no-such-board", "m")); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("hidden on no board: %v", err)
	}
	if err := s.Restore(t.Context(), hiding("no-such-board", "m")); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("restored on no board: %v", err)
	}
	if err := s.Restore(t.Context(), hiding(board, "nobody")); !errors.Is(err, leaderboard.ErrNotHidden) {
		t.Errorf("nobody restored: %v", err)
	}
	if _, err := s.Hidden(t.Context(), leaderboard.HiddenQuery{Board: "no-such-board", Limit: 1}); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("listed of no board: %v", err)
	}
}

// testHiddenKeys: a key brings the same answer again, after any change of the member.
func testHiddenKeys(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{Policy: leaderboard.PolicySum})
	send := func() string {
		t.Helper()
		r, err := s.Submit(t.Context(), leaderboard.SubmitRequest{Board: b.ref.Board, Key: "k", Entries: []leaderboard.Submission{score("m", 5)}})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(short(r.Results), " at ", r.Seq)
	}
	b.hide("m")
	first := send()
	b.restore("m")
	if again := send(); first != "m applied 5<- at 0" || again != first {
		t.Errorf("answered %s, then %s", first, again)
	}
	if got := b.page(leaderboard.PageQuery{Limit: 5}); !reflect.DeepEqual(got, []string{"1 m 5"}) {
		t.Errorf("counted as %q", got)
	}
}

// testHiddenBoardDeleted: deleting a board deletes its hides; one of the same name starts without.
func testHiddenBoardDeleted(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	b.hide("m")
	if err := s.DeleteBoard(t.Context(), b.ref.Board); err != nil {
		t.Fatal(err)
	}
	b = newBoard(t, b.Subject, leaderboard.Rules{})
	b.submit(score("m", 1))
	if got := b.page(leaderboard.PageQuery{Limit: 5}); !reflect.DeepEqual(got, []string{"1 m 1"}) {
		t.Errorf("the new board shows %q", got)
	}
}

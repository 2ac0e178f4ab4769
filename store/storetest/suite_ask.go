package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"leaderboard/leaderboard"
)

// testAsk: questions that are sent together get the same answers as alone, at one state, and each fails alone.
func testAsk(t *testing.T, database Database) {
	s := Subject{Database: database, Rankings: database}
	b := ladder(t, s, 30, leaderboard.Rules{})
	page := func(q leaderboard.PageQuery) leaderboard.Question { return leaderboard.Question{Page: &q} }
	members := func(q leaderboard.MembersQuery) leaderboard.Question { return leaderboard.Question{Members: &q} }
	moves := func(q leaderboard.MovesQuery) leaderboard.Question { return leaderboard.Question{Moves: &q} }
	first, err := database.Page(t.Context(), b.ref, leaderboard.PageQuery{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	var questions []leaderboard.Question
	for _, mode := range Modes() {
		q := b.query(mode)
		questions = append(questions,
			page(leaderboard.PageQuery{Query: q, Limit: 3}),
			page(leaderboard.PageQuery{Query: q, Limit: 4, Offset: 21}),
			page(leaderboard.PageQuery{Query: q, Limit: 4, Offset: 99}),
			page(leaderboard.PageQuery{Query: q, Limit: 3, After: first.Next}),
			page(leaderboard.PageQuery{Query: q, Limit: 5, Around: "m17", Before: 2}),
			page(leaderboard.PageQuery{Query: q, Limit: 5, Around: "m29", Before: 2}),
			page(leaderboard.PageQuery{Query: q, Limit: 5, Around: "nobody", Before: 2}),
			page(leaderboard.PageQuery{Query: q, After: "no key", Limit: 5}),
			page(leaderboard.PageQuery{Query: leaderboard.Query{Mode: mode, MinSeq: b.last + 1}, Limit: 5}),
			members(leaderboard.MembersQuery{Query: q, Members: []string{"m11", "nobody", "m02", "m03"}}),
			members(leaderboard.MembersQuery{Query: q, Members: []string{"m17", "m11", "m29"}, Limit: 1, Self: "m29"}),
			members(leaderboard.MembersQuery{Query: q}),
			members(leaderboard.MembersQuery{Query: leaderboard.Query{Mode: mode, MinSeq: b.last + 1}, Members: []string{"m01"}}),
			moves(leaderboard.MovesQuery{Query: q, Moves: []leaderboard.Move{{Member: "m11"}, {Member: "nobody"}, {
				Member: "m20", Old: &leaderboard.Entry{Member: "m20", Score: -14, CreatedTime: 50}, Friends: []string{"m19", "m02", "m21"},
				New: &leaderboard.Entry{Member: "m20", Score: -9, CreatedTime: 50},
			}}}),
			moves(leaderboard.MovesQuery{Query: leaderboard.Query{Mode: mode, MinSeq: b.last + 1}, Moves: []leaderboard.Move{{Member: "m01"}}}),
		)
	}
	questions = append(questions,
		leaderboard.Question{Score: &leaderboard.ScoreQuery{MinSeq: b.last, Score: -7}},
		leaderboard.Question{Score: &leaderboard.ScoreQuery{MinSeq: b.last + 1, Score: -7}},
	)
	got, err := database.Query(t.Context(), b.ref, questions)
	if err != nil || len(got) != len(questions) {
		t.Fatalf("%d answers to %d questions, %v", len(got), len(questions), err)
	}
	for i, want := range QueryEach(t.Context(), database, b.ref, questions) {
		if difference := differs(got[i], want); difference != nil {
			t.Errorf("question %d: %v", i, difference)
		}
	}
	if none, err := database.Query(t.Context(), b.ref, nil); err != nil || len(none) != 0 {
		t.Errorf("no questions: %+v, %v", none, err)
	}
}

// differs returns the difference between two answers, without the time of the state.
func differs(got, want leaderboard.Answer) error {
	for _, sentinel := range []error{leaderboard.ErrNotRanked, leaderboard.ErrSeqAhead} {
		if errors.Is(got.Err, sentinel) != errors.Is(want.Err, sentinel) {
			return errors.Join(errors.New("one error only"), got.Err, want.Err)
		}
	}
	if (got.Err == nil) != (want.Err == nil) {
		return errors.Join(errors.New("one error only"), got.Err, want.Err)
	}
	if g, w := plain(got), plain(want); !reflect.DeepEqual(g, w) {
		return fmt.Errorf("%+v\nwant\n%+v", g, w)
	}
	return nil
}

// plain returns the compared part of an answer.
func plain(a leaderboard.Answer) []any {
	switch {
	case a.Err != nil:
		return nil
	case a.Page != nil:
		return []any{a.Page.Seq, a.Page.Total, append([]leaderboard.Ranked{}, a.Page.Entries...), a.Page.Next}
	case a.Members != nil:
		s := a.Members
		return []any{s.Seq, s.Total, append([]leaderboard.Standing{}, s.Entries...), s.Self, s.Ranked, append([]string{}, s.NotRanked...)}
	case a.Moves != nil:
		return []any{a.Moves.Seq, a.Moves.Total, a.Moves.Moved}
	default:
		return []any{a.Score.Seq, a.Score.Total, a.Score.Strict, a.Score.Tied}
	}
}

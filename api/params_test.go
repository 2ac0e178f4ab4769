package api

import (
	"testing"
	"time"

	"leaderboard/leaderboard"
)

// TestValues: zero values are left out, except behind a pointer.
func TestValues(t *testing.T) {
	none := 0
	for want, query := range map[string]any{
		"":                                   TopQuery{},
		"limit=10&min_seq=7&window=day":      TopQuery{ReadQuery: ReadQuery{Window: leaderboard.WindowDay, MinSeq: 7}, Limit: 10},
		"after=0&before=0&profiles=true":     AroundQuery{ReadQuery: ReadQuery{Profiles: true}, Before: &none, After: &none},
		"after=x&wait=1m30s":                 ChangesQuery{After: "x", Wait: 90 * time.Second, Once: true},
		"fields=level%3A7%2Cpaid%3A-1":       ScoreQuery{Score: 5, Fields: Fields{{Name: "level", Value: 7}, {Name: "paid", Value: -1}}},
		"boards=a%2Cb&min_seq=a%3A1%2Cb%3A2": CombinedMemberQuery{BoardsQuery{Boards: []string{"a", "b"}, MinSeq: map[string]int64{"b": 2, "a": 1}}},
		"labels=type%3Ax&limit=1":            BoardsListQuery{Labels: leaderboard.Labels{"type": "x"}, ListQuery: ListQuery{Limit: 1}},
	} {
		if got := Values(query).Encode(); got != want {
			t.Errorf("%+v is %q, want %q", query, got, want)
		}
	}
	if Values(nil) != nil {
		t.Error("no query has parameters")
	}
}

// TestWrongTags: a tag that contradicts another one, or that says nothing, is found when the parameters are read.
func TestWrongTags(t *testing.T) {
	for name, query := range map[string]any{
		"turned round": struct {
			N int `query:"n" range:"9,1"`
		}{},
		"no number": struct {
			N int `query:"n" range:"one,9"`
		}{},
		"default outside": struct {
			N int `query:"n" range:"1,9" default:"10"`
		}{},
		"no word": struct {
			By string `query:"by" words:"id,name" default:"both"`
		}{},
		"duration without an end": struct {
			Wait time.Duration `query:"wait"`
		}{},
		"no option": struct {
			N int `query:"n,sometimes"`
		}{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: it is let through", name)
				}
			}()
			ParamsOf(query)
		}()
	}
}

// TestOperationOf: an id that no operation has is found when a route is made of it, and no id is there twice.
func TestOperationOf(t *testing.T) {
	seen := map[string]bool{}
	for _, op := range Operations() {
		if seen[op.ID] || OperationOf(op.ID).Path != op.Path {
			t.Errorf("%s is there twice", op.ID)
		}
		seen[op.ID] = true
	}
	defer func() {
		if recover() == nil {
			t.Error("an operation that is not there is found")
		}
	}()
	OperationOf("getNothing")
}

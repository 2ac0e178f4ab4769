package api_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

func ExampleProblem() {
	var problem api.Problem
	body := `{"type":"/problems/not-ranked","title":"The member is not ranked","status":404,"detail":"The member has no entry in this period."}`
	if err := json.Unmarshal([]byte(body), &problem); err != nil {
		fmt.Println(err)
	}
	fmt.Println(problem.Code(), errors.Is(&problem, leaderboard.ErrNotRanked))
	fmt.Println(&problem)
	// Output:
	// not-ranked true
	// the server answered 404: The member is not ranked: The member has no entry in this period.
}

func ExampleCodeOf() {
	fmt.Println(api.CodeOf(leaderboard.ErrBoardConflict))
	// Output:
	// board-conflict
}

func ExampleEvent_Content() {
	var event api.Event
	body := `{"id":"evt_1","type":"member.hidden","timestamp":"2026-11-28T12:00:00Z","data":{"board":"demo","member":"ada"}}`
	if err := json.Unmarshal([]byte(body), &event); err != nil {
		fmt.Println(err)
	}
	content, err := event.Content()
	if err != nil {
		fmt.Println(err)
	}
	switch c := content.(type) {
	case *api.MemberChanged:
		fmt.Println(c.Member, "is hidden")
	default: // a kind that this program does not know
		fmt.Println(event.Type)
	}
	// Output:
	// ada is hidden
}

func ExampleFields() {
	var fields api.Fields // in the order of the answer, which is the order of the board
	if err := json.Unmarshal([]byte(`{"level":7,"deaths":2}`), &fields); err != nil {
		fmt.Println(err)
	}
	fmt.Println(fields, api.FieldsByName(map[string]int64{"level": 7, "deaths": 2}))
	// Output:
	// level:7,deaths:2 deaths:2,level:7
}

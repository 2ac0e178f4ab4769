package plays

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/internal/mysql"
	"leaderboard/internal/plantest"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
)

// noon is a board at noon.
type noon struct{ rules leaderboard.Rules }

func (*noon) ID() int64                   { return 7 }
func (b *noon) Rules() *leaderboard.Rules { return &b.rules }
func (*noon) Clock() leaderboard.Micros   { return 43_200_000_000 }

// TestPlaysCostNoStatement: without a play nothing is read or written. Ended plays are deleted by one statement, and each
// refusal is counted by one.
func TestPlaysCostNoStatement(t *testing.T) {
	t.Parallel()
	var text mysql.Text
	none := &plays{board: &noon{}}
	if none.Read(&text); text.Len() > 0 || none.Changed() {
		t.Errorf("without a play: %s, changed %t", text.String(), none.Changed())
	}
	b := &plays{board: &noon{}, begun: map[string]*play{"a": {over: true}, "b": {over: true, refused: true}, "c": {refused: true}, "d": {}}}
	Part{}.Write(&text, []commit.BoardPart{b})
	if !b.Changed() {
		t.Error("used plays are no change")
	}
	if got := text.String(); strings.Count(got, "DELETE") != 1 || strings.Count(got, "UPDATE") != 1 || strings.Count(got, ";") != 2 || strings.Contains(got, "x'64'") {
		t.Errorf("two that are over, one that was refused: %s", got)
	}
}

// TestPlans: plays are read by keys, in a submission by their primary key, however many there are.
func TestPlans(t *testing.T) {
	t.Parallel()
	out := map[string]plantest.Planned{}
	for _, n := range []int{2, mysql.MaxRows} {
		b := &plays{board: &noon{}}
		for i := range n {
			b.players = append(b.players, fmt.Sprint("m", i))
		}
		var text mysql.Text
		b.Read(&text)
		out[fmt.Sprint(n, " plays")] = plantest.Planned{Query: strings.TrimSuffix(text.String(), ";"), Keys: map[string]string{"plays": "PRIMARY"}}
	}
	out["old plays"] = plantest.Planned{Query: plantest.Literal(agedNext, "'1970-01-01'", "'2026-01-01'", 999), Keys: map[string]string{"plays": "plays_age"}}
	out["plays of a member"] = plantest.Planned{
		Query: plantest.Literal(selectPlays, []byte("m7"), 0, 10), Keys: map[string]string{"p": "plays_member", "b": "PRIMARY"},
	}
	plantest.Run(t, out)
}

package storetest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// overrider is the key that boards of anyOverrides name.
const overrider = "koverriderabc"

// anyOverrides draws overrides: none, or such as allow some ops to admins and to one key.
func anyOverrides() *rapid.Generator[*leaderboard.Overrides] {
	return rapid.SampledFrom([]*leaderboard.Overrides{
		nil, {Keys: []string{overrider}, Ops: []leaderboard.Policy{leaderboard.PolicySum, leaderboard.PolicyBest}, KeepTime: true},
	})
}

// DrawTerms gives some submissions a condition, and some an edit.
func DrawTerms(t *rapid.T, tie *leaderboard.Tiebreak, sub *leaderboard.Submission) {
	switch rapid.IntRange(0, 7).Draw(t, "terms") {
	case 0:
		sub.If = drawCondition(t, tie)
	case 1:
		sub.Edit = drawEdit(t, tie)
	case 2:
		sub.If, sub.Edit = drawCondition(t, tie), drawEdit(t, tie)
	}
	if sub.Edit != nil && (sub.Edit.NoScore || len(sub.Edit.Set)+len(sub.Edit.Add) > 0) {
		sub.Tiebreak, sub.Fields = nil, nil
	}
	if sub.Edit != nil && sub.Edit.NoScore {
		sub.Score = 0
	}
}

// drawCondition draws a condition that holds every now and then.
func drawCondition(t *rapid.T, tie *leaderboard.Tiebreak) *leaderboard.Condition {
	c := &leaderboard.Condition{}
	if c.Absent = rapid.Ptr(rapid.Bool(), true).Draw(t, "absent"); c.Absent != nil && *c.Absent {
		return c
	}
	small := rapid.Int64Range(0, 3)
	c.Score = rapid.Ptr(small, true).Draw(t, "if score")
	if len(tie.Fields) == 0 || rapid.IntRange(0, 9).Draw(t, "tiebreak of fields") == 0 {
		c.Tiebreak = rapid.Ptr(rapid.SampledFrom([]int64{0, 1}), true).Draw(t, "if tiebreak")
	} else {
		c.Fields = drawFields(t, tie, small, "if")
	}
	c.CreatedTime = (*leaderboard.Micros)(rapid.Ptr(small, true).Draw(t, "if time"))
	return c
}

// drawEdit draws one of single fields, where there are some, with an op or not.
func drawEdit(t *rapid.T, tie *leaderboard.Tiebreak) *leaderboard.Edit {
	e := &leaderboard.Edit{KeepTime: rapid.Bool().Draw(t, "keep time")}
	e.Set = drawFields(t, tie, rapid.Int64Range(0, 2), "set")
	for name := range drawFields(t, tie, rapid.Int64Range(-1, 2), "add") {
		if _, both := e.Set[name]; !both {
			e.Add = map[string]int64{name: rapid.Int64Range(-1, 2).Draw(t, "amount of "+name)}
		}
	}
	e.NoScore = len(e.Set)+len(e.Add) > 0 && rapid.Bool().Draw(t, "no score")
	if !e.NoScore {
		e.Op = rapid.SampledFrom([]leaderboard.Policy{"", leaderboard.PolicyBest, leaderboard.PolicyLatest, leaderboard.PolicySum}).Draw(t, "op")
	}
	return e
}

// drawFields draws values of some fields, or nil.
func drawFields(t *rapid.T, tie *leaderboard.Tiebreak, value *rapid.Generator[int64], what string) (out map[string]int64) {
	for i := range tie.Fields {
		if rapid.IntRange(0, 2).Draw(t, what+" "+tie.Fields[i].Name) == 0 {
			if out == nil {
				out = map[string]int64{}
			}
			out[tie.Fields[i].Name] = value.Draw(t, "value")
		}
	}
	return out
}

// timeKept reports whether a submission that was applied left the time unchanged.
func timeKept(sub *leaderboard.Submission, res *leaderboard.Result) bool {
	return sub.Edit != nil && sub.Edit.KeepTime && res.Previous != nil && *res.Previous == *res.Score
}

// tiebreaks returns as text what results say of tiebreaks.
func tiebreaks(results []leaderboard.Result) string {
	var out []string
	for _, r := range results {
		if r.Tiebreak != nil {
			out = append(out, fmt.Sprint(r.Member, " ", *r.Tiebreak, " ", r.Fields))
		}
	}
	return strings.Join(out, "; ")
}

package httpapi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// SubmitTerms has the members of an entry in a submission in addition to a score: conditions on the present entry, and exceptions
// from the board's policy. It is exported for the decoder, which allocates it only for entries that have such members: so a body
// with many entries costs little for each byte.
type SubmitTerms struct {
	If       *conditionJSON      `json:"if"`
	Set      map[string]*int64   `json:"set"`
	Add      map[string]*int64   `json:"add"`
	Op       *leaderboard.Policy `json:"op"`
	KeepTime bool                `json:"keep_time"`
	Play     *string             `json:"play"` // the token of a play
	Metadata jsontext.Value      `json:"metadata"`
}

type conditionJSON struct {
	Absent      *bool               `json:"absent"`
	Score       *int64              `json:"score"`
	Tiebreak    *int64              `json:"tiebreak"`
	Fields      map[string]*int64   `json:"fields"`
	CreatedTime *leaderboard.Micros `json:"created_time"`
}

// addTo adds the terms of entry i of a body to its submission, which stays plain without terms.
func (t *SubmitTerms) addTo(sub *leaderboard.Submission, bad *wire.BadFields, i int) {
	if t == nil {
		return
	}
	if t.Metadata != nil && t.Metadata.Kind() != 'n' {
		var ok bool
		if sub.Metadata, ok = leaderboard.CompactMetadata(t.Metadata); !ok {
			bad.Add(fmt.Sprintf("/entries/%d/metadata", i), "want a JSON object")
		}
	}
	if c := t.If; c != nil {
		sub.If = &leaderboard.Condition{
			Absent: c.Absent, Score: c.Score, Tiebreak: c.Tiebreak, Fields: fieldValues(c.Fields, bad, i, "if/fields"), CreatedTime: c.CreatedTime,
		}
	}
	if t.Set == nil && t.Add == nil && t.Op == nil && !t.KeepTime {
		return
	}
	sub.Edit = &leaderboard.Edit{Set: fieldValues(t.Set, bad, i, "set"), Add: fieldValues(t.Add, bad, i, "add"), KeepTime: t.KeepTime}
	if t.Op == nil {
		return
	}
	if sub.Edit.Op = *t.Op; *t.Op == "" { // for the rules, "" is the board's policy
		bad.Add(fmt.Sprintf("/entries/%d/op", i), "want an op, not an empty text")
	}
}

// appendTiebreak appends the tiebreak and the fields of a result.
func appendTiebreak(b []byte, r *leaderboard.Result) []byte {
	b = strconv.AppendInt(append(b, `,"tiebreak":`...), *r.Tiebreak, 10)
	if len(r.Fields) == 0 {
		return b
	}
	b = append(b, `,"fields":{`...)
	for i, f := range r.Fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(wire.AppendString(b, f.Name), ':'), f.Value, 10)
	}
	return append(b, '}')
}

// fieldValues returns the fields at a place in entry i of a body; nil without fields. null is no value.
func fieldValues(in map[string]*int64, bad *wire.BadFields, i int, at string) map[string]int64 {
	if in == nil {
		return nil
	}
	out := make(map[string]int64, len(in))
	for name, v := range in {
		if v == nil {
			bad.Add(wire.Clip(fmt.Sprintf("/entries/%d/%s%s", i, at, jsontext.Pointer("").AppendToken(name))), "want a JSON integer, not null")
			continue
		}
		out[name] = *v
	}
	return out
}

type submitEntry struct {
	Member       *string             `json:"member"`
	Score        *int64              `json:"score"`
	Tiebreak     *int64              `json:"tiebreak"`
	Fields       map[string]*int64   `json:"fields"`
	CreatedTime  *leaderboard.Micros `json:"created_time"`
	*SubmitTerms                     // inlined, nil without any of its members
}

// play returns the token of the play that an entry came with, nil for none.
func (e *submitEntry) play() *string {
	if e.SubmitTerms == nil {
		return nil
	}
	return e.Play
}

// addOdd notes in each entry of a body the first of its numbers that is no whole number of 64 bits.
func addOdd(entries []leaderboard.Submission, odd wire.OddNumbers) {
	for _, o := range odd.All {
		index, place, _ := strings.Cut(strings.TrimPrefix(string(o.At), "/entries/"), "/")
		if i, err := strconv.Atoi(index); err == nil && entries[i].BadNumber == "" {
			entries[i].BadNumber = wire.Clip(place) + " " + wire.Clip(o.Number) + ": " + leaderboard.WantWholeNumber
		}
	}
}

package wire

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// TestAppendPlain: appendPlain writes the same problem as Marshal.
func TestAppendPlain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		p := api.Problem{
			Type: text.Draw(t, "type"), Title: text.Draw(t, "title"), Status: rapid.IntRange(100, 599).Draw(t, "status"), Detail: text.Draw(t, "detail"),
			Quotas: rapid.SliceOfN(text, 0, 3).Draw(t, "quotas"), RequestID: rapid.StringN(1, -1, -1).Draw(t, "id"),
		}
		want, err := Marshal(&p)
		if err != nil {
			t.Fatal(err)
		}
		var got, marshalled any
		if err := json.Unmarshal(appendPlain(nil, &p), &got); err != nil || json.Unmarshal(want, &marshalled) != nil || !reflect.DeepEqual(got, marshalled) {
			t.Fatalf("%s, %v, want %s", appendPlain(nil, &p), err, want)
		}
	})
}

// TestWayRoundAConflict: who cannot change the order of a board reads what to do instead.
func TestWayRoundAConflict(t *testing.T) {
	for pointer, want := range map[string]string{
		"/order": "because x; a new board can have it, and import an export of this one", "/tiebreak/fields": "because x; a new board can have it, and import an export of this one",
		"/time_zone": "because x",
	} {
		conflict := &leaderboard.ConflictError{Reason: "x", Fields: []leaderboard.FieldError{{Pointer: pointer, Detail: "stays"}}}
		if _, detail, _ := Classify(conflict); !strings.HasSuffix(detail, want) {
			t.Errorf("%s: %q, want %q at its end", pointer, detail, want)
		}
	}
}

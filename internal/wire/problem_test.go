package wire

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"leaderboard/api"
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

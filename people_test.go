package leaderboard

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// TestAttributesAreCanonical: attributes have one form, which any JSON reader takes, and which is read as itself.
func TestAttributesAreCanonical(t *testing.T) {
	for in, want := range map[string]Attributes{
		"": NoAttributes, " {\t} ": NoAttributes,
		` { "z" : "<\u2028>" , "a" : -1.5e3, "\u0041" : true } `: `{"A":true,"a":-1.5e3,"z":"<\u2028>"}`,
	} {
		got, broken := ParseAttributes([]byte(in))
		if broken != nil || got != want {
			t.Errorf("%q: got %s, %v, want %s", in, got, broken, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		values := map[string]any{}
		for name := range rapid.MapOfN(rapid.StringN(1, 8, 16), rapid.Bool(), 0, 20).Draw(t, "names") {
			values[name] = rapid.OneOf(rapid.StringN(0, 10, 20).AsAny(), rapid.Int64().AsAny(), rapid.Bool().AsAny()).Draw(t, "value")
		}
		text, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		first, broken := ParseAttributes(text)
		if broken != nil {
			t.Fatalf("%s: %v", text, broken)
		}
		again, broken := ParseAttributes([]byte(first))
		if broken != nil || again != first || !json.Valid([]byte(first)) {
			t.Fatalf("%s is read as %s, %v", first, again, broken)
		}
	})
}

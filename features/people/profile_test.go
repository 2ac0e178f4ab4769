package people

import (
	"encoding/json"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// TestAttributesAreCanonical: attributes have one form, which any JSON reader accepts and which parses to itself.
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

// TestNamesThatDeceive: a display name can be seen, and turns no text.
func TestNamesThatDeceive(t *testing.T) {
	for name, ok := range map[string]bool{
		"": true, "ada": true, "高橋": true, "👩\u200d💻": true, "a\u200bb": true, "e\u0301": true, "نام\u200cها": true,
		"a\u202eb": false, "\u2066x\u2069": false, "a\u2028b": false, "\u200b": false, "\u3164": false, " \u00a0 ": false, "\u2060\ufe0f": false, "\u115f\u1160": false,
		"\u2800": false, "\u00ad": false, "a\u200fb": false, "a\tb": false,
	} {
		p := Profile{Member: "m", DisplayName: name}
		if err := p.Check(); (err == nil) != ok {
			t.Errorf("%+q: %v", name, err)
		}
	}
}

// TestChecks: a valid input gives an error that is nil also as an error, an invalid one a RuleError.
func TestChecks(t *testing.T) {
	good, bad := Profile{Member: "m"}, Profile{}
	reset, unfounded := NameReset{Member: "m", Reason: "a slur"}, NameReset{Member: "m"}
	_, none := ParseAttributes(nil)
	_, list := ParseAttributes([]byte("[]"))
	for name, c := range map[string]struct{ valid, invalid error }{
		"Profile.Check": {good.Check(), bad.Check()}, "NameReset.Check": {reset.Check(), unfounded.Check()}, "ParseAttributes": {none, list},
	} {
		var broken *leaderboard.RuleError
		if c.valid != nil || !errors.As(c.invalid, &broken) {
			t.Errorf("%s: %v, %T %[3]v", name, c.valid, c.invalid)
		}
	}
}

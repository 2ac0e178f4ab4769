package leaderboard

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestParseLabels(t *testing.T) {
	got, err := ParseLabels("type:moba,aspect:sound")
	if want := (Labels{"type": "moba", "aspect": "sound"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, %v; want %v", got, err, want)
	}
	if got.String() != "aspect:sound,type:moba" {
		t.Errorf("string is %q", got.String())
	}
	many := func(n int) string {
		var pairs []string
		for i := range n {
			pairs = append(pairs, fmt.Sprintf("l%d:v", i))
		}
		return strings.Join(pairs, ",")
	}
	if got, err := ParseLabels(many(MaxLabels)); err != nil || len(got) != MaxLabels {
		t.Errorf("%d labels: %v", len(got), err)
	}
	for _, bad := range []string{
		"", "type", "type:", ":moba", "type:moba,", ",type:moba", "type:moba,type:moba", "type:moba,type:card", "Type:moba",
		"type: moba", "type:a:b", "type:" + strings.Repeat("x", 65), many(MaxLabels + 1),
	} {
		if got, err := ParseLabels(bad); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

func TestLabelsMatch(t *testing.T) {
	board := Labels{"type": "moba", "aspect": "sound"}
	for _, c := range []struct {
		asked Labels
		want  bool
	}{
		{nil, true},
		{Labels{"type": "moba"}, true},
		{Labels{"type": "moba", "aspect": "sound"}, true},
		{Labels{"type": "card"}, false},
		{Labels{"type": "moba", "team": "red"}, false},
		{Labels{"team": ""}, false},
	} {
		if got := board.Match(c.asked); got != c.want {
			t.Errorf("%v: %t, want %t", c.asked, got, c.want)
		}
	}
}

func TestRulesCheckLabels(t *testing.T) {
	for _, c := range []struct {
		labels Labels
		bad    string
	}{
		{Labels{"type": "moba", "a.b": "1-2"}, ""},
		{Labels{"Type": "moba"}, "/labels"},
		{Labels{"": "moba"}, "/labels"},
		{Labels{"type": ""}, "/labels/type"},
		{Labels{"type": "a,b"}, "/labels/type"},
	} {
		r := Rules{Labels: c.labels}.WithDefaults()
		switch broken := r.Check(); {
		case broken == nil && c.bad != "":
			t.Errorf("%v passes", c.labels)
		case broken != nil && (len(AsRule(broken).Fields) != 1 || AsRule(broken).Fields[0].Pointer != c.bad):
			t.Errorf("%v: %s, want a fault at %q", c.labels, broken, c.bad)
		}
	}
}

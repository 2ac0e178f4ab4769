package terminal

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"alice": "alice", "日本語": "日本語", "a b": "a b", "": `""`, " a": `" a"`, "a\x1b[31m": `"a\x1b[31m"`, "a\tb": `"a\tb"`, "\xff": `"\xff"`,
		"👩‍👩‍👧": "👩‍👩‍👧", "a\u200db": `"a\u200db"`, "👩\u200d": `"👩\u200d"`, "a\u202eb": `"a\u202eb"`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q is shown as %s, want %s", in, got, want)
		}
	}
}

// onScreen returns a terminal of a size that writes to a buffer.
func onScreen(columns, lines int, colour bool) (*Screen, *bytes.Buffer) {
	var out bytes.Buffer
	return &Screen{&out, func() (int, int) { return columns, lines }, colour, nil}, &out
}

// TestWidth: the width of texts on a terminal, and texts that are cut between characters.
func TestWidth(t *testing.T) {
	for _, c := range []struct {
		text      string
		width     int
		cutToFour string
	}{
		{"abc", 3, "abc"},
		{"abcd", 4, "abcd"},
		{"abcde", 5, "abc…"},
		{"", 0, ""},
		{"日本語", 6, "日…"},
		{"日本", 4, "日本"},
		{"한국어", 6, "한…"},
		{"e\u0301te\u0301", 3, "e\u0301te\u0301"},
		{"e\u0301e\u0301e\u0301e\u0301e\u0301", 5, "e\u0301e\u0301e\u0301…"},
		{"👩‍👩‍👧", 2, "👩‍👩‍👧"},
		{"👩‍👩‍👧🇩🇪a", 5, "👩‍👩‍👧…"},
		{"नमस्ते", 4, "नमस्ते"},
	} {
		if got := Width(c.text); got != c.width {
			t.Errorf("%q takes %d columns, want %d", c.text, got, c.width)
		}
		if got := Cut(c.text, 4); got != c.cutToFour {
			t.Errorf("%q is cut to %q, want %q", c.text, got, c.cutToFour)
		}
	}
}

// TestTable: columns are aligned in every script. On a terminal long texts are cut and numbers are not; elsewhere nothing is cut.
func TestTable(t *testing.T) {
	fill := func(w io.Writer) {
		table := NewTable(w, "RANK", "MEMBER", "SCORE", "CREATED")
		table.Row(1, "日本語", 9223372036854775807, "2026-11-20T13:00:00.123456Z")
		table.Inked(InkGreen, 2, "👩‍👩‍👧 family of four, and the dog", 5, "2026-11-20T13:00:00.123456Z")
		table.Row(10, "José", 5, "-")
		if err := table.Flush(); err != nil {
			t.Error(err)
		}
	}
	var whole bytes.Buffer
	fill(&whole)
	narrow, cut := onScreen(60, 24, false)
	fill(narrow)
	least, chopped := onScreen(30, 24, false)
	fill(least)
	wide, coloured := onScreen(100, 24, true)
	fill(wide)
	for _, c := range []struct{ what, got, want string }{
		{"elsewhere", whole.String(), `
RANK  MEMBER                          SCORE                CREATED
1     日本語                          9223372036854775807  2026-11-20T13:00:00.123456Z
2     👩‍👩‍👧 family of four, and the dog  5                    2026-11-20T13:00:00.123456Z
10    José                            5                    -
`},
		{"on 60 columns", cut.String(), `
RANK  MEMBER       SCORE                CREATED
1     日本語       9223372036854775807  2026-11-20T13:00:00…
2     👩‍👩‍👧 family …  5                    2026-11-20T13:00:00…
10    José         5                    -
`},
		{"on 30 columns", chopped.String(), `
RANK  MEMBER  SCORE          …
1     日本語  922337203685477…
2     👩‍👩‍👧 fa…  5              …
10    José    5              …
`},
		{"in colours", coloured.String(), `
` + "\x1b[1m" + `RANK  MEMBER                          SCORE                CREATED` + "\x1b[0m" + `
1     日本語                          9223372036854775807  2026-11-20T13:00:00.123456Z
` + "\x1b[32m" + `2     👩‍👩‍👧 family of four, and the dog  5                    2026-11-20T13:00:00.123456Z` + "\x1b[0m" + `
10    José                            5                    -
`},
	} {
		if "\n"+c.got != c.want {
			t.Errorf("%s:\n%s\nwant%s", c.what, c.got, c.want)
		}
	}
}

// TestTableDetails: the content of the last columns takes no room from the columns before, and elsewhere no room is
// reserved for it.
func TestTableDetails(t *testing.T) {
	fill := func(w io.Writer) {
		table := NewTable(w, "ACTOR", "ACTION", "BEFORE", "AFTER")
		table.Details(2)
		table.Row("env:admin", "board.update", "null", `{"title":"a long one","order":"desc","policy":"best"}`)
		table.Row("key", "board.rebuild", `{"run":1,"kind":"full","reason":"demand"}`, "null")
		if err := table.Flush(); err != nil {
			t.Error(err)
		}
	}
	var whole bytes.Buffer
	fill(&whole)
	wide, fits := onScreen(80, 24, false)
	fill(wide)
	narrow, cut := onScreen(36, 24, false)
	fill(narrow)
	for _, c := range []struct{ what, got, want string }{
		{"elsewhere", whole.String(), `
ACTOR      ACTION         BEFORE  AFTER
env:admin  board.update   null  {"title":"a long one","order":"desc","policy":"best"}
key        board.rebuild  {"run":1,"kind":"full","reason":"demand"}  null
`},
		{"on 80 columns", fits.String(), `
ACTOR      ACTION         BEFORE                      AFTER
env:admin  board.update   null                        {"title":"a long one","or…
key        board.rebuild  {"run":1,"kind":"full","r…  null
`},
		{"on 36 columns", cut.String(), `
ACTOR      ACTION         BEFORE   …
env:admin  board.update   null     …
key        board.rebuild  {"run":1,…
`},
	} {
		if "\n"+c.got != c.want {
			t.Errorf("%s:\n%s\nwant%s", c.what, c.got, c.want)
		}
	}
}

// TestLive: on a terminal each drawing replaces the last, within its lines; the final one stays.
func TestLive(t *testing.T) {
	draw := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	var file bytes.Buffer
	screen, shown := onScreen(10, 2, false)
	for _, w := range []io.Writer{&file, screen} {
		live := NewLive(w)
		for _, text := range []string{"a\nb\n", "c\nd\ne\n"} {
			if err := live.Draw(draw(text)); err != nil {
				t.Error(err)
			}
		}
		if err := live.Close(); err != nil {
			t.Error(err)
		}
	}
	if want := "a\nb\n\nc\nd\ne\n\n"; file.String() != want {
		t.Errorf("%q, want %q", &file, want)
	}
	want := "\x1b[?1049h\x1b[?25l" + "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J" + "\x1b[Hc\x1b[K\r\nd\x1b[K\x1b[J" + "\x1b[?25h\x1b[?1049l" + "c\nd\ne\n"
	if shown.String() != want {
		t.Errorf("%q, want %q", shown, want)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 5002: "5,002", -100: "-100", -1234567: "-1,234,567"} {
		if got := Count(n); got != want {
			t.Errorf("%d is shown as %s, want %s", n, got, want)
		}
	}
}

// TestPrintJSONTimes: times have six digits of fraction, wherever they are, as the API's have.
func TestPrintJSONTimes(t *testing.T) {
	type inner struct {
		At    time.Time  `json:"at"`
		Maybe *time.Time `json:"maybe"`
	}
	at := time.Date(2026, 11, 20, 14, 0, 0, 100_000_000, time.FixedZone("", 3600))
	var out strings.Builder
	if err := PrintJSON(&out, map[string]any{"b": []inner{{At: at, Maybe: &at}, {}}, "a": "<&>", "c": []string(nil)}); err != nil {
		t.Fatal(err)
	}
	const want = `{"a":"<&>","b":[{"at":"2026-11-20T13:00:00.100000Z","maybe":"2026-11-20T13:00:00.100000Z"},{"at":"0001-01-01T00:00:00.000000Z","maybe":null}],"c":null}` + "\n"
	if out.String() != want {
		t.Errorf("got %s want %s", &out, want)
	}
}

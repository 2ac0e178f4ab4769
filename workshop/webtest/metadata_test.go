package webtest

import (
	"testing"

	"leaderboard/leaderboard"
)

// TestMetadataIsText: the metadata of a score is text on the page of a board, with scripts and without, and in the console,
// whatever it contains. A path on this server is a link, an address elsewhere is not.
func TestMetadataIsText(t *testing.T) {
	t.Parallel()
	const (
		board   = "metadata"
		hostile = `<img src="http://other.example/x" onerror="throw 1">`
		object  = `{"<b>name</b>":"<img src=\"http://other.example/x\" onerror=\"throw 1\">","replay":"/boards/metadata?member=a","away":"http://other.example/replay","hidden":"//other.example/y","script":"javascript:throw 2","odd":"/\\other.example/z","big":12345,"more":{"x":[null,true]}}`
	)
	makeBoard(t, admin(t), board, leaderboard.Rules{Metadata: &leaderboard.Metadata{MaxBytes: 1000}},
		leaderboard.Submission{Member: "a", Score: 2, Metadata: object}, leaderboard.Submission{Member: "b", Score: 1})
	plain := desktop()
	plain.noScript = true
	for name, p := range map[string]*tab{
		"scripts": open(t, desktop(), "/boards/"+board+"?member=a"), "no scripts": open(t, plain, "/boards/"+board+"?member=a"),
		"console": console(t, desktop(), running(t).Key, "#/boards/"+board),
	} {
		p.awaitText(".metadata", hostile)
		for _, text := range []string{"<b>name</b>", "/boards/metadata?member=a", "http://other.example/replay", "//other.example/y", "javascript:throw 2", "12345", "[null,true]"} {
			p.awaitText(".metadata", text)
		}
		if n := eval[int](p, `document.querySelectorAll(".metadata img, .metadata b, .metadata script").length`); n != 0 {
			t.Errorf("%s: %d elements come of the metadata", name, n)
		}
		links := eval[string](p, `[...document.querySelectorAll(".metadata a")].map((a) => a.getAttribute("href")).join(" ")`)
		if links != "/boards/metadata?member=a" {
			t.Errorf("%s: the links of the metadata are %q", name, links)
		}
	}
}

// TestConsoleMetadata sets the rule in the form of a board, and takes it away.
func TestConsoleMetadata(t *testing.T) {
	t.Parallel()
	const board = "console-metadata"
	makeBoard(t, admin(t), board, leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1})
	p := console(t, desktop(), running(t).Key, "#/boards/"+board+"/rules")
	p.expect("status of 422")
	save := func(want int) {
		t.Helper()
		p.press("Save")
		p.awaitText("[role=status]", "Saved.")
		b, err := admin(t).Board(t.Context(), board)
		if got := b.Metadata; err != nil || (got == nil) != (want == 0) || got != nil && got.MaxBytes != want {
			t.Errorf("got %+v, %v, want %d", got, err, want)
		}
	}
	p.unfold("Storage")
	p.fill(p.field("Bytes of metadata"), "4097")
	p.press("Save")
	p.awaitText(".fault", "want 1 to 4096")
	p.fill(p.field("Bytes of metadata"), "500")
	save(500)
	p.fill(p.field("Bytes of metadata"), "")
	save(0)
}

package leaderboard_test

import (
	"testing"

	"leaderboard/leaderboard"
)

// TestEncoded: the first forms of an answer stay, also with the same answer from another source.
func TestEncoded(t *testing.T) {
	t.Parallel()
	page := &leaderboard.Page{Encoded: new(leaderboard.Encoded)}
	if forms := page.Encoded.Forms(); forms != nil {
		t.Fatalf("%v at first", forms)
	}
	one, two := new(int), new(int)
	if page.Encoded.Keep(one) != one || page.Encoded.Keep(two) != one {
		t.Error("the first forms do not stay")
	}
	if stale := page.From(leaderboard.SourceLocal, true).(*leaderboard.Page); stale.Encoded.Forms() != one {
		t.Error("the same answer from another source has other forms")
	}
}

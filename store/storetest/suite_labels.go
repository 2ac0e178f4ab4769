package storetest

import (
	"slices"
	"testing"

	"leaderboard/leaderboard"
)

// testLabels makes boards with labels and selects them, before and after they change and go.
func testLabels(t *testing.T, s Database) {
	ctx, prefix := t.Context(), boardName(t)
	put := func(name string, labels leaderboard.Labels) {
		t.Helper()
		b, _, err := s.PutBoard(ctx, prefix+name, leaderboard.Rules{Labels: labels})
		if err != nil || b.Rules.Labels.String() != labels.String() {
			t.Fatalf("labels are %v, %v; want %v", b.Rules.Labels, err, labels)
		}
	}
	check := func(asked leaderboard.Labels, want ...string) {
		t.Helper()
		asked["test"] = "labels" // every board of this test has it
		var got []string
		for after := ""; ; {
			page, err := s.BoardsLabelled(ctx, asked, after, 2)
			if err != nil || len(page) > 2 {
				t.Fatalf("%v: %d boards, %v", asked, len(page), err)
			}
			for _, b := range page {
				after = b.Name
				got = append(got, b.Name[len(prefix):])
				if !b.Rules.Labels.Match(asked) {
					t.Errorf("%v finds a board with %v", asked, b.Rules.Labels)
				}
			}
			if len(page) == 0 {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v finds %q, want %q", asked, got, want)
		}
	}
	put("-c", leaderboard.Labels{"test": "labels", "type": "moba"})
	put("-a", leaderboard.Labels{"test": "labels", "type": "moba", "aspect": "sound"})
	put("-b", leaderboard.Labels{"test": "labels", "type": "card", "aspect": "sound"})
	put("-d", leaderboard.Labels{"type": "moba"})
	check(leaderboard.Labels{}, "-a", "-b", "-c")
	check(leaderboard.Labels{"type": "moba"}, "-a", "-c")
	check(leaderboard.Labels{"type": "moba", "aspect": "sound"}, "-a")
	check(leaderboard.Labels{"type": "chess"})
	put("-c", leaderboard.Labels{"test": "labels", "type": "card"})
	put("-b", nil)
	check(leaderboard.Labels{"type": "moba"}, "-a")
	check(leaderboard.Labels{"type": "card"}, "-c")
	if err := s.DeleteBoard(ctx, prefix+"-a"); err != nil {
		t.Fatal(err)
	}
	put("-a", leaderboard.Labels{"test": "labels", "aspect": "sound"}) // knows nothing of the old one's labels
	check(leaderboard.Labels{"type": "moba"})
	check(leaderboard.Labels{"aspect": "sound"}, "-a")
}

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// beforeMetadata is the last version that does not know the rule metadata.
const beforeMetadata = "90ee209a98171498118839903e1edc3252e676f5"

// TestOlderServerLeavesMetadata: of two servers on one database the older does not know the rule metadata. It reads a board
// with the rule and refuses to write to it, with the reason; the newer server continues, and the entries keep their
// metadata. Other boards take writes from both, like this one once the rule is gone (promise F3).
func TestOlderServerLeavesMetadata(t *testing.T) {
	t.Parallel()
	onBoth(t, olderLeavesMetadata)
}

func olderLeavesMetadata(t *testing.T, w *world) {
	t.Helper()
	program := programOf(t, "the version before the rule metadata ("+beforeMetadata+")", beforeMetadata, "it cannot run")
	newer := w.serve(t, "newer")
	p := startProgram(t, program, "older", w.environment(), "serve")
	older := &server{p, newAPI(t, p.err.awaitLog(t, "serving", "addr"))}
	older.awaitReady(t)
	with := leaderboard.Rules{Policy: leaderboard.PolicyLatest, Metadata: &leaderboard.Metadata{MaxBytes: 100}}
	newer.putBoard(t, "b", with)
	newer.putBoard(t, "other", leaderboard.Rules{Policy: leaderboard.PolicyLatest})
	refused := func() {
		t.Helper()
		_, err := older.submit(t.Context(), "b", "", scored("ada", 9))
		p, ok := errors.AsType[*client.Problem](err)
		if !ok || p.Status != 503 || !errors.Is(err, leaderboard.ErrUnknownRule) || !strings.Contains(p.Detail, "does not know") || p.RetryAfter <= 0 {
			t.Fatalf("the older server: %+v, %v", p, err)
		}
	}
	newer.mustSubmit(t, "b", withMetadata("ada", 5))
	eventually(t, "the older server reads the board", func() error {
		page, err := older.Top(t.Context(), "b", client.TopQuery{Limit: 10})
		if err == nil && (len(page.Entries) != 1 || page.Entries[0].Score != 5) {
			err = fmt.Errorf("it has %+v", page.Entries)
		}
		return err
	})
	refused()
	newer.mustSubmit(t, "b", withMetadata("bob", 7))
	refused()
	older.mustSubmit(t, "other", scored("ada", 1))
	newer.mustSubmit(t, "other", scored("ada", 2))
	page, err := newer.Top(t.Context(), "b", client.TopQuery{Limit: 10, ReadQuery: client.ReadQuery{Metadata: true}})
	if err != nil || len(page.Entries) != 2 || !ofItsEntry(&page.Entries[0]) || !ofItsEntry(&page.Entries[1]) {
		t.Errorf("the newer server has %+v, %v", page.Entries, err)
	}
	if _, _, err := newer.PutBoard(t.Context(), "b", leaderboard.Rules{Policy: leaderboard.PolicyLatest}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the older server writes again", func() error { _, err := older.submit(t.Context(), "b", "", scored("ada", 9)); return err })
}

package cli

import (
	"strings"
	"testing"
)

// TestActivityBars: an hour without submissions has no bar, and nothing in its place.
func TestActivityBars(t *testing.T) {
	t.Parallel()
	url, _ := answering(t, says(200, `{"board":"b","record":"all","partial":false,"hours":[
		{"starts_at":"2026-11-20T13:00:00.000000Z","submissions":2,"applied":1,"new_members":1,"entries":1},
		{"starts_at":"2026-11-20T12:00:00.000000Z","submissions":0,"applied":0,"new_members":0,"entries":null}]}`))
	status, out, errOut := runWith(t, map[string]string{"LEADERBOARD_URL": url}, "activity", "b")
	if status != exitOK || !strings.Contains(out, "██") || strings.Contains(out, `"`) {
		t.Errorf("status %d: %s%s", status, out, errOut)
	}
}

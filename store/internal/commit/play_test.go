package commit

import (
	"strings"
	"testing"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/boards"
)

// TestPlaysCostNoStatement: a batch without plays, of keys or of players, reads and writes as ever; one with a play reads and
// writes one statement more.
func TestPlaysCostNoStatement(t *testing.T) {
	t.Parallel()
	ask := func(play *leaderboard.PlayID) request {
		return newSubmission(&leaderboard.SubmitRequest{Board: "b", Key: "k", Entries: []leaderboard.Submission{{Member: "a", Score: 1, Play: play}}})
	}
	id := leaderboard.NewPlayID()
	reads, writes := written(t, ask(nil))
	if text := reads + writes; strings.Contains(text, "plays") || strings.Count(reads, ";") != 1 || strings.Count(writes, ";") != 4 {
		t.Errorf("without a play: %s", text)
	}
	if with, _ := written(t, ask(&id)); strings.Count(with, ";") != 2 || !strings.Contains(with, "FROM plays FORCE INDEX (PRIMARY)") {
		t.Errorf("with a play: %s", with)
	}
	b := &lockedBoard{known: &boards.Known{}, plays: plays{"a": {over: true}, "b": {over: true, refused: true}, "c": {refused: true}, "d": {}}}
	var text mysql.Text
	appendPlays(&text, []*lockedBoard{b})
	if got := text.String(); strings.Count(got, "DELETE") != 1 || strings.Count(got, "UPDATE") != 1 || strings.Count(got, ";") != 2 || strings.Contains(got, "x'64'") {
		t.Errorf("two that are over, one that was refused: %s", got)
	}
}

package derived

import (
	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
)

// Feature returns the feature of the folder.
func Feature() features.Feature {
	return features.Feature{Name: "derived", Part: Part{}, Open: open}
}

// stepRows is how many entries of a derived board one transaction changes.
const stepRows = 200_000

func open(e *features.Engine) features.Opened {
	s := NewStepper(e.DB, e.Boards, e.Writer, stepRows)
	f := newFollower(s, e.Tables, e.Log)
	return features.Opened{
		Routes: Routes(httpapi.Resolver{Catalog: e.Catalog}, boundedStepper{s, e.Alone}), Board: s.boardChanged, Purge: purge(), FollowedSeqs: s.followedSeqs,
		Committed: f.committed, Run: f.run, Metrics: f.collectors(), Offers: []any{f, s},
	}
}

// Part says that the rule is known. Derived boards take no submissions, so it has nothing to do in a transaction.
type Part struct{}

// On implements commit.Part.
func (Part) On(*commit.Board, *commit.Needs) commit.BoardPart { return nil }

// Same implements commit.Part.
func (Part) Same(_, _ *leaderboard.Rules) bool { return true }

// Rule implements commit.Part.
func (Part) Rule() string { return "/derive" }

// purge returns the statements that delete the rows of a board.
func purge() []string {
	return []string{
		"DELETE FROM derived_sources WHERE board_id = ? ORDER BY position LIMIT ?",
		"DELETE FROM derived_boards WHERE board_id = ? LIMIT ?",
	}
}

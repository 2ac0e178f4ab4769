package leaderboard

import (
	"context"
	"fmt"
)

// MaxCombined is the largest number of boards that are ranked as one.
const MaxCombined = 50

// CombinedQuery asks for a run of consecutive entries of several periods that are ranked as one. It starts, in this
// order of precedence, around the best entry of a member, after a place, at an offset.
type CombinedQuery struct {
	Mode       Mode   // strict, tied, or all
	Limit      int    // 0 to MaxLimit; around a member: at most 2×MaxAroundSide+1
	Offset     int64  // from the best entry
	After      string // sort key (rank.Key); the page starts at the first entry ordered after it and AfterBoard
	AfterBoard string // name of a board, which need not be among the queried boards
	Around     string // member; the page has Before entries ahead of its best entry, as in PageQuery
	Before     int
	Uncached   bool // no copies: all periods are read from the database, at the call or later
}

// CombinedMemberQuery asks for all entries of a member.
type CombinedMemberQuery struct {
	Mode     Mode // strict, tied, or all
	Member   string
	Uncached bool // as in CombinedQuery
}

// CombinedRanked is an entry with its strict and tied ranks among the entries of all boards, and its board. Its dense
// rank is never known.
type CombinedRanked struct {
	Ranked
	Board string
}

// CombinedPage is a run of entries, best first. Callers share it: it must not be changed.
type CombinedPage struct {
	States    []State // of the periods, in the order of the query
	Entries   []CombinedRanked
	Next      string // sort key to continue after, "" when the page reaches the end
	NextBoard string // the board of that entry
}

// CombinedStandings are the entries of one member, best first.
type CombinedStandings struct {
	States  []State
	Entries []CombinedRanked // empty if the member has no entry on any of the boards
}

// CombinedRankings ranks the entries of one period each of several boards as if they were one board's: entries, not
// members, so a member has a rank for each board that it is on. One member may have equal entries on several boards;
// these come in the order of the boards' names. The periods are given in that order, and CheckCombined allows them.
// Every answer is exact at the states that it reports, all of them together.
//
// The store, the in-memory model and the cached reader implement it and pass the same suite. Errors: the errors of
// Rankings, ErrNotRanked only around a member, and a *RuleError of CheckCombined.
type CombinedRankings interface {
	CombinedPage(ctx context.Context, periods []PeriodRef, q CombinedQuery) (*CombinedPage, error)
	CombinedMember(ctx context.Context, periods []PeriodRef, q CombinedMemberQuery) (*CombinedStandings, error)
}

// Total returns the number of entries in all states.
func Total(states []State) int64 {
	var n int64
	for i := range states {
		n += states[i].Total
	}
	return n
}

// CheckCombined returns a RuleError when the entries of these periods cannot be ranked as one in a mode.
func CheckCombined(periods []PeriodRef, mode Mode) error {
	if len(periods) == 0 || len(periods) > MaxCombined {
		return &RuleError{Code: CodeTooManyBoards, Detail: fmt.Sprintf("want 1 to %d boards, not %d", MaxCombined, len(periods))}
	}
	first := &periods[0]
	for i := range periods[1:] {
		p, last := &periods[i+1], &periods[i]
		switch {
		case p.Board <= last.Board:
			return &RuleError{Code: CodeInvalidBoard, Detail: fmt.Sprintf("board %s is given twice, or not in the order of names", p.Board)}
		case p.Rules.Order != first.Rules.Order:
			return &RuleError{Code: CodeBoardsDiffer, Detail: fmt.Sprintf("board %s is in order %s, board %s in order %s",
				first.Board, first.Rules.Order, p.Board, p.Rules.Order)}
		case p.Rules.Reorders(first.Rules):
			return &RuleError{Code: CodeBoardsDiffer, Detail: fmt.Sprintf("boards %s and %s have different tiebreaks", first.Board, p.Board)}
		}
	}
	if mode != ModeStrict && mode != ModeTied && mode != ModeAll {
		return &RuleError{Code: CodeModeNotAvailable, Detail: "several boards are ranked in mode strict or tied: equal scores of dense ranks cannot be told apart by adding up counts"}
	}
	return nil
}

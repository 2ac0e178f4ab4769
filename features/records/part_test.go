package records

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
)

// far is a board whose numbers are as long as can be.
type far struct{ *commit.Board }

func (far) ID() int64                 { return math.MinInt64 }
func (far) Clock() leaderboard.Micros { return leaderboard.MaxTime }
func (far) Random() uint64            { return math.MaxUint64 }

// TestLargestRecord: the largest record takes no more of a packet than MaxPacket counts for it.
func TestLargestRecord(t *testing.T) {
	t.Parallel()
	number := int64(math.MinInt64)
	edit := &leaderboard.Edit{Set: map[string]int64{}, Op: leaderboard.PolicyLatest, KeepTime: true}
	for i := range leaderboard.MaxTiebreakFields {
		edit.Set[fmt.Sprintf("%032d", i)] = 7
	}
	r := &records{board: far{}, list: []SubmissionRecord{{
		Member: strings.Repeat("m", 64), Actor: strings.Repeat("a", mysql.MaxActor), RequestID: strings.Repeat("x", mysql.MaxRequestID), Status: leaderboard.StatusApplied,
		Score: number, Tiebreak: &number, Previous: &number, NewScore: &number, Seq: number, Edit: edit,
	}}}
	var text mysql.Text
	Part{}.Write(&text, []commit.BoardPart{r})
	if is := text.Len(); is > commit.PartRow || is < commit.PartRow/2 {
		t.Errorf("a record takes %d bytes, counted are %d", is, commit.PartRow)
	}
}

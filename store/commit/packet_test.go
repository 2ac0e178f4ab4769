package commit

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// largest is the batch that takes the longest packet: each entry is for a different board with all windows, replaces an
// entry, and belongs to a request with a key, and every name and number is as long as can be.
func largest(entries int) *writes {
	text := func(i, length int) string { return fmt.Sprintf("%0*d", length, i) }
	const low = math.MinInt64
	rules := &leaderboard.Rules{}
	o := &writes{owner: low, clock: leaderboard.MaxTime}
	number := int64(low)
	edit := &leaderboard.Edit{Set: map[string]int64{}, Op: leaderboard.PolicyLatest, KeepTime: true}
	var fields []leaderboard.FieldValue
	for i := range leaderboard.MaxTiebreakFields {
		edit.Set[text(i, 32)], fields = 7, append(fields, leaderboard.FieldValue{Name: text(i, 32), Value: 7})
	}
	for i := range entries {
		member := text(i, 64)
		old := leaderboard.Entry{Member: member, Score: low, Tiebreak: low, CreatedTime: leaderboard.MaxTime}
		for range leaderboard.Windows() {
			p := &Period{
				ref: leaderboard.PeriodRef{ID: low, Board: text(i, 64), Rules: rules}, codec: rank.CodecOf(rules), lastSeq: math.MaxInt64 - 1, count: low,
				lastCreated: leaderboard.MaxTime, committed: leaderboard.MaxTime - 1, clock: leaderboard.MaxTime, entries: map[string]*leaderboard.Entry{member: &old},
			}
			p.record(member, &old, &leaderboard.Entry{Member: member, Score: low + 1, Tiebreak: low, CreatedTime: leaderboard.MaxTime})
			o.periods = append(o.periods, p)
		}
		state, results := leaderboard.BoardSeqs{Seq: low, Seqs: map[leaderboard.Window]int64{}}, []leaderboard.Result{{
			Member: member, Status: leaderboard.StatusRejected, Previous: &number, Score: &number, CreatedTime: (*leaderboard.Micros)(&number),
			Rule: &leaderboard.RuleError{Code: leaderboard.CodeScoreLimit, Detail: strings.Repeat("x", 200)}, Tiebreak: &number, Fields: fields,
		}}
		for _, w := range leaderboard.Windows() {
			state.Seqs[w] = low
		}
		s := &submission{entries: []leaderboard.Submission{{Member: member, Edit: edit}}, results: results, states: map[string]leaderboard.BoardSeqs{"": state}}
		o.keys = append(o.keys, keyRow{key: text(i, maxKey), receipt: s.stored()})
	}
	return o
}

// TestMaxPacket: no batch is longer than MaxPacket without the share of parts, and MaxPacket is not much larger than
// necessary.
func TestMaxPacket(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, leaderboard.MaxLimit, 5000} {
		text := &mysql.Text{}
		largest(max(batch, leaderboard.MaxLimit)).appendTo(text)
		most := MaxPacket(batch) - PartRow*int64(max(batch, leaderboard.MaxLimit)) - packetMetadata
		if is := int64(text.Len()); is > most || is < most*3/4 {
			t.Errorf("batches of %d entries: %d bytes, MaxPacket says %d", batch, is, most)
		}
	}
}

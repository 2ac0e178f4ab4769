package commit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/boards"
)

// largest is the batch that takes the longest packet: each entry is for a board of its own with all windows, replaces one, is
// recorded, and belongs to a request with a key, and every name and number is as long as can be.
func largest(entries int) *writes {
	text := func(i, length int) string { return fmt.Sprintf("%0*d", length, i) }
	const low = math.MinInt64
	rules := &leaderboard.Rules{}
	o := &writes{owner: low, clock: leaderboard.MaxTime, random: rand.Uint64}
	number := int64(low)
	metadata := strings.Repeat("x", (1<<20)/leaderboard.MaxLimit) // of a request, which has a MiB at most; others count for more entries
	edit := &leaderboard.Edit{Set: map[string]int64{}, Op: leaderboard.PolicyLatest, KeepTime: true}
	var fields []leaderboard.FieldValue
	for i := range leaderboard.MaxTiebreakFields {
		edit.Set[text(i, 32)], fields = 7, append(fields, leaderboard.FieldValue{Name: text(i, 32), Value: 7})
	}
	for i := range entries {
		member := text(i, 64)
		old := leaderboard.Entry{Member: member, Score: low, Tiebreak: low, CreatedTime: leaderboard.MaxTime}
		b := &lockedBoard{random: rand.Uint64, known: &boards.Known{Board: leaderboard.Board{ID: low}}, clock: leaderboard.MaxTime, records: []leaderboard.SubmissionRecord{{
			Member: member, Actor: text(i, maxActor), RequestID: text(i, maxRequestID-1) + "x", Status: leaderboard.StatusApplied,
			Score: low, Tiebreak: &number, Previous: &number, NewScore: &number, Seq: low, Edit: edit,
		}}}
		entry := &body{text: metadata}
		for range leaderboard.Windows() {
			p := &period{
				ref: leaderboard.PeriodRef{ID: low, Board: text(i, 64), Rules: rules}, codec: rank.CodecOf(rules), lastSeq: math.MaxInt64 - 1, count: low,
				lastCreated: leaderboard.MaxTime, committed: leaderboard.MaxTime - 1, clock: leaderboard.MaxTime, entries: map[string]*leaderboard.Entry{member: &old},
			}
			if p.metadata = newMetadata(); i < leaderboard.MaxLimit {
				p.metadata.rows[member] = metadataRow{p.codec.Key(old), entry}
			}
			p.record(member, &old, &leaderboard.Entry{Member: member, Score: low + 1, Tiebreak: low, CreatedTime: leaderboard.MaxTime})
			o.periods, b.periods = append(o.periods, p), append(b.periods, p)
		}
		o.recorded = append(o.recorded, b)
		receipt := leaderboard.Receipt{Seq: low, Seqs: map[leaderboard.Window]int64{}, Results: []leaderboard.Result{{
			Member: member, Status: leaderboard.StatusRejected, Previous: &number, Score: &number, CreatedTime: (*leaderboard.Micros)(&number),
			Rule: &leaderboard.RuleError{Code: leaderboard.CodeScoreLimit, Detail: strings.Repeat("x", 200)}, Tiebreak: &number, Fields: fields,
		}}}
		for _, w := range leaderboard.Windows() {
			receipt.Seqs[w] = low
		}
		o.keys = append(o.keys, keyRow{key: text(i, maxKey), receipt: encodeReceipt(&receipt, []leaderboard.Submission{{Member: member, Edit: edit}})})
	}
	return o
}

// TestMaxPacket: no batch is longer than MaxPacket says, and it does not say much more than it has to.
func TestMaxPacket(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, leaderboard.MaxLimit, 5000} {
		text := &mysql.Text{}
		largest(max(batch, leaderboard.MaxLimit)).appendTo(text)
		if is, most := int64(text.Len()), MaxPacket(batch); is > most || is < most*3/4 {
			t.Errorf("batches of %d entries: %d bytes, MaxPacket says %d", batch, is, most)
		}
	}
}

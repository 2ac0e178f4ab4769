package records

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// countOf counts records, the newest first, and returns the hours as text, with - where the number of entries is not known.
func countOf(hours int, now leaderboard.Micros, p leaderboard.Period, before, cut *SubmissionRecord, records ...SubmissionRecord) string {
	c := CountActivity(now, hours, &p)
	for i := range records {
		c.Add(&records[i])
	}
	if cut != nil {
		c.Cut(cut)
	}
	if before != nil {
		c.Before(before)
	}
	a := c.Counted()
	var out []string
	for _, h := range a.Hours {
		text := fmt.Sprintf("%d: %d %d %d -", h.StartsAt/hourLong, h.Submissions, h.Applied, h.NewMembers)
		if h.Entries != nil {
			text = strings.TrimSuffix(text, "-") + fmt.Sprint(*h.Entries)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

const hourLong = leaderboard.Micros(3_600_000_000)

// TestCountActivity: submissions fall into their hours; the number of entries is reported as long as only recorded
// submissions have changed the period since.
func TestCountActivity(t *testing.T) {
	t.Parallel()
	at := func(hours float64) leaderboard.Micros { return leaderboard.Micros(hours * float64(hourLong)) }
	old := int64(1)
	first := func(h float64, seq int64) SubmissionRecord {
		return SubmissionRecord{At: at(h), Status: leaderboard.StatusApplied, Seq: seq}
	}
	again := func(h float64, seq int64) SubmissionRecord {
		return SubmissionRecord{At: at(h), Status: leaderboard.StatusApplied, Seq: seq, Previous: &old}
	}
	hidden := func(h float64, seq int64) SubmissionRecord {
		return SubmissionRecord{At: at(h), Status: leaderboard.StatusApplied, Seq: seq, Hidden: true}
	}
	refused := SubmissionRecord{At: at(98.5), Status: leaderboard.StatusRejected, Seq: 2}
	now := at(100.5)
	for name, c := range map[string]struct {
		period      leaderboard.Period
		before, cut *SubmissionRecord
		records     []SubmissionRecord
		want        string
	}{
		"none":          {period: leaderboard.Period{LastSeq: 7, EntryCount: 5}, before: &SubmissionRecord{Seq: 7}, want: "100: 0 0 0 5; 99: 0 0 0 5; 98: 0 0 0 5"},
		"hour by hour":  {period: leaderboard.Period{LastSeq: 4, EntryCount: 3}, before: &SubmissionRecord{Seq: 1}, records: []SubmissionRecord{first(100.2, 4), again(99.9, 3), refused, first(98.1, 2)}, want: "100: 1 1 1 3; 99: 1 1 0 2; 98: 2 1 1 2"},
		"at the bounds": {period: leaderboard.Period{LastSeq: 3, EntryCount: 3}, records: []SubmissionRecord{first(101, 3), first(100, 2), first(99, 1)}, want: "100: 2 2 2 3; 99: 1 1 1 1; 98: 0 0 0 0"},
		// Seq 3 was a removal, in hour 98, 99 or 100.
		"removed": {period: leaderboard.Period{LastSeq: 4, EntryCount: 2}, records: []SubmissionRecord{first(100.2, 4), first(98.1, 2), first(98, 1)}, want: "100: 1 1 1 2; 99: 0 0 0 -; 98: 2 2 2 -"},
		// Seq 3 was a removal, in hour 99.
		"removed in an hour": {period: leaderboard.Period{LastSeq: 4, EntryCount: 2}, records: []SubmissionRecord{first(99.9, 4), first(99.1, 2), first(98, 1)}, want: "100: 0 0 0 2; 99: 2 2 2 2; 98: 1 1 1 -"},
		"removed at last":    {period: leaderboard.Period{LastSeq: 5, EntryCount: 2}, records: []SubmissionRecord{first(99.2, 4)}, want: "100: 0 0 0 2; 99: 1 1 1 -; 98: 0 0 0 -"},
		"removed before":     {period: leaderboard.Period{LastSeq: 5, EntryCount: 2}, before: &SubmissionRecord{Seq: 3}, records: []SubmissionRecord{first(100, 5)}, want: "100: 1 1 1 2; 99: 0 0 0 -; 98: 0 0 0 -"},
		"nothing before":     {period: leaderboard.Period{LastSeq: 5, EntryCount: 2}, want: "100: 0 0 0 2; 99: 0 0 0 -; 98: 0 0 0 -"},
		"hidden":             {period: leaderboard.Period{LastSeq: 2, EntryCount: 2}, records: []SubmissionRecord{first(100.3, 2), hidden(99.3, 1), first(99.2, 1), hidden(98.2, 0)}, want: "100: 1 1 1 2; 99: 2 2 1 1; 98: 1 1 0 0"},
		// Seq 2 was a removal, before the submission to a hidden entry.
		"removed, then hidden": {period: leaderboard.Period{LastSeq: 2}, records: []SubmissionRecord{hidden(99.3, 2), first(98.2, 1)}, want: "100: 0 0 0 0; 99: 1 1 0 0; 98: 1 1 1 -"},
		"began meanwhile":      {period: leaderboard.Period{LastSeq: 1, EntryCount: 1, StartsAt: at(100)}, before: &SubmissionRecord{Seq: 9}, records: []SubmissionRecord{first(100.2, 1), first(99.5, 2), again(99.4, 1)}, want: "100: 1 1 1 1; 99: 2 2 1 -; 98: 0 0 0 -"},
		"began in an hour":     {period: leaderboard.Period{LastSeq: 1, EntryCount: 1, StartsAt: at(99.5)}, records: []SubmissionRecord{first(100.2, 1), first(99.4, 2)}, want: "100: 1 1 1 1; 99: 1 1 1 0; 98: 0 0 0 -"},
		"too many":             {period: leaderboard.Period{LastSeq: 9, EntryCount: 9}, cut: &SubmissionRecord{At: at(99.5), Seq: 7}, records: []SubmissionRecord{first(100.2, 9), first(99.6, 8)}, want: "100: 1 1 1 9"},
		"too many at a bound":  {period: leaderboard.Period{LastSeq: 9, EntryCount: 9}, cut: &SubmissionRecord{At: at(98.5), Seq: 7}, records: []SubmissionRecord{first(100.2, 9), first(99.6, 8)}, want: "100: 1 1 1 9; 99: 1 1 1 8"},
		"too many in this":     {period: leaderboard.Period{LastSeq: 9, EntryCount: 9}, cut: &SubmissionRecord{At: at(100.1), Seq: 8}, records: []SubmissionRecord{first(100.2, 9)}, want: ""},
	} {
		if got := countOf(3, now, c.period, c.before, c.cut, c.records...); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

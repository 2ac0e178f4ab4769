package records

import "leaderboard/leaderboard"

// ActivityQuery asks how much was submitted to a board in the latest hours.
type ActivityQuery struct {
	BoardID int64
	Window  leaderboard.Window // the board's first window, to which the records belong
	Hours   int                // at least 1
	Records int                // to read at most, the newest first
}

// ActivityHour is the recorded activity in an hour of UTC. Entries belong to the period that is current now.
type ActivityHour struct {
	StartsAt    leaderboard.Micros
	Submissions int    // that were recorded
	Applied     int    // applied entries that changed an entry
	NewMembers  int    // the ones by which a member got its first visible entry of the period
	Entries     *int64 // when the hour ended, or now; nil: not known, see ActivityCount
}

// Activity is the recorded activity of the latest hours, newest first; the first hour is not over. Hours without a full
// reading of their records are left out, with all earlier hours.
type Activity struct {
	Hours   []ActivityHour
	Partial bool // some were left out
}

const hour = leaderboard.Micros(3_600_000_000)

// CountActivity returns an empty count of the hours that end with now. p is the present period of the board's first window.
func CountActivity(now leaderboard.Micros, hours int, p *leaderboard.Period) *ActivityCount {
	c := &ActivityCount{period: *p, hours: make([]countedHour, hours)}
	for i := range c.hours {
		c.hours[i].StartsAt = now - now%hour - leaderboard.Micros(i)*hour
	}
	return c
}

// ActivityCount counts recorded submissions. They must come from the newest to the oldest.
//
// The number of entries follows from the seqs. A record has the seq of the period after it, and each visible change has its
// own seq. Let a record before a moment have the seq s, and the period now n. When n-s changes are recorded after the
// moment, no other change happened since that record, and at the moment the period had as many fewer entries as members
// have come since. Otherwise an entry was removed, hidden or restored, or a submission was not recorded, at an unknown
// time, and the number is not known.
type ActivityCount struct {
	period leaderboard.Period
	hours  []countedHour
	before int64 // seq of the newest record before all hours
	cut    int   // 1 more than the place of the first hour that is not counted whole; 0: all are
}

// countedHour is an hour with the counts of the present period.
type countedHour struct {
	ActivityHour
	changes, joined int64
	newest          *int64 // seq of the newest record
}

// Since returns when the oldest hour begins.
func (c *ActivityCount) Since() leaderboard.Micros { return c.hours[len(c.hours)-1].StartsAt }

// Add counts a record.
func (c *ActivityCount) Add(r *SubmissionRecord) {
	h, _ := c.see(r)
	h.Submissions++
	if r.Status != leaderboard.StatusApplied {
		return
	}
	h.Applied++
	if r.Hidden {
		return
	}
	isFirst := r.Previous == nil
	if isFirst {
		h.NewMembers++
	}
	if c.isPresent(r) {
		h.changes++
		if isFirst {
			h.joined++
		}
	}
}

// Cut ends the count at a record: that one and all before it are not counted.
func (c *ActivityCount) Cut(r *SubmissionRecord) {
	_, i := c.see(r)
	c.cut = i + 1
}

// Before adds the newest record before all hours.
func (c *ActivityCount) Before(r *SubmissionRecord) {
	if c.isPresent(r) {
		c.before = r.Seq
	}
}

// see returns the hour of a record, and its place. A moment that is still to come, by a clock that was put back, is in the
// hour of now.
func (c *ActivityCount) see(r *SubmissionRecord) (*countedHour, int) {
	i := 0
	if newest := c.hours[0].StartsAt; r.At < newest {
		i = min(int((newest-r.At+hour-1)/hour), len(c.hours)-1)
	}
	h := &c.hours[i]
	if h.newest == nil && c.isPresent(r) {
		h.newest = &r.Seq
	}
	return h, i
}

func (c *ActivityCount) isPresent(r *SubmissionRecord) bool { return r.At >= c.period.StartsAt }

// Counted returns the counts.
func (c *ActivityCount) Counted() Activity {
	// The least seq at the end of each hour.
	seqs, seq := make([]int64, len(c.hours)), c.before
	for i := len(c.hours) - 1; i >= 0; i-- {
		if c.hours[i].newest != nil {
			seq = *c.hours[i].newest
		}
		seqs[i] = seq
	}
	seqs[0] = c.period.LastSeq
	out := Activity{Partial: c.cut > 0}
	changes, entries := int64(0), c.period.EntryCount
	for i := range c.hours {
		if out.Partial && i >= c.cut-1 {
			break
		}
		h := &c.hours[i]
		if c.period.LastSeq-seqs[i] == changes && (i == 0 || h.StartsAt+hour > c.period.StartsAt) {
			h.Entries = new(entries)
		}
		changes += h.changes
		entries -= h.joined
		out.Hours = append(out.Hours, h.ActivityHour)
	}
	return out
}

// RaceQuery asks for the recorded scores of members at moments since a period began.
type RaceQuery struct {
	PeriodID int64    // the current period of the board's first window, to which the records belong
	Members  []string // at most MaxRunners
}

// Race is the scores of members at RaceMoments moments. The last is now, the times between them are equal, and the first
// comes as long after the oldest record.
type Race struct {
	Moments []leaderboard.Micros // none: nothing is recorded
	Scores  [][]*int64           // by member, at each of the moments; nil: no entry, or no known one
}

package entries

import (
	"leaderboard/rank"
	"leaderboard/store/internal/db"
)

// Count asks how many entries a range has, and how many of them are tied with where it ends if that is an entry.
type Count struct {
	Range Range
	// wide reads all entries with the score of the entry that the range ends with, and tells by row which of them
	// are in it: one range of the index instead of four, as fast as one can be found.
	Wide bool
}

// Counted is the answer to a Count.
type Counted struct{ All, Tied int64 }

// tiedUnit is how often the tied ones are added to the number of all: a subquery has one value. Two thousand million
// entries are more than the server counts in the time that a statement has.
const tiedUnit = 1 << 32

func Unpack(n int64) Counted { return Counted{All: n % tiedUnit, Tied: n / tiedUnit} }

func (c *Count) Subquery(t *db.Text, periodID int64) {
	iv, to := c.Range, c.Range.To
	switch {
	case to.n <= colMember:
		t.Str(",(SELECT COUNT(*)")
	case c.Wide:
		// All of them, less those with the same score that come after. NULL is not added up: that is what is quick here.
		t.Str(",(SELECT COUNT(*) + COALESCE(SUM(CASE WHEN score > ").Int(to.score).Str(" THEN NULL WHEN tiebreak > ").Int(to.tiebreak)
		t.Str(" THEN 0 WHEN tiebreak = ").Int(to.tiebreak).Str(" AND (created_at < ").Time(to.created)
		t.Str(" OR created_at = ").Time(to.created).Str(" AND member < ").Hex(to.member)
		t.Str(") THEN ").Int(tiedUnit).Str(" ELSE -1 END), 0)")
		iv.To = Bound{n: colScore + 1, score: to.score, after: true}
	default:
		t.Str(",(SELECT COUNT(*) + ").Int(tiedUnit).Str(" * COALESCE(SUM(score = ").Int(to.score)
		t.Str(" AND tiebreak = ").Int(to.tiebreak).Str("), 0)")
	}
	t.Str(" FROM entries FORCE INDEX (entries_order) WHERE period_id = ").Int(periodID).Str(" AND ")
	iv.Where(t)
	t.Str(")")
}

// Counts returns what to count for the keys: the entries from the start of the bucket, or from the key before if that
// is in the same bucket. The prefix of a key, right before it and in the same bucket, takes no count of its own.
func Counts(keys []rank.Key, spans []rank.Span) ([]Count, error) {
	out := make([]Count, 0, len(keys))
	last := Bound{}
	for i, k := range keys {
		here, err := BeforeKey(k)
		if err != nil {
			return nil, err
		}
		from := last
		if i == 0 || spans[i].From != spans[i-1].From {
			if from, err = BeforeKey(spans[i].From); err != nil {
				return nil, err
			}
		}
		if prefixOfNext(keys, spans, i) {
			last = from
			continue
		}
		out = append(out, Count{Range{From: from, To: here}, wide(from, here, spans[i].To)})
		last = here
	}
	return out, nil
}

// wide says whether no more than one bucket is read when all entries with the score of here are.
func wide(from, here Bound, to rank.Key) bool {
	if from.n > colScore+1 || here.n <= colMember {
		return false
	}
	if to == "" {
		return true
	}
	until, err := BeforeKey(to)
	return err == nil && until.score < here.score
}

// prefixOfNext says whether key i is the prefix of the one that follows, in the same bucket.
func prefixOfNext(keys []rank.Key, spans []rank.Span, i int) bool {
	return len(keys[i]) == rank.PrefixLen && i+1 < len(keys) && len(keys[i+1]) > rank.HeadLen &&
		keys[i+1].Prefix() == keys[i] && spans[i+1].From == spans[i].From
}

// Sum adds up what was counted for the keys.
func Sum(keys []rank.Key, spans []rank.Span, counts []Counted) []int64 {
	out := make([]int64, len(keys))
	for i := range keys {
		out[i] = spans[i].Before
		if i > 0 && spans[i].From == spans[i-1].From {
			out[i] = out[i-1]
		}
		if prefixOfNext(keys, spans, i) {
			out[i] += counts[0].All - counts[0].Tied
			continue
		}
		if i > 0 && prefixOfNext(keys, spans, i-1) {
			out[i] += counts[0].Tied
		} else {
			out[i] += counts[0].All
		}
		counts = counts[1:]
	}
	return out
}

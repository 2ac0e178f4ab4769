// Package entries reads and writes the rows of entries and of the change log: ranges of the order, statements that count
// and read in them, whole periods, and the content of the log's rows. Scores and tiebreaks are stored so that higher is better
// (rank.Codec.Stored), and so every query orders by (score DESC, tiebreak DESC, created_time ASC, member ASC), the order of
// the index entries_order and of rank.Key.
package entries

import (
	"cmp"
	"strings"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Bound is a place between entries in the order of a period: right before (or after) all entries whose first n columns
// of the order have the given values. n 0 is the beginning or the end of the period, 2 a group of tied entries, 4 one
// entry. Values are as stored, so that higher scores and tiebreaks come first on every board.
type Bound struct {
	n        int
	score    int64
	tiebreak int64
	created  leaderboard.Micros
	member   string
	after    bool
}

// Range is the run of entries from one bound to another.
type Range struct{ From, To Bound }

// The columns of the order.
const (
	colScore = iota
	colTiebreak
	colCreated
	colMember
)

// orderBy is the order of a period and of the index entries_order; backwards is its reverse.
const (
	orderBy   = " ORDER BY score DESC, tiebreak DESC, created_time ASC, member ASC"
	backwards = " ORDER BY score ASC, tiebreak ASC, created_time DESC, member DESC"
)

func Beginning() Bound { return Bound{} }
func End() Bound       { return Bound{after: true} }

// Everything returns the range of all entries.
func Everything() Range { return Range{From: Beginning(), To: End()} }

// groupBound returns the bound before or after the entries that share a score and a tiebreak (as stored).
func groupBound(score, tiebreak int64, behind bool) Bound {
	return Bound{n: colTiebreak + 1, score: score, tiebreak: tiebreak, after: behind}
}

// KeyBound returns the bound before or after the entry with this key, whether it exists or not. A cursor comes from
// outside and may name a time that no entry can have; it is then the end of the group on that side.
func KeyBound(k rank.Key, behind bool) (Bound, error) {
	e, err := rank.Codec{}.Entry(k)
	switch {
	case err != nil:
		return Bound{}, err
	case e.CreatedTime < leaderboard.MinTime || e.CreatedTime > leaderboard.MaxTime:
		return groupBound(e.Score, e.Tiebreak, e.CreatedTime > leaderboard.MaxTime), nil
	}
	return Bound{colMember + 1, e.Score, e.Tiebreak, e.CreatedTime, e.Member, behind}, nil
}

// AfterTied makes the prefix of a group of tied entries the place after all of them: no moment has a key that begins
// with this byte.
const AfterTied = "\xff"

// BeforeKey returns the bound before the entries whose sort keys are not less than k. k is a sort key, with any bytes for
// the member, or the beginning of a sort key that ends with a column, "" included, or the prefix of a group with AfterTied.
func BeforeKey(k rank.Key) (Bound, error) {
	const filler = "\x80" // of the columns that are not there, whose values do not matter
	head := (k + rank.Key(strings.Repeat(filler, rank.HeadLen)))[:rank.HeadLen]
	c, err := KeyBound(head+filler, false)
	if err != nil {
		return Bound{}, err
	}
	switch len(k) {
	case 0:
		return Beginning(), nil
	case rank.ScoreLen:
		return Bound{n: colScore + 1, score: c.score}, nil
	case rank.PrefixLen:
		return groupBound(c.score, c.tiebreak, false), nil
	case rank.PrefixLen + len(AfterTied):
		return groupBound(c.score, c.tiebreak, true), nil
	}
	if c.n <= colMember {
		return c, nil // no entry has this moment
	}
	c.member = string(k[rank.HeadLen:])
	if c.member == "" {
		c.n = colCreated + 1
	}
	return c, nil
}

// Between returns the shortest key such that a < key <= b, for two sort keys a < b: a boundary with few columns makes
// for few ranges in a condition, and each costs the database as much as counting a hundred entries.
func Between(a, b rank.Key) rank.Key {
	for _, n := range []int{rank.ScoreLen, rank.PrefixLen, rank.HeadLen} {
		if a[:n] < b[:n] {
			return b[:n]
		}
	}
	return b
}

// compare orders two bounds by one column: negative when c's value comes first.
func (c *Bound) compare(o *Bound, col int) int {
	switch col {
	case colScore:
		return cmp.Compare(o.score, c.score)
	case colTiebreak:
		return cmp.Compare(o.tiebreak, c.tiebreak)
	case colCreated:
		return cmp.Compare(c.created, o.created)
	default:
		return cmp.Compare(c.member, o.member)
	}
}

// column appends a comparison of a column with the bound's value; op is "=", or "<" for entries ordered before it, ">"
// for entries ordered after it.
func (c *Bound) column(t *mysql.Text, col int, op byte) {
	if col <= colTiebreak && op != '=' {
		op = '<' + '>' - op
	}
	switch col {
	case colScore:
		t.Str("score").Char(op).Int(c.score)
	case colTiebreak:
		t.Str("tiebreak").Char(op).Int(c.tiebreak)
	case colCreated:
		t.Str("created_time").Char(op).Time(c.created)
	default:
		t.Str("member").Char(op).Hex(c.member)
	}
}

// ranges builds a condition out of disjoint ranges of the index entries_order, joined by OR.
type ranges struct {
	t *mysql.Text
	n int
}

// Where appends the condition that selects the range. Comparing whole rows, (a, b) < (c, d), would be shorter, but
// the range optimizer uses an index only for the first column of it, and for none when directions are mixed.
func (iv Range) Where(t *mysql.Text) {
	from, to := iv.From, iv.To
	r := ranges{t: t}
	t.Str("(")
	d := 0
	for d < from.n && d < to.n && from.compare(&to, d) == 0 {
		d++
	}
	switch {
	case d < from.n && d < to.n:
		if from.compare(&to, d) < 0 {
			r.tail(&from, d+1)
			r.add(&from, d, '>')
			t.Str(" AND ")
			to.column(t, d, '<')
			r.head(&to, d+1)
		}
	case d < to.n: // from is the beginning or the end of a group that to lies in
		if !from.after {
			r.head(&to, d)
		}
	case d < from.n: // to is the beginning or the end of a group that from lies in
		if to.after {
			r.tail(&from, d)
		}
	case !from.after && to.after:
		r.add(&from, d, 0)
	}
	if r.n == 0 {
		t.Str("FALSE")
	}
	t.Str(")")
}

// tail adds the entries after c that share its columns before col, head the entries before it.
func (r *ranges) tail(c *Bound, col int) {
	if !c.after {
		r.add(c, c.n, 0)
	}
	for i := c.n - 1; i >= col; i-- {
		r.add(c, i, '>')
	}
}

func (r *ranges) head(c *Bound, col int) {
	for i := col; i < c.n; i++ {
		r.add(c, i, '<')
	}
	if c.after {
		r.add(c, c.n, 0)
	}
}

// add adds one range: the columns before col equal the columns of c, and col stands in relation op to it (0: no matter
// how).
func (r *ranges) add(c *Bound, col int, op byte) {
	if r.n > 0 {
		r.t.Str(" OR ")
	}
	r.n++
	for i := range col {
		if i > 0 {
			r.t.Str(" AND ")
		}
		c.column(r.t, i, '=')
	}
	if op == 0 {
		if col == 0 {
			r.t.Str("TRUE")
		}
		return
	}
	if col > 0 {
		r.t.Str(" AND ")
	}
	c.column(r.t, col, op)
}

// Count asks how many entries a range has, and how many of them are tied with where it ends if that is an entry.
type Count struct {
	Range Range
	// wide reads all entries with the score of the entry that the range ends with, and decides by row which of them are in
	// it: one range of the index instead of four, which can be found four times as fast.
	Wide bool
}

// Counted is the answer to a Count.
type Counted struct{ All, Tied int64 }

// tiedUnit is the factor with which the number of tied entries is added to the number of all: a subquery has one value. Two
// thousand million entries are more than the server counts in the time that a statement has.
const tiedUnit = 1 << 32

func Unpack(n int64) Counted { return Counted{All: n % tiedUnit, Tied: n / tiedUnit} }

func (c *Count) Subquery(t *mysql.Text, periodID int64) {
	iv, to := c.Range, c.Range.To
	switch {
	case to.n <= colMember:
		t.Str(",(SELECT COUNT(*)")
	case c.Wide:
		// All entries, minus the later ones with the same score. NULL is not added up, which makes this quick.
		t.Str(",(SELECT COUNT(*) + COALESCE(SUM(CASE WHEN score > ").Int(to.score).Str(" THEN NULL WHEN tiebreak > ").Int(to.tiebreak)
		t.Str(" THEN 0 WHEN tiebreak = ").Int(to.tiebreak).Str(" AND (created_time < ").Time(to.created)
		t.Str(" OR created_time = ").Time(to.created).Str(" AND member < ").Hex(to.member)
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

// Counts returns the counts for the keys: the entries from the start of the bucket, or from the previous key if it is in
// the same bucket. The prefix of a key, right before it and in the same bucket, needs no separate count.
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

// wide reports whether reading all entries with the score of here reads at most one bucket.
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

// prefixOfNext reports whether key i is the prefix of the next key, in the same bucket.
func prefixOfNext(keys []rank.Key, spans []rank.Span, i int) bool {
	return len(keys[i]) == rank.PrefixLen && i+1 < len(keys) && len(keys[i+1]) > rank.HeadLen &&
		keys[i+1].Prefix() == keys[i] && spans[i+1].From == spans[i].From
}

// Sum adds up the counts for the keys.
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

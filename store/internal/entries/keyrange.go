// Package entries reads and writes the rows of entries and of the change log: ranges of the order, statements that
// count and read in them, and what a row of the log holds. Scores and tiebreaks are stored so that higher is better
// (rank.Codec.Stored), and so every query orders by (score DESC, tiebreak DESC, created_at ASC, member ASC), the order
// of the index entries_order and of rank.Key.
package entries

import (
	"cmp"
	"strings"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
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
	orderBy   = " ORDER BY score DESC, tiebreak DESC, created_at ASC, member ASC"
	backwards = " ORDER BY score ASC, tiebreak ASC, created_at DESC, member DESC"
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

// BeforeKey returns the bound in front of the entries whose sort keys are not less than k. That is a sort key, with any
// bytes for the member, or the beginning of one that ends with a column, "" included, or the prefix of a group with
// AfterTied.
func BeforeKey(k rank.Key) (Bound, error) {
	const filler = "\x80" // of the columns that are not there; what it stands for is not looked at
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
func (c *Bound) column(t *db.Text, col int, op byte) {
	if col <= colTiebreak && op != '=' {
		op = '<' + '>' - op
	}
	switch col {
	case colScore:
		t.Str("score").Char(op).Int(c.score)
	case colTiebreak:
		t.Str("tiebreak").Char(op).Int(c.tiebreak)
	case colCreated:
		t.Str("created_at").Char(op).Time(c.created)
	default:
		t.Str("member").Char(op).Hex(c.member)
	}
}

// ranges builds a condition out of disjoint ranges of the index entries_order, joined by OR.
type ranges struct {
	t *db.Text
	n int
}

// Where appends the condition that selects the range. Comparing whole rows, (a, b) < (c, d), would be shorter, but
// the range optimizer uses an index only for the first column of it, and for none when directions are mixed.
func (iv Range) Where(t *db.Text) {
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

// tail adds the entries after c that share its columns before col, head those before it.
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

// add adds one range: the columns before col equal those of c, and col stands in relation op to it (0: no matter how).
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

package store

import (
	"cmp"
	"strings"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
)

// cut is a place between entries in the order of a period: right before (or behind) all entries whose first n columns
// of the order have the given values. n 0 is the beginning or the end of the period, 2 a group of tied entries, 4 one
// entry. Values are as stored, so that higher scores and tiebreaks come first on every board.
type cut struct {
	n        int
	score    int64
	tiebreak int64
	created  leaderboard.Micros
	member   string
	behind   bool
}

// interval is the run of entries from one cut to another.
type interval struct{ from, to cut }

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

func beginning() cut { return cut{} }
func end() cut       { return cut{behind: true} }

// everything is the interval of all entries.
func everything() interval { return interval{beginning(), end()} }

// groupCut is the cut before or behind the entries that share a score and a tiebreak (as stored).
func groupCut(score, tiebreak int64, behind bool) cut {
	return cut{n: colTiebreak + 1, score: score, tiebreak: tiebreak, behind: behind}
}

// keyCut is the cut before or behind the entry with this key, whether it exists or not. A cursor comes from outside and
// may name a time that no entry can have; it is then the end of the group on that side.
func keyCut(k rank.Key, behind bool) (cut, error) {
	e, err := rank.Codec{}.Entry(k)
	switch {
	case err != nil:
		return cut{}, err
	case e.CreatedTime < leaderboard.MinTime || e.CreatedTime > leaderboard.MaxTime:
		return groupCut(e.Score, e.Tiebreak, e.CreatedTime > leaderboard.MaxTime), nil
	}
	return cut{colMember + 1, e.Score, e.Tiebreak, e.CreatedTime, e.Member, behind}, nil
}

// scoreLen is the length of the beginning of a sort key that ends with the score.
const scoreLen = 8

// behindTied makes the prefix of a group of tied entries the place behind all of them: no moment has a key that begins
// with this byte.
const behindTied = "\xff"

// beforeKey is the cut in front of the entries whose sort keys are not less than k. That is a sort key, with any bytes
// for the member, or the beginning of one that ends with a column, "" included, or the prefix of a group with behindTied.
func beforeKey(k rank.Key) (cut, error) {
	const filler = "\x80" // of the columns that are not there; what it stands for is not looked at
	head := (k + rank.Key(strings.Repeat(filler, rank.HeadLen)))[:rank.HeadLen]
	c, err := keyCut(head+filler, false)
	if err != nil {
		return cut{}, err
	}
	switch len(k) {
	case 0:
		return beginning(), nil
	case scoreLen:
		return cut{n: colScore + 1, score: c.score}, nil
	case rank.PrefixLen:
		return groupCut(c.score, c.tiebreak, false), nil
	case rank.PrefixLen + len(behindTied):
		return groupCut(c.score, c.tiebreak, true), nil
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

// between is the shortest key such that a < key <= b, for two sort keys a < b: a boundary with few columns makes for
// few ranges in a condition, and each costs the database as much as counting a hundred entries.
func between(a, b rank.Key) rank.Key {
	for _, n := range []int{scoreLen, rank.PrefixLen, rank.HeadLen} {
		if a[:n] < b[:n] {
			return b[:n]
		}
	}
	return b
}

// compare orders two cuts by one column: negative when c's value comes first.
func (c *cut) compare(o *cut, col int) int {
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

// column appends a comparison of a column with the cut's value; op is "=", or "<" for entries ordered before it, ">"
// for entries ordered behind it.
func (c *cut) column(t *db.Text, col int, op byte) {
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

// where appends the condition that selects the interval. Comparing whole rows, (a, b) < (c, d), would be shorter, but
// the range optimizer uses an index only for the first column of it, and for none when directions are mixed.
func (iv interval) where(t *db.Text) {
	from, to := iv.from, iv.to
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
		if !from.behind {
			r.head(&to, d)
		}
	case d < from.n: // to is the beginning or the end of a group that from lies in
		if to.behind {
			r.tail(&from, d)
		}
	case !from.behind && to.behind:
		r.add(&from, d, 0)
	}
	if r.n == 0 {
		t.Str("FALSE")
	}
	t.Str(")")
}

// tail adds the entries behind c that share its columns before col, head those before it.
func (r *ranges) tail(c *cut, col int) {
	if !c.behind {
		r.add(c, c.n, 0)
	}
	for i := c.n - 1; i >= col; i-- {
		r.add(c, i, '>')
	}
}

func (r *ranges) head(c *cut, col int) {
	for i := col; i < c.n; i++ {
		r.add(c, i, '<')
	}
	if c.behind {
		r.add(c, c.n, 0)
	}
}

// add adds one range: the columns before col equal those of c, and col stands in relation op to it (0: no matter how).
func (r *ranges) add(c *cut, col int, op byte) {
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

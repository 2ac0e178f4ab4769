package httpapi

import (
	"context"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// standingsQuery holds the parameters standings, friends and mode of a submission.
type standingsQuery struct {
	on, friends bool
	mode        leaderboard.Mode // "" for each board's mode
}

// standingsParams reads the parameters of standings. It is called before anything is written.
func standingsParams(c *Call) (standingsQuery, error) {
	q := standingsQuery{on: c.Params.Boolean("standings"), friends: c.Params.Boolean("friends"), mode: c.Params.Mode()}
	if q.mode == leaderboard.ModeAll {
		c.Params.BadParam("mode", "want one of strict, tied, dense: a standing has one rank")
	}
	for _, name := range []string{"mode", "friends"} {
		if !q.on && c.Params.Query.Has(name) {
			c.Params.BadParam(name, "is for standings=true")
		}
	}
	return q, c.Params.BadInput()
}

// modeOn returns the mode of the ranks on a board.
func (q *standingsQuery) modeOn(rules *leaderboard.Rules) leaderboard.Mode {
	if q.mode == "" {
		return rules.Mode
	}
	return q.mode
}

// standing is the standing of a result's member, nil if it is not known.
type standing struct {
	seq, total, rank int64
	previous         *int64
	passed           []string
	friends          bool // passed is known
}

// standings are the standings of the results of a request, in their order. The zero value is for a request that does not ask for
// standings.
type standings struct {
	query standingsQuery
	all   []*standing
}

// Friends finds friends.
type Friends interface {
	// FriendsOf returns all friends of members, which are distinct, in the order of the members; each list is in the order of its
	// bytes. A list may be a second old unless it was changed here. With an error the lists are the kept ones, of any age. The
	// caller must not change them.
	FriendsOf(ctx context.Context, members []string) ([][]string, error)
}

// standingFinder finds the standings of a submission's results.
type standingFinder struct {
	rankings Rankings
	friends  Friends // nil: without friends
	observer Observer
}

// moved has the moves on one board for which a request wants standings.
type moved struct {
	first *leaderboard.PeriodRef
	moves []leaderboard.Move
	at    []int // indexes of their results in the request
}

// add takes in a result.
func (m *moved) add(i int, r *leaderboard.Result) {
	if !r.Status.Failed() {
		m.moves, m.at = append(m.moves, leaderboard.Move{Member: r.Member, Old: r.Old, New: r.New}), append(m.at, i)
	}
}

// replaced reports for each member whether its entry is another than its last move left. An earlier move is replaced by a later
// one.
func (m *moved) replaced(found []*leaderboard.Moved) map[string]bool {
	last := make(map[string]bool, len(found))
	for i, one := range found {
		last[m.moves[i].Member] = one != nil && one.Replaced
	}
	return last
}

// of returns the standings of a request for one board.
func (f *standingFinder) of(c *Call, q standingsQuery, r *leaderboard.Receipt) standings {
	if !q.on {
		return standings{}
	}
	m := &moved{first: r.First}
	for i := range r.Results {
		m.add(i, &r.Results[i])
	}
	return f.find(c, q, len(r.Results), m)
}

// ofBoards returns the standings of a request for several boards.
func (f *standingFinder) ofBoards(c *Call, q standingsQuery, r *leaderboard.MultiBoardReceipt) standings {
	if !q.on {
		return standings{}
	}
	byName, all := make(map[string]*moved, len(r.Boards)), make([]*moved, 0, len(r.Boards))
	for i := range r.Results {
		of := &r.Results[i]
		m := byName[of.Board]
		if m == nil {
			m = &moved{first: r.Boards[of.Board].First}
			byName[of.Board], all = m, append(all, m)
		}
		m.add(i, &of.Result)
	}
	return f.find(c, q, len(r.Results), all...)
}

// find returns the standings of n results, nil for results without a standing within Limits.StandingWait, and counts them.
func (f *standingFinder) find(c *Call, q standingsQuery, n int, boards ...*moved) standings {
	ctx, cancel := context.WithTimeout(c.Ctx, c.shared.limits.StandingWait)
	defer cancel()
	out, late := make([]*standing, n), atomic.Int64{}
	if q.friends {
		f.addFriends(ctx, boards)
	}
	var asking sync.WaitGroup
	all := 0
	for _, m := range boards {
		if m.first == nil || len(m.moves) == 0 {
			continue
		}
		all += len(m.moves)
		one := func() {
			if !f.findOn(ctx, q, m, out) {
				late.Add(int64(len(m.moves)))
			}
		}
		if len(boards) == 1 {
			one()
		} else {
			asking.Go(one)
		}
	}
	asking.Wait()
	told := n
	for _, s := range out {
		if s == nil {
			told--
		}
	}
	if all > 0 {
		f.observer.StandingsShown(StandingCounts{Told: told, None: all - told - int(late.Load()), Late: int(late.Load())})
	}
	return standings{q, out}
}

// findOn finds the standings on one board. It returns false if no state that has the commit arrives in time.
func (f *standingFinder) findOn(ctx context.Context, q standingsQuery, m *moved, out []*standing) bool {
	mode := q.modeOn(m.first.Rules)
	ask := leaderboard.MovesQuery{Query: leaderboard.Query{Mode: mode, MinSeq: m.first.LastSeq}, Moves: m.moves}
	if mode == leaderboard.ModeDense {
		ask.Mode = leaderboard.ModeAll // an unknown dense rank leaves the other ranks
	}
	found, err := f.rankings.Moves(ctx, *m.first, ask)
	if err != nil || found.Seq < m.first.LastSeq || found.Incarnation != m.first.Incarnation {
		return false
	}
	replaced := m.replaced(found.Moved)
	for i, one := range found.Moved {
		if one == nil || one.In(mode) == 0 || replaced[m.moves[i].Member] {
			continue
		}
		s := &standing{seq: found.Seq, total: found.Total, rank: one.In(mode)}
		if one.Previous != nil {
			previous := one.Previous.In(mode)
			s.previous = &previous
		}
		if move := &m.moves[i]; q.friends && move.New != nil && (move.Friends != nil || move.Old == nil || *move.Old == *move.New) {
			s.passed, s.friends = one.Passed, true
		}
		if s.previous == nil || *s.previous > 0 {
			out[m.at[i]] = s
		}
	}
	return true
}

// addFriends adds the friends of its member to each move that has brought an entry further, as long as all friends together fit
// one question. The lists of all members are asked for at once.
func (f *standingFinder) addFriends(ctx context.Context, boards []*moved) {
	var members []string
	at := map[string]int{}
	for move := range movesOn(boards) {
		if _, known := at[move.Member]; !known {
			at[move.Member] = len(members)
			members = append(members, move.Member)
		}
	}
	if len(members) == 0 {
		return
	}
	lists, err := f.friends.FriendsOf(ctx, members)
	if err != nil {
		return
	}
	left := leaderboard.MaxFriends
	for move := range movesOn(boards) {
		list := lists[at[move.Member]]
		if list == nil {
			list = []string{}
		}
		if left -= len(list); left < 0 {
			return
		}
		move.Friends = list
	}
}

// movesOn is the moves on boards that have changed an entry.
func movesOn(boards []*moved) iter.Seq[*leaderboard.Move] {
	return func(yield func(*leaderboard.Move) bool) {
		for _, m := range boards {
			for i := range m.moves {
				move := &m.moves[i]
				if move.Old != nil && *move.Old != *move.New && !yield(move) {
					return
				}
			}
		}
	}
}

// appendTo appends the member standing of a result, unless the result failed.
func (s *standings) appendTo(b []byte, i int, r *leaderboard.Result) []byte {
	if !s.query.on || r.Status.Failed() {
		return b
	}
	b = append(b, `,"standing":`...)
	if s.all[i] == nil {
		return append(b, "null"...)
	}
	return append(s.all[i].appendTo(append(b, '{'), s.query.friends), '}')
}

func (s *standing) appendTo(b []byte, friends bool) []byte {
	b = strconv.AppendInt(append(b, `"seq":`...), s.seq, 10)
	b = strconv.AppendInt(append(b, `,"rank":`...), s.rank, 10)
	b = wire.AppendOptInt(append(b, `,"previous_rank":`...), s.previous)
	b = strconv.AppendInt(append(b, `,"total":`...), s.total, 10)
	if !friends {
		return b
	}
	b = append(b, `,"passed":`...)
	if !s.friends {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, member := range s.passed {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(b, member)
	}
	return append(b, ']')
}

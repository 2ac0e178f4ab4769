package commit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/boards"
	"leaderboard/store/internal/db"
)

const (
	// minAhead is for how many members reading ahead pays: a packet of its own costs as much as a few more rows under the
	// lock.
	minAhead = 100
	// maxAhead is how long the next batch waits for the reading. One that takes longer goes on, and as long as it does its
	// connection reads nothing else ahead: a server that is slow is not asked for more.
	maxAhead = 100 * time.Millisecond
)

// ahead is what the members of the next batch have in the current periods of a board, read on a connection of its own
// while the batch before is written. It is a guess until the board is locked: see giveTo. Only visible entries are read
// ahead, because each change of one has a seq; idempotency keys, who is hidden, hidden entries and rules may change
// without.
type ahead struct {
	board   *boards.Known
	members []string              // whose entries were asked for, in byte order
	own     []*leaderboard.Commit // what this queue has committed since the reading began
	done    chan struct{}

	// What was read, once done is closed.
	periods []*period // with the visible entries, which are those of the revision or later
	err     error
}

// aheads reads ahead for all queues.
type aheads struct {
	db    *db.DB
	slots chan struct{} // has room for as many readings as there are connections for them
	read  atomic.Int64  // how often entries were read ahead
	used  atomic.Int64  // and how often that was of use

	closing sync.Once
}

func newAheads(d *db.DB) *aheads {
	return &aheads{db: d, slots: make(chan struct{}, d.Ahead.Stats().MaxOpenConnections)}
}

// begin begins to read the entries of members. It returns nil when that is not worth it, or when no connection is free:
// a batch must never wait for one.
func (all *aheads) begin(life context.Context, board *boards.Known, members []string) *ahead {
	if len(members) < minAhead {
		return nil
	}
	select {
	case all.slots <- struct{}{}:
	default:
		return nil
	}
	a := &ahead{board: board, members: members, done: make(chan struct{})}
	go func() {
		defer func() { <-all.slots; close(a.done) }()
		if a.err = a.read(life, all.db); a.err == nil {
			all.read.Add(1)
		}
	}()
	return a
}

// wait returns when nothing is read any more, for good.
func (all *aheads) wait() {
	all.closing.Do(func() {
		for range cap(all.slots) {
			all.slots <- struct{}{}
		}
	})
}

// read reads the revision of each period, and the entries after it: under READ COMMITTED each statement sees what is
// committed when it begins, so an entry may be newer than the revision, but none is older.
func (a *ahead) read(ctx context.Context, d *db.DB) error {
	text := &db.Text{}
	appendRevisions(text, a.board.Periods)
	appendReadEntries(text, a.board.Periods, a.members)
	rows, err := d.Ahead.QueryContext(ctx, text.String())
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		p := &period{codec: rank.CodecOf(&a.board.Board.Rules), entries: map[string]*leaderboard.Entry{}}
		var committed time.Time
		if err := rows.Scan(&p.ref.ID, &p.ref.Incarnation, &p.lastSeq, &committed); err != nil {
			return err
		}
		p.committed = leaderboard.MicrosOf(committed)
		a.periods = append(a.periods, p)
	}
	return errors.Join(rows.Err(), scanEntries(rows, a.members, a.periods), rows.Close())
}

func appendRevisions(t *db.Text, periods []int64) {
	t.Str("SELECT id, incarnation, last_seq, committed_at FROM periods WHERE id IN (").Ints(periods).Str(");")
}

// await waits for the reading, and not for long; nil: there was none, it failed, or it takes too long.
func (a *ahead) await() *ahead {
	if a == nil {
		return nil
	}
	late := time.NewTimer(maxAhead)
	defer late.Stop()
	select {
	case <-late.C:
		return nil
	case <-a.done:
	}
	if a.err != nil {
		return nil
	}
	return a
}

// lacks returns those of the members, in byte order, whose entries were not read.
func (a *ahead) lacks(members []string) []string {
	if a == nil {
		return members
	}
	return slices.DeleteFunc(slices.Clone(members), func(m string) bool {
		_, read := slices.BinarySearch(a.members, m)
		return read
	})
}

// giveTo gives the entries to the current periods of the board that is locked, brought to their state by this queue's
// own commits. It returns false, and nothing is given, unless the rules are the same and these commits lead without a
// gap from the revisions that were read to the ones that are locked: else somebody has changed the board, and what was
// read may be old.
func (a *ahead) giveTo(board *boards.Known, periods []*period) bool {
	if a == nil || a.board != board {
		return false
	}
	for _, p := range periods {
		if i := a.indexOf(p); i < 0 || !a.periods[i].follow(a.own, p.revision()) {
			return false
		}
	}
	for _, p := range periods {
		p.entries = a.periods[a.indexOf(p)].entries
	}
	return true
}

func (a *ahead) indexOf(p *period) int {
	return slices.IndexFunc(a.periods, func(q *period) bool { return q.ref.ID == p.ref.ID })
}

// follow applies the commits of the period that lead on from its revision, and says whether that came to the one wanted.
func (p *period) follow(commits []*leaderboard.Commit, want leaderboard.Revision) bool {
	at := p.revision()
	for _, c := range commits {
		if c.PeriodID != p.ref.ID || c.From() != at {
			continue
		}
		for i := range c.Changes {
			p.entries[c.Changes[i].Member] = c.Changes[i].New
		}
		at = c.To()
	}
	return at == want
}

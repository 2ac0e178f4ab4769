package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// ban returns a request to hide a member, everywhere when board is "".
func ban(board, member string) leaderboard.HideRequest {
	return leaderboard.HideRequest{Board: board, Member: member, Reason: "bot", Actor: "test"}
}

// shownOn is on how many periods a member is shown; on how many it has a hidden entry when hidden is asked for.
func shownOn(t testing.TB, db *sql.DB, board, member string, hidden bool) (n int) {
	t.Helper()
	sign := "1"
	if hidden {
		sign = "-1"
	}
	err := db.QueryRowContext(context.Background(), "SELECT COUNT(*) FROM entries e JOIN periods p ON e.period_id = "+sign+" * p.id"+
		" JOIN boards b ON b.id = p.board_id WHERE e.member = ? AND b.name LIKE ?", []byte(member), board).Scan(&n)
	if err != nil {
		t.Error(err)
	}
	return n
}

// league is boards that are being written to by many, through two servers, while members are hidden and restored.
type league struct {
	t       *testing.T
	servers []*store.Store
	db      *sql.DB
	done    chan struct{} // closed when all scores are in

	commits atomic.Int64 // requests answered
	mu      sync.Mutex   // guards the fields below
	boards  []string
	want    map[string]int64 // sum by board and member
}

// TestHideUnderLoad hides and restores members while their scores pour in, also on boards that are just being created. After Hide
// returns no answer shows the member, whatever was under way; after Restore returns nothing is hidden. In the end no score is
// lost or counted twice, and the logs lead to the shown entries.
func TestHideUnderLoad(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		l := &league{
			t: t, servers: []*store.Store{open(t, dsn, nil), open(t, dsn, nil)}, db: dbtest.Connect(t, dsn),
			done: make(chan struct{}), want: map[string]int64{},
		}
		for i := range 3 {
			l.create(fmt.Sprint("b", i))
		}
		var writers, hiders sync.WaitGroup
		for w := range 12 {
			writers.Go(func() { l.write(rand.New(rand.NewPCG(7, uint64(w))), w) })
		}
		writers.Go(func() {
			for i := range 12 {
				l.await(int64(40 * (i + 1)))
				l.create(fmt.Sprint("new", i))
			}
		})
		hiders.Go(func() { l.banAndCheck("", "cheat1", 0) })
		hiders.Go(func() { l.banAndCheck("b1", "cheat2", 1) })
		for i := range 4 { // all of these are about one member
			hiders.Go(func() { l.quarrel(i) })
		}
		writers.Wait()
		close(l.done)
		hiders.Wait()
		l.check()
	})
}

func (l *league) create(name string) {
	rules := leaderboard.Rules{Policy: leaderboard.PolicySum, Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowYear}}
	if _, _, err := l.servers[0].Boards.PutBoard(context.Background(), name, rules); err != nil {
		l.t.Error(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.boards = append(l.boards, name)
}

// await waits until a number of requests are answered, or no more will be.
func (l *league) await(commits int64) {
	dbtest.Poll(l.t, time.Millisecond, "scores are in", func() bool {
		select {
		case <-l.done:
			return true
		default:
			return l.commits.Load() >= commits
		}
	})
}

func (l *league) write(random *rand.Rand, w int) {
	members := []string{"cheat1", "cheat2", "cheat3", "m1", "m2", "m3", "m4"}
	for i := range 60 {
		if i%5 == 1 {
			l.writeMultiBoard(random, members, i+w)
			continue
		}
		l.mu.Lock()
		r := leaderboard.SubmitRequest{Board: l.boards[random.IntN(len(l.boards))]}
		l.mu.Unlock()
		for range 1 + random.IntN(4) {
			r.Entries = append(r.Entries, leaderboard.Submission{Member: members[random.IntN(len(members))], Score: 1 + random.Int64N(1000)})
		}
		times := 1
		if i%3 == 0 {
			r.Key, times = fmt.Sprint(w, "-", i), 2
		}
		var first string
		for n := range times {
			receipt, err := l.servers[(w+i+n)%2].Writer.Submit(context.Background(), r)
			if err != nil {
				l.t.Error(err)
			}
			if text := fmt.Sprintf("%+v", receipt.Seqs); n > 0 && text != first {
				l.t.Errorf("repeated, a request got %s after %s", text, first)
			} else {
				first = text
			}
		}
		l.mu.Lock()
		for _, e := range r.Entries {
			l.want[r.Board+"/"+e.Member] += e.Score
		}
		l.mu.Unlock()
		l.commits.Add(1)
	}
}

// writeMultiBoard sends one score for each of several boards, in one transaction.
func (l *league) writeMultiBoard(random *rand.Rand, members []string, i int) {
	var r leaderboard.MultiBoardRequest
	l.mu.Lock()
	for range 3 {
		r.Entries = append(r.Entries, leaderboard.BoardSubmission{
			Board:      l.boards[random.IntN(len(l.boards))],
			Submission: leaderboard.Submission{Member: members[random.IntN(len(members))], Score: 1 + random.Int64N(1000)},
		})
	}
	l.mu.Unlock()
	if _, err := l.servers[i%2].Writer.SubmitMultiBoard(context.Background(), r); err != nil {
		l.t.Error(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range r.Entries {
		l.want[e.Board+"/"+e.Member] += e.Score
	}
	l.commits.Add(1)
}

// over reports whether all scores are in.
func (l *league) over() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (l *league) banAndCheck(board, member string, server int) {
	s, like := l.servers[server], board
	if board == "" {
		like = "%"
	}
	for round := 0; !l.over(); round++ {
		if _, err := s.Hidden.Hide(context.Background(), ban(board, member)); err != nil {
			l.t.Error(err)
		}
		if n := shownOn(l.t, l.db, like, member, false); n != 0 {
			l.t.Errorf("round %d: %s is shown in %d periods right after it was hidden", round, member, n)
		}
		l.await(l.commits.Load() + 8)
		if n := shownOn(l.t, l.db, like, member, false); n != 0 {
			l.t.Errorf("round %d: %s is shown in %d periods while it is hidden", round, member, n)
		}
		if err := s.Hidden.Restore(context.Background(), ban(board, member)); err != nil {
			l.t.Error(err)
		}
		if n := shownOn(l.t, l.db, like, member, true); n != 0 {
			l.t.Errorf("round %d: %s is in %d shadows after it was restored", round, member, n)
		}
		l.await(l.commits.Load() + 3)
	}
}

// quarrel hides and restores one member here and there, against others that do the same.
func (l *league) quarrel(who int) {
	random := rand.New(rand.NewPCG(8, uint64(who)))
	for !l.over() {
		r := ban([]string{"", "", "b0", "b2"}[random.IntN(4)], "cheat3")
		var err error
		if random.IntN(2) == 0 {
			_, err = l.servers[who%2].Hidden.Hide(context.Background(), r)
		} else {
			err = l.servers[who%2].Hidden.Restore(context.Background(), r)
		}
		if err != nil && !errors.Is(err, leaderboard.ErrNotHidden) {
			l.t.Error(err)
		}
		l.await(l.commits.Load() + 2)
	}
}

// check restores the members that are still hidden, and adds up.
func (l *league) check() {
	for _, r := range []leaderboard.HideRequest{ban("", "cheat3"), ban("b0", "cheat3"), ban("b2", "cheat3")} {
		if err := l.servers[0].Hidden.Restore(context.Background(), r); err != nil && !errors.Is(err, leaderboard.ErrNotHidden) {
			l.t.Error(err)
		}
	}
	for what, query := range map[string]string{
		"hidden": "SELECT COUNT(*) FROM hidden_members", "in shadows": "SELECT COUNT(*) FROM entries WHERE period_id < 0",
		"boards that do not ask": "SELECT COUNT(*) FROM boards WHERE has_hidden = 0",
	} {
		var n int
		if err := l.db.QueryRowContext(context.Background(), query).Scan(&n); err != nil || n != 0 {
			l.t.Errorf("%d are left %s, %v", n, what, err)
		}
	}
	for _, name := range l.boards {
		list, err := l.servers[1].Boards.Current(context.Background(), name)
		if err != nil {
			l.t.Fatal(err)
		}
		for _, p := range list.Periods {
			ref := p.Ref(&list.Board)
			storetest.CheckLog(l.t, storetest.Of(l.servers[1], storetest.Added{}), ref)
			for _, m := range []string{"cheat1", "cheat2", "cheat3", "m1", "m2", "m3", "m4"} {
				want, ok := l.want[name+"/"+m]
				if !ok {
					want = -1
				}
				if got := dbtest.ScoreOf(l.t, l.servers[1], ref, m); got != want {
					l.t.Errorf("%s, %s: the sum of %s is %d, want %d", name, p.Name(), m, got, want)
				}
			}
		}
	}
}

// waiting says how many connections to the database are at a statement with these words in it, in this order.
func waiting(t testing.TB, db *sql.DB, words ...string) (n int) {
	t.Helper()
	processes, err := testenv.Processes(context.Background(), db)
	if err != nil {
		t.Error(err)
	}
	for _, p := range processes {
		rest, found := p.Statement, true
		for _, w := range words {
			if found {
				_, rest, found = strings.Cut(rest, w)
			}
		}
		if found {
			n++
		}
	}
	return n
}

// TestHideDuringBatch: a batch that found no hidden member has not committed yet when another server hides the member. Its
// writes are hidden too when Hide returns.
func TestHideDuringBatch(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		for _, board := range []string{"b", ""} {
			s, other, db := open(t, dsn, nil), open(t, dsn, nil), dbtest.Connect(t, dsn)
			ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicyLatest})
			member := "m" + board
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "z", 1)); err != nil {
				t.Fatal(err)
			}
			release := dbtest.Hold(t, dsn, "SELECT member FROM entries WHERE period_id = ? AND member = 'z' FOR UPDATE", ref.ID)
			submitted, hidden := make(chan error, 1), make(chan error, 1)
			go func() {
				_, err := s.Writer.Submit(context.Background(), leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{
					{Member: member, Score: 5}, {Member: "z", Score: 10 + int64(len(member))},
				}})
				submitted <- err
			}()
			dbtest.Eventually(t, "the batch writes", func() bool { return waiting(t, db, "INSERT INTO entries") > 0 })
			go func() {
				_, err := other.Hidden.Hide(context.Background(), ban(board, member))
				hidden <- err
			}()
			dbtest.Eventually(t, "Hide waits for the batch, or has not waited", func() bool {
				return waiting(t, db, "SELECT id", "FROM boards", "FOR UPDATE") > 0 || len(hidden) > 0
			})
			release()
			if err := errors.Join(dbtest.Await(t, "the batch", submitted), dbtest.Await(t, "Hide", hidden)); err != nil {
				t.Error(err)
			}
			if n := dbtest.ScoreOf(t, s, ref, member); n != -1 {
				t.Errorf("hidden on %q, and yet shown with %d", board, n)
			}
			if n := shownOn(t, db, "b", member, true); n != 1 {
				t.Errorf("hidden on %q, and in %d shadows", board, n)
			}
		}
	})
}

// TestHideDuringCreation: a board whose creator has asked already whether any member is hidden everywhere, and found
// none, is not left out.
func TestHideDuringCreation(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		dbtest.MakeBoard(t, s, "a", leaderboard.Rules{})
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{
			"INSERT INTO boards (name, rules, created_at, updated_at) SELECT 'b', rules, NOW(6), NOW(6) FROM boards WHERE name = 'a'",
			"SELECT EXISTS (SELECT 1 FROM hidden_members WHERE board_id = 0)",
		} {
			if _, err := tx.ExecContext(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		}
		hidden := make(chan error, 1)
		go func() {
			_, err := s.Hidden.Hide(context.Background(), ban("", "m"))
			hidden <- err
		}()
		dbtest.Eventually(t, "Hide waits for the creator, or has not waited", func() bool {
			return waiting(t, db, "boards", "FOR UPDATE") > 0 || len(hidden) > 0
		})
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := dbtest.Await(t, "Hide", hidden); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 5)); err != nil {
			t.Fatal(err)
		}
		if n := shownOn(t, db, "b", "m", false); n != 0 {
			t.Error("on the new board the member is shown")
		}
	})
}

package notices_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/features/notices"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// passedEvent is a test's view of an event about a passed member.
type passedEvent struct {
	Type string
	Data struct {
		Member, Board, Window, Period string
		By                            struct {
			Member   string
			Score    int64
			Previous int64 `json:"previous_score"`
		}
		Seq, Score int64
	}
}

func passedOf(t testing.TB, e *leaderboard.Event) (p passedEvent) {
	t.Helper()
	body, err := e.Body()
	if err == nil {
		err = json.Unmarshal(body, &p)
	}
	if err != nil || p.Type != "member.passed" {
		t.Fatalf("%s: %v", body, err)
	}
	return p
}

// server is a migrated store that has the feature.
type server struct {
	*store.Store
	notices *notices.Folder
}

// open returns a server on a database.
func open(t testing.TB, dsn string, change func(*store.Config)) *server {
	t.Helper()
	s, e := featuretest.Store(t, dsn, []features.Feature{notices.Feature()}, change)
	return &server{s, features.Offered[*notices.Folder](e)}
}

// found returns the notices that are found now, in the order in which they were entered.
func found(t testing.TB, s *server, e *dbtest.Ear) (out []passedEvent) {
	t.Helper()
	for range 6 { // a round on a busy machine leaves some boards to the next, and one moves to the next period
		if err := s.notices.Notice(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	events := e.Heard(t)
	slices.SortFunc(events, func(a, b leaderboard.Event) int { return int(a.Seq - b.Seq) })
	for i := range events {
		out = append(out, passedOf(t, &events[i]))
	}
	return out
}

// TestNoticesFollowTheModel: the notices of histories of all kinds equal the model's.
func TestNoticesFollowTheModel(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var stopped atomic.Int64
		s := open(t, dsn, func(cfg *store.Config) {
			dbtest.Patient(cfg)
			cfg.Clock = dbtest.ClockAt(func() leaderboard.Micros { return leaderboard.Micros(stopped.Load()) })
		})
		whole := storetest.Of(s.Store, storetest.Added{})
		subject := storetest.Subject{Database: whole, Featured: whole, Rankings: s.Entries, SetNow: func(now leaderboard.Micros) { stopped.Store(int64(now)) }}
		s.Erasures.Add("friends", forgetFriends)
		e := dbtest.Listen(t, dsn, "e", leaderboard.EventKindMemberPassed)
		told := 0
		storetest.PropertyNotices(t, subject, putFriends(dbtest.Connect(t, dsn)), func(t testing.TB) (out []storetest.Notice, _ error) {
			for _, p := range found(t, s, e) {
				d := &p.Data
				out = append(out, storetest.Notice{
					Board: d.Board, Period: d.Period, Seq: d.Seq, Member: d.Member, By: d.By.Member, Score: d.Score, Previous: d.By.Previous, New: d.By.Score,
				})
			}
			told += len(out)
			return out, nil
		})
		if told < 5 { // of 40 histories some 20 are
			t.Errorf("%d were told: the test tells nothing", told)
		}
	})
}

// noticed returns the notices as texts that are found now, in the order in which they were entered.
func noticed(t testing.TB, s *server, e *dbtest.Ear) (out []string) {
	t.Helper()
	for _, p := range found(t, s, e) {
		out = append(out, fmt.Sprint(p.Data.Seq, " ", p.Data.Member, " ", p.Data.Score, " by ", p.Data.By.Member, " ", p.Data.By.Previous, "-", p.Data.By.Score))
	}
	return out
}

// putFriends returns a function that makes a list of friends the one given.
func putFriends(db *sql.DB) func(ctx context.Context, member string, friends []string) error {
	return func(ctx context.Context, member string, friends []string) error {
		_, err := db.ExecContext(ctx, "DELETE FROM friends WHERE member = ?", []byte(member))
		for _, f := range friends {
			if err == nil {
				_, err = db.ExecContext(ctx, "INSERT INTO friends (member, friend) VALUES (?, ?)", []byte(member), []byte(f))
			}
		}
		return err
	}
}

// forgetFriends takes a member off all lists of friends.
func forgetFriends(ctx context.Context, member, _ []byte, steps store.Steps) error {
	return errors.Join(steps(ctx, "DELETE FROM friends WHERE member = ? LIMIT ?", member), steps(ctx, "DELETE FROM friends WHERE friend = ? LIMIT ?", member))
}

// befriend gives members random friends among each other, and returns, by member, the members that have it as a friend.
func befriend(t *testing.T, db *sql.DB, random *rand.Rand, members int) map[string][]string {
	t.Helper()
	fans := map[string][]string{}
	for i := range members {
		var list []string
		for j := range members {
			if i != j && random.IntN(2) == 0 {
				list = append(list, fmt.Sprint("m", j))
				fans[fmt.Sprint("m", j)] = append(fans[fmt.Sprint("m", j)], fmt.Sprint("m", i))
			}
		}
		if err := putFriends(db)(t.Context(), fmt.Sprint("m", i), list); err != nil {
			t.Fatal(err)
		}
	}
	return fans
}

// TestNoticesAreExact: there is a notice for each member that was passed by the order before each change, whatever has
// happened between the change and the look at the log; by two processes at once too, and over the end of a period (promise
// B9).
func TestNoticesAreExact(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		offset.Store(int64(time.Until(time.Now().UTC().Truncate(24 * time.Hour).Add(24*time.Hour + time.Minute)))) // a day has just begun, and ends in the middle of the test only
		configure := dbtest.ClockBy(&offset)
		s, other := open(t, dsn, configure), open(t, dsn, configure)
		seed := rand.Uint64()
		random := rand.New(rand.NewPCG(seed, 1))
		const members = 7
		friends := befriend(t, dbtest.Connect(t, dsn), random, members)
		told := 0
		for _, passed := range []leaderboard.NotifyPassed{leaderboard.NotifyPassedTop, leaderboard.NotifyPassedFriends} {
			board := string(passed)
			e := dbtest.Listen(t, dsn, board, leaderboard.EventKindMemberPassed)
			if _, _, err := s.Boards.PutBoard(t.Context(), board, leaderboard.Rules{
				Policy: leaderboard.PolicyLatest, Windows: []leaderboard.Window{leaderboard.WindowDay}, Notify: &leaderboard.Notify{Passed: passed, Within: 2},
			}); err != nil {
				t.Fatal(err)
			}
			type standing struct {
				member string
				score  int64
			}
			var order []standing // best first
			submit := func(member string, score int64) (want []string) {
				r, err := s.Writer.Submit(t.Context(), dbtest.One(board, "", member, score))
				if err != nil {
					t.Fatal(err)
				}
				if r.Results[0].Status != leaderboard.StatusApplied {
					return nil
				}
				from := slices.IndexFunc(order, func(o standing) bool { return o.member == member })
				before := slices.Clone(order)
				if from >= 0 {
					order = slices.Delete(order, from, from+1)
				}
				to := slices.IndexFunc(order, func(o standing) bool { return o.score < score })
				if to < 0 {
					to = len(order)
				}
				order = slices.Insert(order, to, standing{member, score})
				n := 0
				for i := to; i < from; i++ {
					o := before[i]
					if passed == leaderboard.NotifyPassedTop && i < 2 || passed == leaderboard.NotifyPassedFriends && n < 2 && slices.Contains(friends[member], o.member) {
						n++
						want = append(want, fmt.Sprint(r.Seq, " ", o.member, " ", o.score, " by ", member, " ", before[from].score, "-", score))
					}
				}
				return want
			}
			submit("m0", 1)
			noticed(t, s, e)
			var want []string
			for at := range 120 {
				if at == 60 { // the period ends, with changes that were not looked at
					offset.Add(int64(25 * time.Hour))
					order = nil
				}
				offset.Add(int64(61 * time.Second)) // so that each member may get another notice
				want = append(want, submit(fmt.Sprint("m", random.IntN(members)), random.Int64N(20))...)
				if at != 59 && random.IntN(5) > 0 && at%7 != 6 { // within ten minutes
					continue
				}
				var both sync.WaitGroup
				both.Go(func() { _ = other.notices.Notice(t.Context()) })
				got := noticed(t, s, e)
				both.Wait()
				got = append(got, noticed(t, s, e)...)
				if at > 60 && at < 68 {
					got = append(got, noticed(t, s, e)...)
				}
				slices.Sort(got)
				slices.Sort(want)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d: %s at %d: told %q, want %q", seed, passed, at, got, want)
				}
				told += len(want)
				want = nil
			}
		}
		if told < 30 {
			t.Errorf("seed %d: %d were told: the test tells nothing", seed, told)
		}
	})
}

// TestNoticeStorm: one member that passes very many makes as many events as the rule allows, and each member gets one
// notice a minute however often it is passed; an endpoint that does not ask for them gets no notices, not even later ones
// about the same log.
func TestNoticeStorm(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, func(c *store.Config) {
			start := time.Now()
			c.Clock = dbtest.ClockAhead(func() time.Duration { return -start.Sub(start.Truncate(time.Minute)) }) // the minute has just begun
		})
		e := dbtest.Listen(t, dsn, "e", leaderboard.EventKindMemberPassed)
		dbtest.MakeBoard(t, s.Store, "b", leaderboard.Rules{Policy: leaderboard.PolicyLatest, Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedTop, Within: 100}})
		var all []leaderboard.Submission
		for i := range 1000 {
			all = append(all, leaderboard.Submission{Member: fmt.Sprint("m", i), Score: int64(i + 10)})
		}
		if _, err := s.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: "b", Entries: all}); err != nil {
			t.Fatal(err)
		}
		noticed(t, s, e)
		for range 20 {
			for _, score := range []int64{5000, 1} {
				if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m0", score)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := noticed(t, s, e); len(got) != 100 {
			t.Errorf("%d notices, want one for each of the first 100", len(got))
		}
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m0", 5000)); err != nil {
			t.Fatal(err)
		}
		if got := noticed(t, s, e); len(got) != 0 {
			t.Errorf("told again in the same minute: %q", got)
		}
	})
}

// TestNoticesOfErased: a member that was erased or hidden since the log was written is in no notice about that.
func TestNoticesOfErased(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		e := dbtest.Listen(t, dsn, "e", leaderboard.EventKindMemberPassed)
		dbtest.MakeBoard(t, s.Store, "b", leaderboard.Rules{Policy: leaderboard.PolicyLatest, Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedTop}})
		submit := func(member string, score int64) {
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", member, score)); err != nil {
				t.Fatal(err)
			}
		}
		for i, m := range []string{"scarlett", "hidden", "seen", "mover"} {
			submit(m, int64(10-i))
		}
		noticed(t, s, e)
		submit("mover", 50)
		if _, err := s.Erasures.Forget(t.Context(), "scarlett", "boss"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Hidden.Hide(t.Context(), leaderboard.HideRequest{Board: "b", Member: "hidden", Reason: "a bot"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := noticed(t, s, e); len(got) != 1 || got[0] != "5 seen 8 by mover 7-50" {
			t.Errorf("told %q", got)
		}
		dbtest.CheckForgotten(t, db, "scarlett")
		submit("seen", 60)
		noticed(t, s, e)
		if _, err := s.Erasures.Forget(t.Context(), "mover", "boss"); err != nil {
			t.Fatal(err)
		}
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, place := range dbtest.PlacesOf(t, db, "mover") {
			if strings.HasPrefix(place, "outbox") {
				t.Errorf("the one that passed, and then was passed, is in %s", place)
			}
		}
	})
}

// TestNoticeBoards: the place of a board goes with the rule and with the board; a round asks about a board only when its log has something new, also after the
// end of its period.
func TestNoticeBoards(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		p, through := dbtest.NewProxy(t, dsn)
		s, db := open(t, through, dbtest.ClockBy(&offset)), dbtest.Connect(t, dsn)
		e := dbtest.Listen(t, dsn, "e", leaderboard.EventKindMemberPassed)
		rules := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}, Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedTop}}
		for _, name := range []string{"b", "c"} {
			if _, _, err := s.Boards.PutBoard(t.Context(), name, rules); err != nil {
				t.Fatal(err)
			}
		}
		asked := func() []string {
			var mu sync.Mutex
			var about []string
			p.FaultBy(func(text string) dbtest.Fault {
				mu.Lock()
				defer mu.Unlock()
				if strings.Contains(text, "FROM boards") || strings.Contains(text, "FROM changes") || strings.HasPrefix(text, "UPDATE") {
					about = append(about, text)
				}
				return dbtest.FaultPass
			})
			defer p.Heal()
			for range 3 { // a round on a busy machine leaves some boards to the next
				if err := s.notices.Notice(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			return about
		}
		for range 4 {
			noticed(t, s, e)
		}
		if about := asked(); len(about) > 0 {
			t.Errorf("asks about boards without news: %q", about)
		}
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)); err != nil {
			t.Fatal(err)
		}
		if about := asked(); len(about) == 0 {
			t.Error("asks nothing about a board with news: the test tells nothing")
		}
		offset.Add(int64(25 * time.Hour))
		if err := s.Housekeeping.Sweep(t.Context()); err != nil { // which closes the periods
			t.Fatal(err)
		}
		for range 4 {
			noticed(t, s, e)
		}
		if about := asked(); len(about) > 0 {
			t.Errorf("asks about boards whose periods have ended: %q", about)
		}
		rules.Notify = nil
		if _, _, err := s.Boards.PutBoard(t.Context(), "b", rules); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Count(t, db, "notice_boards"); n != 1 {
			t.Errorf("%d places, want that of c", n)
		}
		if err := s.Boards.DeleteBoard(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Count(t, db, "notice_boards"); n != 0 {
			t.Errorf("%d places after the deletion", n)
		}
	})
}

// TestNoticesOnceMore: a log that is read again, as after a restore, gives the same ids, and no event is entered twice.
func TestNoticesOnceMore(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		e := dbtest.Listen(t, dsn, "e", leaderboard.EventKindMemberPassed)
		dbtest.MakeBoard(t, s.Store, "b", leaderboard.Rules{Policy: leaderboard.PolicyLatest, Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedTop}})
		for i, m := range []string{"a", "b", "mover"} {
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", m, int64(10-i))); err != nil {
				t.Fatal(err)
			}
		}
		noticed(t, s, e)
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "mover", 50)); err != nil {
			t.Fatal(err)
		}
		ids := func() (ids []string) {
			for range 3 {
				if err := s.notices.Notice(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, event := range e.Heard(t) {
				ids = append(ids, event.ID)
			}
			slices.Sort(ids)
			return ids
		}
		told := ids()
		dbtest.MustExec(t, db, "UPDATE notice_boards SET seq = 3")
		if again := ids(); len(again) > 0 {
			t.Errorf("entered twice: %q", again)
		}
		for _, table := range []string{"outbox_members", "deliveries", "outbox"} {
			dbtest.MustExec(t, db, "DELETE FROM "+table)
		}
		dbtest.MustExec(t, db, "UPDATE notice_boards SET seq = 3")
		if restored := ids(); len(told) != 2 || !slices.Equal(restored, told) {
			t.Errorf("told under %q, after a restore under %q", told, restored)
		}
	})
}

// TestNoticesWithoutEndpoints: they are entered also while no endpoint gets them, for streams, and can be read when
// committed; an erasure deletes them.
func TestNoticesWithoutEndpoints(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		dbtest.MakeBoard(t, s.Store, "b", leaderboard.Rules{Policy: leaderboard.PolicyLatest, Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedTop}})
		for i, m := range []string{"scarlett", "seen", "mover"} {
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", m, int64(10-i))); err != nil {
				t.Fatal(err)
			}
		}
		notice := func() {
			t.Helper()
			for range 3 {
				if err := s.notices.Notice(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		notice()
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "mover", 50)); err != nil {
			t.Fatal(err)
		}
		notice()
		read := func() (members []string) {
			t.Helper()
			events := dbtest.Events(t, db)
			for i := range events {
				members = append(members, passedOf(t, &events[i]).Data.Member)
			}
			slices.Sort(members)
			return members
		}
		if got, want := read(), []string{"scarlett", "seen"}; !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("told %q, want %q", got, want)
		}
		if _, err := s.Erasures.Forget(t.Context(), "scarlett", "boss"); err != nil {
			t.Fatal(err)
		}
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := read(); !slices.Equal(got, []string{"seen"}) {
			t.Errorf("after the erasure %q are told", got)
		}
		dbtest.CheckForgotten(t, db, "scarlett")
	})
}

// backUp copies all tables, and returns a function that puts the copies in the place of the tables at once, as docs/operating.md does.
func backUp(t *testing.T, db *sql.DB) (restore func()) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var renames []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		dbtest.MustExec(t, db, "CREATE TABLE `backup_"+name+"` LIKE `"+name+"`")
		dbtest.MustExec(t, db, "INSERT INTO `backup_"+name+"` SELECT * FROM `"+name+"`")
		renames = append(renames, "`"+name+"` TO `lost_"+name+"`", "`backup_"+name+"` TO `"+name+"`")
	}
	if err := rows.Err(); err != nil || len(renames) == 0 {
		t.Fatal(err, renames)
	}
	return func() {
		t.Helper()
		dbtest.MustExec(t, db, "RENAME TABLE "+strings.Join(renames, ", "))
	}
}

// TestNoticesAfterRestore: after a restore, passes in the backup without a notice get one under their old id, lost passes
// get no other notice, and each change since gets one, even if it has the seq of a lost change; whether the log was being
// read during the restore or not (promise B9).
func TestNoticesAfterRestore(t *testing.T) {
	t.Parallel()
	for _, reading := range []bool{false, true} {
		t.Run(fmt.Sprint("reading ", reading), func(t *testing.T) {
			t.Parallel()
			dbtest.Dialects(t, func(t *testing.T, dsn string) { noticesAfterRestore(t, dsn, reading) })
		})
	}
}

func noticesAfterRestore(t *testing.T, dsn string, reading bool) {
	t.Helper()
	var atRead func() // when the log has been read, before the findings are entered
	s := open(t, dsn, nil)
	s.notices = notices.NewFolder(s.Database(), s.Boards, func(name string) {
		if name == "notices-read" && atRead != nil {
			atRead()
		}
	})
	db := dbtest.Connect(t, dsn)
	e := dbtest.Listen(t, dsn, "e", leaderboard.EventKindMemberPassed)
	dbtest.MakeBoard(t, s.Store, "b", leaderboard.Rules{Policy: leaderboard.PolicyLatest, Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedTop, Within: leaderboard.MaxNotifyWithin}})
	submit := func(member string, score int) {
		t.Helper()
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", member, int64(score))); err != nil {
			t.Fatal(err)
		}
	}
	const pairs = 6
	for n := range pairs { // all have entries in the backup
		submit(fmt.Sprint("passed-", n), 10*n+5)
		submit(fmt.Sprint("mover-", n), 10*n)
	}
	pass := func(n int) { t.Helper(); submit(fmt.Sprint("mover-", n), 10*n+7) }
	ids := map[string]map[string]bool{} // by who was passed
	notice := func() {
		t.Helper()
		for range 6 { // a round on a busy machine leaves some boards to the next
			if err := s.notices.Notice(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, event := range e.Heard(t) {
			told := passedOf(t, &event)
			if ids[told.Data.Member] == nil {
				ids[told.Data.Member] = map[string]bool{}
			}
			ids[told.Data.Member][event.ID] = true
		}
	}
	want := map[string]int{"passed-0": 1, "passed-2": 1, "passed-3": 1, "passed-4": 1} // not of the lost pass of 1, unless its notice was sent before
	notice()
	pass(0)
	notice()
	if !reading {
		pass(2) // without a notice when the backup was made
	}
	restore := backUp(t, db)
	if reading {
		atRead = func() { atRead = nil; restore() }
		pass(1)
		notice()
		pass(2)
	} else {
		notice()
		pass(1)
		notice()
		want["passed-1"] = 1
		restore()
	}
	pass(3) // at the seq of a change that was lost
	notice()
	pass(4)
	notice()
	got := map[string]int{}
	for member, of := range ids {
		got[member] = len(of)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("told under so many ids: %v, want %v", got, want)
	}
	if n := dbtest.Count(t, db, "outbox o JOIN outbox_members m ON m.event_id = o.id WHERE o.kind = 'member.passed' AND m.member = 'passed-1'"); n > 0 {
		t.Errorf("%d notices of a change that was lost are in the restored database", n)
	}
	if atRead != nil {
		t.Error("the log was not read: the test tells nothing")
	}
}

// TestNoticesOfReopened: while the clock is a day ahead the period ends and the next one is read; when it is right again,
// the first period is open again, and each of its changes gets a notice, changes before the leap under their old ids; then
// reading the next period continues (promise B9).
func TestNoticesOfReopened(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		const day = int64(24 * time.Hour)
		base := int64(time.Until(time.Now().UTC().Truncate(24 * time.Hour).Add(24*time.Hour + time.Minute))) // a day has just begun
		var ahead atomic.Int64
		ahead.Store(base)
		s := open(t, dsn, dbtest.ClockBy(&ahead))
		e := dbtest.Listen(t, dsn, "e", leaderboard.EventKindMemberPassed)
		rules := leaderboard.Rules{
			Policy: leaderboard.PolicyLatest, Windows: []leaderboard.Window{leaderboard.WindowDay},
			Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedTop, Within: leaderboard.MaxNotifyWithin},
		}
		if _, _, err := s.Boards.PutBoard(t.Context(), "b", rules); err != nil {
			t.Fatal(err)
		}
		submit := func(member string, score int) {
			t.Helper()
			if r, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", member, int64(score))); err != nil || r.Results[0].Status != leaderboard.StatusApplied {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		pass := func(n int) {
			t.Helper()
			submit(fmt.Sprint("passed-", n), 10*n+5)
			submit(fmt.Sprint("mover-", n), 10*n)
			submit(fmt.Sprint("mover-", n), 10*n+7)
		}
		var got []string
		notice := func() {
			t.Helper()
			for _, told := range found(t, s, e) {
				got = append(got, told.Data.Member)
			}
		}
		submit("first", -1)
		notice()
		pass(0)
		notice()
		pass(1)
		ahead.Add(day)
		pass(2)  // in the next period
		notice() // nothing of pass(1), which is old by this clock
		ahead.Store(base)
		pass(3) // in the first one, which is open again
		if db := dbtest.Connect(t, dsn); dbtest.Count(t, db, "runs WHERE kind = 'reopen'") != 1 {
			t.Error("no period was opened again: the test tells nothing")
		}
		notice()
		pass(4)
		notice()
		ahead.Add(day)
		pass(5)
		notice()
		slices.Sort(got)
		if want := []string{"passed-0", "passed-1", "passed-2", "passed-3", "passed-4", "passed-5"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

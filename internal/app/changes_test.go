package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// admins returns a client with the key of an admin.
func admins(t *testing.T, a *testApp) *client.Client {
	t.Helper()
	c, err := client.New(a.URL, client.WithKey(apptest.AdminKey), client.WithMaxWait(apptest.MaxWait))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rebuilt is a second store of one board, of an export and the changes after it: periods, and in each the entries.
type rebuilt struct {
	entries map[string]map[string]client.ChangedEntry
	cursor  string
	seq     map[string]int64
}

// exported begins a second store.
func exported(t *testing.T, c *client.Client, board, period string) *rebuilt {
	t.Helper()
	export, err := c.Export(t.Context(), board, client.FormatJSONL, client.ExportQuery{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rebuilt{entries: map[string]map[string]client.ChangedEntry{period: {}}, cursor: export.Cursor, seq: map[string]int64{period: export.Seq}}
	for e, err := range export.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		r.entries[period][e.Member] = client.ChangedEntry{Score: e.Score, Tiebreak: e.Tiebreak, Fields: e.Fields, CreatedTime: e.CreatedTime}
	}
	return r
}

func same(a, b client.ChangedEntry) bool {
	return a.Score == b.Score && a.Tiebreak == b.Tiebreak && a.CreatedTime.Equal(b.CreatedTime) && slices.Equal(a.Fields, b.Fields)
}

// apply applies a change, which must follow the one before it and begin from the entries that the store has.
func (r *rebuilt) apply(c client.Change) error {
	r.cursor = cmp.Or(c.Cursor, r.cursor)
	if c.End {
		return nil
	}
	if c.Seq != r.seq[c.Period]+1 {
		return fmt.Errorf("seq %d of %s comes after %d", c.Seq, c.Period, r.seq[c.Period])
	}
	if r.entries[c.Period] == nil {
		r.entries[c.Period] = map[string]client.ChangedEntry{}
	}
	held, ok := r.entries[c.Period][c.Member]
	if ok != (c.Before != nil) || ok && !same(held, *c.Before) {
		return fmt.Errorf("change %d of %s begins from %+v, there is %+v", c.Seq, c.Member, c.Before, held)
	}
	r.seq[c.Period] = c.Seq
	if delete(r.entries[c.Period], c.Member); c.After != nil {
		r.entries[c.Period][c.Member] = *c.After
	}
	return nil
}

// catchUp applies one answer of the feed.
func (r *rebuilt) catchUp(ctx context.Context, c *client.Client, board string, wait time.Duration, limit int) error {
	page, err := c.Changes(ctx, board, client.ChangesQuery{After: r.cursor, Wait: wait, Limit: limit})
	if err != nil {
		return err
	}
	for _, change := range page.Changes {
		if err := r.apply(change); err != nil {
			return err
		}
	}
	r.cursor = page.Cursor
	return nil
}

// equals compares a period with an export of it.
func (r *rebuilt) equals(t *testing.T, c *client.Client, board, period string) {
	t.Helper()
	n := 0
	for e, err := range c.ExportEntries(t.Context(), board, client.ExportQuery{Period: period}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if got, ok := r.entries[period][e.Member]; !ok || !same(got, client.ChangedEntry{Score: e.Score, Tiebreak: e.Tiebreak, Fields: e.Fields, CreatedTime: e.CreatedTime}) {
			t.Errorf("%s: %s is %+v, want %+v", period, e.Member, got, e)
		}
	}
	if n != len(r.entries[period]) {
		t.Errorf("%s: %d entries, want %d", period, len(r.entries[period]), n)
	}
}

// TestFeedFromOtherServer: a request that waits at the feed of one server gets the commits of another: submissions, removals,
// hidden, restored and erased members. A server that stops answers requests that wait.
func TestFeedFromOtherServer(t *testing.T) { onDatabases(t, feedFromOtherServer) }

func feedFromOtherServer(t *testing.T, dsn string) {
	t.Helper()
	servers := pairOn(t, dsn, testenv.Redis(t))
	writer, reader := servers[0], servers[1]
	w, c := admins(t, writer), admins(t, reader)
	ctx, cancel := context.WithTimeout(t.Context(), apptest.MaxWait)
	defer cancel()
	writer.Ask(201, "PUT", "/v1/boards/feed", `{"tiebreak":{"fields":[{"name":"level","bits":20,"order":"desc"}]},"order":"asc"}`)
	second := exported(t, c, "feed", "all_time")
	seen := make(chan client.Change)
	ended := make(chan error, 1)
	go func() {
		for change, err := range c.Follow(ctx, "feed", client.ChangesQuery{After: second.cursor}) {
			if err != nil {
				ended <- err
				return
			}
			seen <- change
		}
	}()
	next := func(want string) {
		t.Helper()
		select {
		case change := <-seen:
			if err := second.apply(change); err != nil {
				t.Error(err)
			}
			score := func(e *client.ChangedEntry) string {
				if e == nil {
					return "-"
				}
				return fmt.Sprint(e.Score, " ", e.Fields)
			}
			if got := change.Member + " " + score(change.Before) + " > " + score(change.After); got != want {
				t.Errorf("change %s, want %s", got, want)
			}
		case err := <-ended:
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	submitted := func(member string, score, level int64) {
		t.Helper()
		_, err := w.Submit(ctx, "feed", []leaderboard.Submission{{Member: member, Score: score, Fields: map[string]int64{"level": level}}})
		must(err)
	}
	submitted("ada", 30, 1)
	next("ada - > 30 level:1")
	submitted("ada", 20, 2)
	next("ada 30 level:1 > 20 level:2")
	submitted("bob", 10, 3)
	next("bob - > 10 level:3")
	_, err := w.HideMember(ctx, "feed", "bob", "aimbot", client.HideOptions{})
	must(err)
	next("bob 10 level:3 > -")
	submitted("bob", 9, 3) // to the hidden entry
	must(w.RestoreMember(ctx, "feed", "bob", "", client.HideOptions{}))
	next("bob - > 9 level:3")
	_, err = w.ForgetMember(ctx, "bob")
	must(err)
	next("bob 9 level:3 > -")
	writer.Ask(200, "DELETE", "/v1/boards/feed/members/ada", "")
	next("ada 20 level:2 > -")
	submitted("cid", 1, 1)
	next("cid - > 1 level:1")
	second.equals(t, w, "feed", "all_time")
	reader.stop()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) && !errors.Is(err, syscall.ECONNREFUSED) { // by which of the two is a matter of time
		t.Errorf("the feed ended with %v", err)
	}
}

// TestFeedOverTheTurn: with writers of two servers at the turn of an hour each period ends after its last change, and the second
// store is equal in both.
func TestFeedOverTheTurn(t *testing.T) { onDatabases(t, feedOverTheTurn) }

func feedOverTheTurn(t *testing.T, dsn string) {
	t.Helper()
	var ahead atomic.Int64
	hour := time.Now().Truncate(time.Hour)
	ahead.Store(int64(time.Until(hour.Add(30 * time.Minute))))
	shift := func(c *Config) {
		c.clock = dbtest.ClockAhead(func() time.Duration { return time.Duration(ahead.Load()) })
	}
	servers := []*testApp{startReady(t, dsn, "", shift), startReady(t, dsn, "", shift)}
	servers[0].Ask(201, "PUT", "/v1/boards/feed", `{"windows":["hour"],"policy":"latest"}`)
	c := admins(t, servers[1])
	ctx, cancel := context.WithTimeout(t.Context(), apptest.MaxWait)
	defer cancel()
	period := func() string {
		page, err := c.Top(ctx, "feed", client.TopQuery{})
		if err != nil {
			t.Fatal(err)
		}
		return page.Period
	}
	first := period()
	second := exported(t, c, "feed", first)
	// The clock runs into the next hour. A jump would leave statements under way with the clock before it, which would write to
	// the period that others have closed.
	ahead.Store(int64(time.Until(hour.Add(time.Hour - 3*time.Second))))
	var writers sync.WaitGroup
	stop := make(chan struct{})
	for i, a := range servers {
		w := admins(t, a)
		writers.Go(func() {
			for n := int64(0); ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := w.Submit(ctx, "feed", []leaderboard.Submission{{Member: fmt.Sprintf("m%d", n%20), Score: n*2 + int64(i)}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	ends := 0
	for ends == 0 || second.seq[period()] < 40 {
		page, err := c.Changes(ctx, "feed", client.ChangesQuery{After: second.cursor, Wait: 30 * time.Second, Limit: 7})
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range page.Changes {
			if err := second.apply(change); err != nil {
				t.Fatal(err)
			}
			if change.End {
				ends++
			} else if ends > 0 && change.Period == first {
				t.Fatalf("change %d of %s comes after its end", change.Seq, first)
			}
		}
	}
	close(stop)
	writers.Wait()
	for now := period(); ; {
		before := second.cursor
		if err := second.catchUp(ctx, c, "feed", 0, 0); err != nil {
			t.Fatal(err)
		}
		if before == second.cursor {
			second.equals(t, c, "feed", first)
			second.equals(t, c, "feed", now)
			break
		}
	}
	if ends != 1 {
		t.Errorf("%d ends", ends)
	}
}

// TestFeedNoticesRestore: a follower gets an error after the database was restored to an earlier moment or replaced by an old
// dump, also if other changes have since brought the database to the same seq, and if the follower was at the beginning of a
// period.
func TestFeedNoticesRestore(t *testing.T) { onDatabases(t, feedNoticesRestore) }

func feedNoticesRestore(t *testing.T, dsn string) {
	t.Helper()
	servers := pairOn(t, dsn, testenv.Redis(t))
	a := servers[0]
	old := dump(t, dsn) // without the board
	a.Ask(201, "PUT", "/v1/boards/feed", `{}`)
	submitTo := func(score int) {
		t.Helper()
		a.Ask(200, "POST", "/v1/boards/feed/scores", fmt.Sprintf(`{"entries":[{"member":"ada","score":%d}]}`, score))
	}
	submitTo(1)
	c := admins(t, servers[1])
	common := exported(t, c, "feed", "all_time")
	backup := dump(t, dsn)
	submitTo(2)
	submitTo(3)
	lost := exported(t, c, "feed", "all_time")
	waiting := make(chan error, 1)
	go func() { waiting <- lost.catchUp(t.Context(), c, "feed", time.Minute, 0) }()
	backup.restore(t, dsn)
	if err := <-waiting; !errors.Is(err, leaderboard.ErrIncarnationChanged) {
		t.Errorf("a follower that waited over the restore: %v", err)
	}
	changed := func(what, cursor string) {
		t.Helper()
		for _, s := range servers {
			_, err := admins(t, s).Changes(t.Context(), "feed", client.ChangesQuery{After: cursor})
			if !errors.Is(err, leaderboard.ErrIncarnationChanged) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	changed("ahead of the database", lost.cursor)
	submitTo(20)
	changed("still ahead", lost.cursor)
	submitTo(30)
	changed("at the same seq", lost.cursor)
	a.Ask(200, "POST", "/v1/boards/feed/scores", `{"entries":[{"member":"bob","score":1},{"member":"cid","score":1}]}`)
	changed("behind another way", lost.cursor)
	for range 2 { // a cursor of the history that both share stays good
		if err := common.catchUp(t.Context(), c, "feed", 0, 0); err != nil {
			t.Error(err)
		}
	}
	common.equals(t, c, "feed", "all_time")
	old.restore(t, dsn)
	a.Ask(201, "PUT", "/v1/boards/feed", `{}`)
	for range 9 {
		submitTo(rand.IntN(1000) + 1000)
	}
	apptest.Eventually(t, func() string { // another server knows the names of boards for a moment
		_, err := c.Changes(t.Context(), "feed", client.ChangesQuery{After: common.cursor})
		if !errors.Is(err, leaderboard.ErrIncarnationChanged) {
			return fmt.Sprintf("after the old dump: %v", err)
		}
		return ""
	})
}

// TestFeedRebuildsTheBoard: a second store is equal to the database at random seqs, although its program is killed again and again
// and restarts from the state that it kept with its last cursor. Each state is compared with an export, while two servers write
// (promise B8).
func TestFeedRebuildsTheBoard(t *testing.T) { onDatabases(t, feedRebuildsTheBoard) }

func feedRebuildsTheBoard(t *testing.T, dsn string) {
	t.Helper()
	servers := pairOn(t, dsn, testenv.Redis(t))
	servers[0].Ask(201, "PUT", "/v1/boards/feed", `{"policy":"latest"}`)
	c := admins(t, servers[1])
	kept := exported(t, c, "feed", "all_time")
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i, a := range servers {
		w := admins(t, a)
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				entries := make([]leaderboard.Submission, 1+rand.IntN(20))
				for j := range entries {
					entries[j] = leaderboard.Submission{Member: fmt.Sprintf("m%d", rand.IntN(50)), Score: rand.Int64N(1000)}
				}
				_, err := w.Submit(t.Context(), "feed", entries)
				if err == nil && i == 0 && n%20 == 7 {
					_, err = w.HideMember(t.Context(), "feed", "m1", "test", client.HideOptions{})
				} else if err == nil && i == 0 && n%20 == 17 {
					err = w.RestoreMember(t.Context(), "feed", "m1", "", client.HideOptions{})
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	defer writers.Wait()
	defer close(stop)
	running, kills := kept.copy(), 0
	for range testenv.Size(20, 1000) {
		want := exported(t, c, "feed", "all_time")
		for seq := want.seq["all_time"]; running.seq["all_time"] < seq; {
			behind := int(seq - running.seq["all_time"])
			if err := running.catchUp(t.Context(), c, "feed", time.Minute, 1+rand.IntN(behind)); err != nil {
				t.Fatal(err)
			}
			switch rand.IntN(4) {
			case 0:
				running, kills = kept.copy(), kills+1
			case 1:
				kept = running.copy()
			}
		}
		if !maps.EqualFunc(running.entries["all_time"], want.entries["all_time"], same) || running.seq["all_time"] != want.seq["all_time"] {
			t.Fatalf("at seq %d the second store is another than the database", want.seq["all_time"])
		}
	}
	t.Logf("%d kills, %d changes", kills, running.seq["all_time"])
}

// copy returns an independent copy of the store, like a store that is read from a disk.
func (r *rebuilt) copy() *rebuilt {
	out := &rebuilt{entries: map[string]map[string]client.ChangedEntry{}, cursor: r.cursor, seq: maps.Clone(r.seq)}
	for period, entries := range r.entries {
		out.entries[period] = maps.Clone(entries)
	}
	return out
}

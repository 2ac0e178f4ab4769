package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"testing"

	"leaderboard"
	"leaderboard/store"
)

// aheadRows is how many entries a batch of these tests takes: enough to be read ahead.
const aheadRows = 120

// aheadRace is two servers, of which the first has read ahead for a batch that waits, and not yet locked the board for it.
type aheadRace struct {
	t       *testing.T
	dsn     string
	db      *sql.DB
	servers [2]*store.Store
	ref     leaderboard.PeriodRef
	release func()              // lets the first server go on
	errs    [2]chan error       // of the batch under way, and of the one that was read ahead for
	receipt leaderboard.Receipt // of the latter
}

// newAheadRace brings it about that the first server reads ahead for waits: a batch before it is kept from finishing by
// somebody who holds a row that it writes. That row is not in waits.
func newAheadRace(t *testing.T, dsn string, policy leaderboard.Policy, waits leaderboard.SubmitRequest, prepare func(*store.Store)) *aheadRace {
	r := &aheadRace{t: t, dsn: dsn, db: connect(t, dsn)}
	for i := range r.servers {
		r.servers[i] = open(t, dsn, func(c *store.Config) { c.BatchRows = aheadRows })
	}
	s := r.servers[0]
	r.ref = makeBoard(t, s, "b", leaderboard.Rules{Policy: policy})
	prepare(s)
	for _, member := range []string{"row-first", "row-second"} {
		submitted(t, one("b", "", member, 1))(s)
	}
	const held = "SELECT member FROM entries WHERE period_id = ? AND member = ? FOR UPDATE"
	first := hold(t, dsn, held, r.ref.ID, "row-first")
	r.release = hold(t, dsn, held, r.ref.ID, "row-second")
	start := func(req leaderboard.SubmitRequest, receipt *leaderboard.Receipt) chan error {
		done := make(chan error, 1)
		go func() {
			var err error
			*receipt, err = s.Submit(context.Background(), req)
			done <- err
		}()
		return done
	}
	writing := start(one("b", "", "row-first", 2), new(leaderboard.Receipt))
	eventually(t, "the first batch writes", func() bool { return r.writes() == 1 })
	second := entriesOf("b", aheadRows-1)
	for i := range second.Entries {
		second.Entries[i].Member = fmt.Sprint("second-", i)
	}
	second.Entries = append(second.Entries, one("b", "", "row-second", 2).Entries...)
	r.errs[0] = start(second, new(leaderboard.Receipt))
	eventually(t, "the second batch waits", func() bool { n, _ := s.Waiting("b"); return n == 1 })
	r.errs[1] = start(waits, &r.receipt)
	eventually(t, "the third batch waits", func() bool { n, _ := s.Waiting("b"); return n == 2 })
	first()
	if err := await(t, "the first batch", writing); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is read ahead for the third batch", func() bool { read, _ := s.Ahead(); return read == 1 })
	eventually(t, "the second batch writes", func() bool { return r.writes() == 1 })
	return r
}

// writes returns how many servers are writing entries.
func (r *aheadRace) writes() int { return waiting(r.t, r.db, "INSERT INTO entries") }

// between has the second server do something that waits for the board, which it then gets before the first one's next
// batch does, and lets both go on.
func (r *aheadRace) between(do func(s *store.Store) error) {
	r.t.Helper()
	done := make(chan error, 1)
	go func() { done <- do(r.servers[1]) }()
	eventually(r.t, "the second server waits for the board", func() bool { return waiting(r.t, r.db, "boards", "FOR UPDATE") > 0 })
	r.release()
	if err := await(r.t, "the second server", done); err != nil {
		r.t.Error(err)
	}
	r.finish()
}

// finish waits for the batches.
func (r *aheadRace) finish() {
	r.t.Helper()
	for _, errs := range r.errs {
		if err := await(r.t, "a batch", errs); err != nil {
			r.t.Error(err)
		}
	}
}

// wantUsed checks how often what the first server read ahead was of use.
func (r *aheadRace) wantUsed(want int64) {
	r.t.Helper()
	if _, used := r.servers[0].Ahead(); used != want {
		r.t.Errorf("of use %d times, want %d", used, want)
	}
}

func (r *aheadRace) want(member string, score int64) {
	r.t.Helper()
	if got := scoreOf(r.t, r.servers[1], r.ref, member); got != score {
		r.t.Errorf("%s has %d, want %d", member, got, score)
	}
}

// TestReadAhead: what was read while the batch before was under way is brought to its state by what that batch wrote,
// of members who had no entry before, too (promise A1).
func TestReadAhead(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		waits := entriesOf("b", aheadRows-4)
		for i, m := range []string{"second-0", "second-1", "second-1", "row-second"} {
			waits.Entries = append(waits.Entries, leaderboard.Submission{Member: m, Score: 10 + int64(i)})
		}
		r := newAheadRace(t, dsn, leaderboard.PolicySum, waits, submitted(t, entriesOf("b", 3)))
		r.release()
		r.finish()
		for member, score := range map[string]int64{"m0": 2, "m3": 1, "second-0": 11, "second-1": 24, "second-2": 1, "row-second": 16} {
			r.want(member, score)
		}
		r.wantUsed(1)
	})
}

// TestReadAheadKey: a request whose key another server commits between the reading ahead and the lock, with nothing
// changed, is the repetition of that one (promise A3).
func TestReadAheadKey(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		waits := entriesOf("b", aheadRows)
		r := newAheadRace(t, dsn, leaderboard.PolicyBest, leaderboard.SubmitRequest{Board: "b", Key: "the same", Entries: waits.Entries}, submitted(t, waits))
		var other leaderboard.Receipt
		r.between(func(s *store.Store) (err error) {
			other, err = s.Submit(context.Background(), leaderboard.SubmitRequest{Board: "b", Key: "the same", Entries: waits.Entries})
			return err
		})
		if !reflect.DeepEqual(r.receipt, other) {
			t.Errorf("one server said %+v, the other %+v", r.receipt, other)
		}
		r.wantUsed(1) // nothing was changed
	})
}

// TestReadAheadHidden: a member whom another server hides between the reading ahead and the lock gets the sum among the
// hidden entries, and is not seen.
func TestReadAheadHidden(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		r := newAheadRace(t, dsn, leaderboard.PolicySum, entriesOf("b", aheadRows), func(s *store.Store) {
			submitted(t, entriesOf("b", 1))(s)
			if _, err := s.Hide(t.Context(), ban("b", "another")); err != nil {
				t.Fatal(err)
			}
		})
		r.between(func(s *store.Store) error {
			_, err := s.Hide(context.Background(), ban("b", "m0"))
			return err
		})
		r.want("m0", -1)
		r.want("m1", 1)
		r.wantUsed(1) // nothing that is seen was changed
		commits, err := r.servers[1].Changes(t.Context(), r.ref.ID, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commits {
			for _, change := range c.Changes {
				if change.Member == "m0" && change.New != nil && change.Old != nil {
					t.Errorf("seen with %d though hidden", change.New.Score)
				}
			}
		}
		if err := r.servers[1].Restore(t.Context(), ban("b", "m0")); err != nil {
			t.Fatal(err)
		}
		r.want("m0", 2)
	})
}

// TestReadAheadOtherServer: entries that another server changes between the reading ahead and the lock are read again
// (promise A1).
func TestReadAheadOtherServer(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		r := newAheadRace(t, dsn, leaderboard.PolicySum, entriesOf("b", aheadRows), submitted(t, entriesOf("b", 3)))
		r.between(func(s *store.Store) error {
			_, err := s.Submit(context.Background(), one("b", "", "m0", 100))
			return err
		})
		for member, score := range map[string]int64{"m0": 102, "m1": 2, "m3": 1, "m119": 1} {
			r.want(member, score)
		}
		r.wantUsed(0)
	})
}

// TestReadAheadRules: rules that another server changes between the reading ahead and the lock hold.
func TestReadAheadRules(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		r := newAheadRace(t, dsn, leaderboard.PolicySum, entriesOf("b", aheadRows), submitted(t, entriesOf("b", 1)))
		most := int64(1)
		r.between(func(s *store.Store) error {
			_, _, err := s.PutBoard(context.Background(), "b", leaderboard.Rules{Policy: leaderboard.PolicySum, Limits: leaderboard.Limits{MaxScore: &most}})
			return err
		})
		r.want("m0", 1)
		r.want("m1", 1)
		r.wantUsed(0)
	})
}

// submitted returns what submits a request.
func submitted(t *testing.T, req leaderboard.SubmitRequest) func(*store.Store) {
	return func(s *store.Store) {
		if _, err := s.Submit(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
}

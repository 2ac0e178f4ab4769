package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"leaderboard/leaderboard"
)

// temporaryTTL is how long the temporary keys of a dead builder live at most (the default of topn.Options).
const temporaryTTL = time.Minute

// deathCase is a point at which a builder dies.
type deathCase struct {
	point     string
	temporary bool // keys are left behind
	published bool
	inPlace   bool // there is a copy before
}

func deathCases() []deathCase {
	var all []deathCase
	for _, inPlace := range []bool{true, false} {
		all = append(
			all,
			deathCase{point: "locked", inPlace: inPlace},
			deathCase{point: "snapshot", inPlace: inPlace},
			deathCase{point: "chunk", temporary: true, inPlace: inPlace},
			deathCase{point: "before-publish", temporary: true, inPlace: inPlace},
			deathCase{point: "published", published: true, inPlace: inPlace},
		)
	}
	return all
}

// TestKilledAtEveryPoint kills builders at each named point of a build, with a copy in place and without one. Readers
// never see a part of a copy, the keys that dead builders leave in Redis expire, and the next builders can build (promises B3,
// C4).
func TestKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve(t, "server")
	cases, rankings := deathCases(), map[string]ranking{}
	for _, c := range cases {
		rankings[c.board()] = s.fill(t, c.board(), 2500, leaderboard.Rules{TopN: 2000})
		if c.inPlace {
			s.mustRebuild(t, c.board())
		}
	}
	var readers []*readers
	for _, c := range cases {
		readers = append(readers, w.killBuilder(t, s, c, rankings[c.board()]))
	}
	var all sync.WaitGroup
	for _, c := range cases {
		all.Go(func() { // each waits for the end of a lease
			// A reader that needs a copy may have begun one a moment before, which the request then shares.
			if r, err := s.rebuild(t.Context(), c.board()); err != nil || r.State != "done" && r.State != "shared" {
				t.Errorf("the next build of %s is %+v, %v", c.board(), r, err)
			}
		})
	}
	all.Wait()
	for i, c := range cases {
		readers[i].awaitMore(t, 20)
		readers[i].check(t)
		if v, err := s.verify(t.Context(), c.board()); err != nil || v.Checked < 2000 {
			t.Errorf("the copy of %s: %+v, %v", c.board(), v, err)
		}
	}
}

func (c *deathCase) board() string { return fmt.Sprintf("%s-%t", c.point, c.inPlace) }

// killBuilder kills a builder at the point of c and checks the remaining keys. The readers that it returns continue.
func (w *world) killBuilder(t *testing.T, s *server, c deathCase, want ranking) (r *readers) {
	t.Helper()
	const pace = 5 * time.Millisecond
	board := c.board()
	if c.inPlace {
		r = read(t, 1, pace, board, want, s)
	}
	period := w.periodOf(t, board)
	watch := w.watchTemporaryKeys(t, period)
	w.builder(t, board, "kill:"+c.point).awaitKilled(t)
	watch.check(t)
	w.checkRemains(t, period, c)
	if !c.inPlace { // earlier, readers would have had the copy built themselves
		r = read(t, 1, pace, board, want, s)
	}
	r.awaitMore(t, 2) // without a copy each of them waits a little for the build, then MySQL answers
	return r
}

// checkRemains checks the keys that a dead builder has left in Redis.
func (w *world) checkRemains(t *testing.T, period int64, c deathCase) {
	t.Helper()
	n, shortest, longest, err := w.temporaryKeys(t.Context(), period)
	if err != nil {
		t.Fatal(err)
	}
	if (n > 0) != c.temporary {
		t.Errorf("%+v: the dead builder left %d temporary keys", c, n)
	}
	if n > 0 && (shortest <= 0 || longest > temporaryTTL.Milliseconds()) {
		t.Errorf("%+v: %d temporary keys live for %d to %d ms more, want at most %s", c, n, shortest, longest, temporaryTTL)
	}
	seq, err := w.copySeq(t.Context(), period)
	if err != nil || (seq != "") != (c.published || c.inPlace) {
		t.Errorf("%+v: the copy in place is at seq %q, %v", c, seq, err)
	}
}

// keyWatch watches the temporary keys of a period: each must have a time to live at all times.
type keyWatch struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
	err    error
}

func (w *world) watchTemporaryKeys(t *testing.T, period int64) *keyWatch {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	k := &keyWatch{cancel: cancel}
	k.wg.Go(func() {
		for ctx.Err() == nil {
			n, shortest, longest, err := w.temporaryKeys(ctx, period)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				k.err = err
				return
			case n > 0 && (shortest < 0 || longest > temporaryTTL.Milliseconds()):
				k.err = fmt.Errorf("they live for %d to %d ms more", shortest, longest)
				return
			}
		}
	})
	t.Cleanup(k.end)
	return k
}

func (k *keyWatch) end() {
	k.cancel()
	k.wg.Wait()
}

// check ends the watch. It may have seen no keys, since a build takes milliseconds.
func (k *keyWatch) check(t *testing.T) {
	t.Helper()
	k.end()
	if k.err != nil {
		t.Errorf("watching the temporary keys: %s", k.err)
	}
}

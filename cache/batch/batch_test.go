package batch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/internal/turn"
	"leaderboard/leaderboard"
)

// log is the record of the numbers that a batcher took; each number is its own size, and a batch takes a second. A
// negative number panics.
type log struct {
	mu           sync.Mutex
	batches      [][]int
	inside, most int
	refused      int
	took         time.Duration
}

func (l *log) batcher(o Options) *Batcher[string, int, int] {
	o.Size = 10
	o.OnRefused = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refused++
	}
	if l.took == 0 {
		l.took = time.Second
	}
	return New(o, func(n int) int { return max(n, -n) }, l.run)
}

func (l *log) run(_ context.Context, _ string, batch []int, answers []Answer[int]) error {
	l.mu.Lock()
	l.batches = append(l.batches, append([]int{}, batch...))
	l.inside++
	l.most = max(l.most, l.inside)
	took := l.took
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.inside--
	}()
	time.Sleep(took)
	for i, n := range batch {
		if n < 0 {
			panic("ouch")
		}
		if answers[i].Value = n * n; n == 13 {
			answers[i].Err = errors.New("thirteen")
		}
	}
	return nil
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprint(l.batches)
}

// slowBy sets how long the next batches take.
func (l *log) slowBy(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = d
}

// rejections returns how many questions were refused, and peak how many batches were under way at once, at most.
func (l *log) rejections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

func (l *log) peak() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.most
}

// rests reports whether nothing is left, and all slots are free.
func (b *Batcher[K, Q, V]) rests() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.line) == 0 && len(b.under) == 0 && len(b.open) == 0 && len(b.last) == 0 && b.free == b.opts.Slots
}

// asking asks for numbers in turn and collects errors. Each number is in line or under way before the next comes.
type asking struct {
	mu   sync.Mutex
	errs map[int]error
}

// all returns the errors so far.
func (a *asking) all() map[int]error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.errs)
}

func (a *asking) query(t *testing.T, ctx context.Context, b *Batcher[string, int, int], key string, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		go func() {
			got, err := b.Do(ctx, key, n)
			if err == nil && got != n*n {
				t.Errorf("%d got %d", n, got)
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.errs == nil {
				a.errs = map[int]error{}
			}
			a.errs[n] = err
		}()
		synctest.Wait()
	}
}

// pass lets time pass, and everybody does the work that is due then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestCollectsWhileSlotsAreTaken: a question that finds a free slot is sent at once; the rest is sent together in the order
// of arrival, in batches of bounded size, in the order in which they were opened.
func TestCollectsWhileSlotsAreTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l log
		var a asking
		b := l.batcher(Options{Slots: 2})
		a.query(t, t.Context(), b, "k", 1)
		pass(500 * time.Millisecond)
		a.query(t, t.Context(), b, "k", 2, 3, 4, 13, 5)
		a.query(t, t.Context(), b, "other", 6)
		if got := l.String(); got != "[[1] [2]]" || b.Waiting() != 5 {
			t.Errorf("batches %s, %d wait", got, b.Waiting())
		}
		pass(5 * time.Second)
		const want = "[[1] [2] [3 4] [13] [5] [6]]"
		if l.String() != want || l.peak() != 2 || l.rejections() > 0 || !b.rests() {
			t.Errorf("batches %s, %d at once, %d refused; want %s", &l, l.peak(), l.rejections(), want)
		}
		for n, err := range a.all() {
			if (err != nil) != (n == 13) {
				t.Errorf("%d: %v", n, err)
			}
		}
	})
}

// TestOvertakingBatchesWait: when a batch overtakes another of the same key, its answers come after the other's, but at
// latest after twice its own time.
func TestOvertakingBatchesWait(t *testing.T) {
	t.Parallel()
	for first, want := range map[time.Duration]string{
		1500 * time.Millisecond: "1500ms after 1.5s, 1000ms after 1.5s",
		4 * time.Second:         "1000ms after 2.1s, 4000ms after 4s",
	} {
		synctest.Test(t, func(t *testing.T) {
			b := New(Options{Slots: 2}, func(time.Duration) int { return 1 },
				func(_ context.Context, _ string, batch []time.Duration, _ []Answer[int]) error {
					time.Sleep(batch[0])
					return nil
				})
			begin := time.Now()
			var mu sync.Mutex
			var came []string
			ask := func(d time.Duration) {
				if _, err := b.Do(t.Context(), "k", d); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				came = append(came, fmt.Sprintf("%dms after %s", d.Milliseconds(), time.Since(begin)))
			}
			go ask(first)
			pass(100 * time.Millisecond)
			go ask(time.Second)
			pass(5 * time.Second)
			slices.Sort(came) // two may come in the same moment
			mu.Lock()
			defer mu.Unlock()
			wanted := strings.Split(want, ", ")
			slices.Sort(wanted)
			if !slices.Equal(came, wanted) {
				t.Errorf("%v, want %v", came, wanted)
			}
		})
	}
}

// TestRefusesByTime: a question that would wait too long by the recent times of batches is refused at once; a question
// admitted on a wrong estimate is refused when its time is over; a question that joins a waiting batch is admitted
// (promise E5).
func TestRefusesByTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l log
		var a asking
		b := l.batcher(Options{Slots: 1, Wait: 2500 * time.Millisecond})
		a.query(t, t.Context(), b, "k", 1) // from now on a batch is known to take a second
		pass(time.Second)
		a.query(t, t.Context(), b, "k", 10, 10, 9)
		start := time.Now()
		if _, err := b.Do(t.Context(), "k", 10); !errors.Is(err, leaderboard.ErrOverloaded) || time.Since(start) > 0 {
			t.Errorf("%v after %s, want a refusal at once", err, time.Since(start))
		}
		a.query(t, t.Context(), b, "k", 1)
		if b.Waiting() != 3 || l.rejections() != 1 {
			t.Errorf("%d wait, %d were refused", b.Waiting(), l.rejections())
		}
		l.slowBy(2 * time.Second)
		pass(2600 * time.Millisecond) // the second batch takes longer, and the turn of the last one, opened for 9 and 1, would be after 3 s
		if l.rejections() != 3 || !errors.Is(a.all()[9], leaderboard.ErrOverloaded) || !errors.Is(a.all()[1], leaderboard.ErrOverloaded) {
			t.Errorf("%d refused, %v", l.rejections(), a.all())
		}
		pass(5 * time.Second)
		if l.String() != "[[1] [10] [10]]" || !b.rests() {
			t.Errorf("batches %s", &l)
		}
		a.query(t, t.Context(), b, "k", 2)
		pass(5 * time.Second)
		if l.String() != "[[1] [10] [10] [2]]" {
			t.Errorf("batches %s, though no caller waits", &l)
		}
	})
}

// TestRefusesWhileBatchesHang: while the database hangs, no question waits longer than Options.Wait, and once the
// batches under way have taken that long each question is refused at once; after the first answer questions are
// admitted again (promises E1, E5).
func TestRefusesWhileBatchesHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := log{took: 5 * time.Second}
		var a asking
		b := l.batcher(Options{Slots: 2, Wait: time.Second})
		a.query(t, t.Context(), b, "k", 1, 2)
		var late atomic.Int64
		for began := time.Now(); time.Since(began) < 4900*time.Millisecond; pass(100 * time.Millisecond) {
			go func() {
				asked := time.Now()
				_, err := b.Do(t.Context(), "k", 10)
				var busy *leaderboard.OverloadError
				if after := time.Since(asked); !errors.As(err, &busy) || busy.Wait < time.Second || after > time.Second || after > 0 && asked.Sub(began) > time.Second {
					t.Errorf("%v after %s, asked at %s", err, after, asked.Sub(began))
				}
				late.Add(1)
			}()
		}
		l.slowBy(10 * time.Millisecond)
		pass(time.Second)
		a.query(t, t.Context(), b, "k", 3)
		pass(time.Second)
		if err := a.all()[3]; err != nil || late.Load() != 49 || !b.rests() {
			t.Errorf("%v; %d were refused", err, late.Load())
		}
	})
}

// TestWaitingBatchesHandTheirSlotsOn: a batch, or work in Alone, that has to wait for something keeps no other from its slot, and
// knows until when (promise C7).
func TestWaitingBatchesHandTheirSlotsOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		waits := func(ctx context.Context) {
			until, ok := turn.Leave(ctx)
			if _, again := turn.Leave(ctx); !ok || !again || until != began.Add(time.Second) {
				t.Errorf("until %s, %t and %t", until.Sub(began), ok, again)
			}
			time.Sleep(3 * time.Second)
		}
		b := New(Options{Slots: 1, Wait: time.Second}, func(int) int { return 1 }, func(ctx context.Context, key string, batch []int, answers []Answer[int]) error {
			if key == "waits" {
				waits(ctx)
			}
			copy(answers, []Answer[int]{{Value: batch[0]}})
			return nil
		})
		var waiting sync.WaitGroup
		for i := range 20 {
			waiting.Go(func() {
				if got, err := b.Do(t.Context(), "waits", i); got != i || err != nil || time.Since(began) != 3*time.Second {
					t.Errorf("%d, %v after %s", got, err, time.Since(began))
				}
			})
			synctest.Wait()
		}
		waiting.Go(func() {
			_ = b.Alone(t.Context(), func(ctx context.Context) error { waits(ctx); return nil })
		})
		synctest.Wait()
		if got, err := b.Do(t.Context(), "quick", 7); got != 7 || err != nil || time.Since(began) > 0 {
			t.Errorf("%d, %v after %s", got, err, time.Since(began))
		}
		waiting.Wait()
		synctest.Wait()
		if b.took[together] > time.Second || !b.rests() {
			t.Errorf("a batch takes %s, it is said, though that was waiting", b.took[together])
		}
	})
}

// TestTurnsCountFromWhenTheyCame: time spent waiting for a slot counts against the time for later waits (promise C7).
func TestTurnsCountFromWhenTheyCame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		b := New(Options{Slots: 1, Wait: time.Second}, func(int) int { return 1 }, func(ctx context.Context, key string, _ []int, _ []Answer[int]) error {
			if key == "first" {
				time.Sleep(400 * time.Millisecond)
			} else if until, ok := turn.Leave(ctx); !ok || until != began.Add(time.Second) {
				t.Errorf("it may wait until %s, want a second after it came", until.Sub(began))
			}
			return nil
		})
		var waiting sync.WaitGroup
		for _, key := range []string{"first", "second"} {
			waiting.Go(func() {
				if _, err := b.Do(t.Context(), key, 1); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		waiting.Wait()
	})
}

// TestOneSlotWhileItIsLoaded: questions about a period that is being loaded have one slot, and other questions have the
// rest (promise C7).
func TestOneSlotWhileItIsLoaded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l log
		var a asking
		b := l.batcher(Options{Slots: 3})
		var loads atomic.Bool
		loads.Store(true)
		b.one = func(key string) bool { return loads.Load() && key == "k" }
		a.query(t, t.Context(), b, "k", 10, 9)
		a.query(t, t.Context(), b, "other", 8, 7)
		a.query(t, t.Context(), b, "k", 6)
		if l.String() != "[[10] [8] [7]]" {
			t.Errorf("batches %s", &l)
		}
		if pass(time.Second); l.String() != "[[10] [8] [7] [9]]" {
			t.Errorf("batches %s", &l)
		}
		loads.Store(false)
		if pass(5 * time.Second); l.String() != "[[10] [8] [7] [9] [6]]" || !b.rests() {
			t.Errorf("batches %s", &l)
		}
	})
}

// TestWhoHasLeftIsNotSent: neither a question of a batch nor a batch.
func TestWhoHasLeftIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l log
		var a asking
		b := l.batcher(Options{Slots: 1})
		impatient, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		a.query(t, t.Context(), b, "k", 1, 2)
		a.query(t, impatient, b, "k", 3)
		a.query(t, t.Context(), b, "k", 4)
		a.query(t, impatient, b, "other", 5)
		alone := make(chan error)
		go func() { alone <- b.Alone(impatient, func(context.Context) error { panic("not to be run") }) }()
		if err := <-alone; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("alone: %v", err)
		}
		pass(5 * time.Second)
		if l.String() != "[[1] [2 4]]" || !errors.Is(a.all()[3], context.DeadlineExceeded) || !b.rests() {
			t.Errorf("batches %s, errors %v", &l, a.all())
		}
		gone, leave := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Millisecond); leave() }()
		if _, err := b.Do(gone, "k", 6); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that leaves while its batch is under way gets %v", err)
		}
		pass(2 * time.Second)
		if !b.rests() {
			t.Error("a slot is lost")
		}
	})
}

// TestAloneTakesASlot: work that runs alone takes a slot, and waits for it in the same line.
func TestAloneTakesASlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l log
		var a asking
		b := l.batcher(Options{Slots: 1, Wait: 10 * time.Second})
		a.query(t, t.Context(), b, "k", 1, 2)
		started, start := time.Duration(0), time.Now()
		go func() {
			err := b.Alone(t.Context(), func(context.Context) error {
				started = time.Since(start)
				time.Sleep(8 * time.Second)
				return errors.New("enough")
			})
			if err == nil || err.Error() != "enough" {
				t.Errorf("alone: %v", err)
			}
		}()
		synctest.Wait()
		pass(2500 * time.Millisecond)
		if started != 2*time.Second {
			t.Errorf("began after %s, want after both batches", started)
		}
		a.query(t, t.Context(), b, "k", 3)
		pass(20 * time.Second)
		if l.String() != "[[1] [2] [3]]" || !b.rests() {
			t.Errorf("batches %s", &l)
		}
		if b.took[alone] != 8*time.Second || b.took[together] != time.Second {
			t.Errorf("averages %v, want those of each kind", b.took)
		}
	})
}

// TestSurvivesAPanic: a panic fails its batch and no other.
func TestSurvivesAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l log
		var a asking
		b := l.batcher(Options{Slots: 1})
		a.query(t, t.Context(), b, "k", 1, -2, 3, 4, 5)
		pass(5 * time.Second)
		for _, n := range []int{-2, 3, 4} {
			if err := a.all()[n]; err == nil || !strings.Contains(err.Error(), "ouch") {
				t.Errorf("%d failed with %v", n, err)
			}
		}
		if a.all()[1] != nil || a.all()[5] != nil || l.String() != "[[1] [-2 3 4] [5]]" || !b.rests() {
			t.Errorf("batches %s, errors %v", &l, a.all())
		}
	})
}

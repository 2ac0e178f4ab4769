// Package batch answers questions together that are asked at the same time. It delays no question for that: a question
// that finds a free slot is sent at once, and questions that come while all slots are taken form batches. So a single
// question never waits for others, and many at once cost little more than one.
//
// Waiting is bounded by time: a batch is not begun if it would not be sent within Options.Wait, estimated from the
// waiting work, the recent times of batches and the times of the batches under way; a question that waits longer even
// so is refused. A question whose caller has left is not sent. A batch that has to wait for something itself hands its
// slot on, see package turn.
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"leaderboard/internal/turn"
	"leaderboard/leaderboard"
)

// Options adjust a Batcher.
type Options struct {
	Slots   int           // batches under way at once, 4
	Size    int           // of all questions of a batch together; a question that is larger goes alone; 256
	Wait    time.Duration // until a question is sent; longer: ErrOverloaded. 0: until the caller's context ends
	Timeout time.Duration // for a batch, 6 s
	// OnRefused is called for each question that gets ErrOverloaded. It must not block; may be nil.
	OnRefused func()
}

// Answer is the result of one question of a batch.
type Answer[V any] struct {
	Value V
	Err   error
}

// Batcher answers questions in batches, each of questions with the same key. All methods may be called concurrently.
type Batcher[K comparable, Q, V any] struct {
	opts Options
	size func(Q) int
	run  func(ctx context.Context, key K, questions []Q, answers []Answer[V]) error
	one  func(K) bool // one reports whether a key may have one slot only, for now; nil: no key

	mu    sync.Mutex // guards the fields below
	free  int        // slots
	line  []*group[K, Q, V]
	under map[*group[K, Q, V]]bool // the groups that have a slot
	open  map[K]*group[K, Q, V]    // of each key the last group in line
	last  map[K]*group[K, Q, V]    // of each key the batch under way that began last
	took  [2]time.Duration         // moving averages: of a batch, and of work in Alone
}

// group is a batch to come, or one caller of Alone.
type group[K comparable, Q, V any] struct {
	key     K
	size    int
	futures []*future[Q, V]
	came    time.Time       // when it was opened
	began   time.Time       // when it got its slot
	ready   chan struct{}   // of a caller of Alone: closed when there is a slot for it; nil in a batch
	before  *group[K, Q, V] // the previous batch of its key; nil without a batch under way
	done    chan struct{}   // closed with the answers of a batch
}

// future is a question that waits for its answer.
type future[Q, V any] struct {
	question Q
	answer   Answer[V]     // read after done
	done     chan struct{} // closed with the answer
}

// The kinds of work, each with separate averages.
const (
	together = iota
	alone
)

func (g *group[K, Q, V]) kind() int {
	if g.ready != nil {
		return alone
	}
	return together
}

// New returns a Batcher. size returns the size of a question. run answers the questions of a batch: answers[i] is for
// questions[i]; an error fails all of them. It is called by up to Options.Slots goroutines at once.
func New[K comparable, Q, V any](
	o Options, size func(Q) int, run func(ctx context.Context, key K, questions []Q, answers []Answer[V]) error,
) *Batcher[K, Q, V] {
	o.Slots, o.Size, o.Timeout = cmp.Or(o.Slots, 4), cmp.Or(o.Size, 256), cmp.Or(o.Timeout, 6*time.Second)
	if o.OnRefused == nil {
		o.OnRefused = func() {}
	}
	return &Batcher[K, Q, V]{
		opts: o, size: size, run: run, free: o.Slots, under: map[*group[K, Q, V]]bool{},
		open: map[K]*group[K, Q, V]{}, last: map[K]*group[K, Q, V]{},
	}
}

// Waiting returns how many questions, and callers of Alone, have not been sent.
func (b *Batcher[K, Q, V]) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, g := range b.line {
		n += max(1, len(g.futures))
	}
	return n
}

// Do blocks until the question is answered, or ctx ends. Errors: the errors of run, and leaderboard.ErrOverloaded.
func (b *Batcher[K, Q, V]) Do(ctx context.Context, key K, question Q) (V, error) {
	f := &future[Q, V]{question: question, done: make(chan struct{})}
	g, err := b.join(key, f)
	if err == nil {
		err = b.wait(ctx, f.done, func() bool { return b.leave(g, f) })
	}
	if err != nil {
		var none V
		return none, err
	}
	return f.answer.Value, f.answer.Err
}

// Alone runs work in a separate slot.
func (b *Batcher[K, Q, V]) Alone(ctx context.Context, work func(context.Context) error) error {
	g := &group[K, Q, V]{ready: make(chan struct{})}
	b.mu.Lock()
	err := b.queue(g)
	b.mu.Unlock()
	if err != nil {
		b.opts.OnRefused()
		return err
	}
	if err := b.wait(ctx, g.ready, func() bool { return b.remove(g) }); err != nil {
		select {
		case <-g.ready: // the slot came first
			b.next(g, 0)
		default:
		}
		return err
	}
	start := time.Now()
	defer func() { b.next(g, time.Since(start)) }()
	return work(b.withTurn(ctx, g))
}

// withTurn returns the context of work that has the slot of a group, which it may hand on.
func (b *Batcher[K, Q, V]) withTurn(ctx context.Context, g *group[K, Q, V]) context.Context {
	var until time.Time
	if b.opts.Wait > 0 {
		until = g.came.Add(b.opts.Wait)
	}
	return turn.With(ctx, until, func() { b.next(g, 0) })
}

// wait blocks until sent is closed. withdraw takes the question out of the line, and is false when it has left that.
func (b *Batcher[K, Q, V]) wait(ctx context.Context, sent <-chan struct{}, withdraw func() bool) error {
	var late <-chan time.Time
	if b.opts.Wait > 0 {
		timer := time.NewTimer(b.opts.Wait)
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case <-sent:
			return nil
		case <-ctx.Done():
			withdraw()
			return ctx.Err()
		case <-late:
			if withdraw() {
				b.opts.OnRefused()
				return &leaderboard.OverloadError{Wait: b.opts.Wait, Detail: "a question was not sent in time"}
			}
		}
	}
}

// join puts a question into the last group of its key that has room, or opens one.
func (b *Batcher[K, Q, V]) join(key K, f *future[Q, V]) (*group[K, Q, V], error) {
	size := b.size(f.question)
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.open[key]
	if g != nil && g.size+size <= b.opts.Size {
		g.size += size
		g.futures = append(g.futures, f)
		return g, nil
	}
	g = &group[K, Q, V]{key: key, size: size, futures: []*future[Q, V]{f}}
	err := b.queue(g)
	if err != nil {
		b.opts.OnRefused()
	}
	return g, err
}

// queue begins a group, or puts it at the end of the line unless it would wait too long. It is called with mu held.
func (b *Batcher[K, Q, V]) queue(g *group[K, Q, V]) error {
	g.came = time.Now()
	if b.mayBegin(g) {
		b.begin(g)
		return nil
	}
	if expected := b.expected(g.came); b.opts.Wait > 0 && expected > b.opts.Wait {
		return &leaderboard.OverloadError{Wait: expected, Detail: "too many questions wait for the database"}
	}
	b.line = append(b.line, g)
	if g.ready == nil {
		b.open[g.key] = g
	}
	return nil
}

// expected returns the expected time until a slot is free for new work at the end of the line. Work under way is
// expected to take the usual time; once it has taken longer, twice its time so far. It is called with mu held.
func (b *Batcher[K, Q, V]) expected(now time.Time) time.Duration {
	next, speed, work := time.Duration(math.MaxInt64), 0.0, time.Duration(0)
	for g := range b.under {
		usual, took := b.took[g.kind()], now.Sub(g.began)
		if took <= usual {
			next, speed = min(next, usual-took), speed+1
		} else {
			next, speed = min(next, took), speed+float64(usual)/float64(took)
		}
	}
	for _, ahead := range b.line {
		work += b.took[ahead.kind()]
	}
	if work == 0 || speed == 0 {
		return next
	}
	return next + time.Duration(float64(work)/speed)
}

// mayBegin reports whether there is a slot for a group. It is called with mu held.
func (b *Batcher[K, Q, V]) mayBegin(g *group[K, Q, V]) bool {
	if b.free == 0 || b.one == nil || g.ready != nil || !b.one(g.key) {
		return b.free > 0
	}
	for other := range b.under {
		if other.ready == nil && other.key == g.key {
			return false
		}
	}
	return true
}

// begin uses a slot for a group. It is called with mu held.
func (b *Batcher[K, Q, V]) begin(g *group[K, Q, V]) {
	b.free--
	b.under[g], g.began = true, time.Now()
	if g.ready != nil {
		close(g.ready)
		return
	}
	g.before, g.done, b.last[g.key] = b.last[g.key], make(chan struct{}), g
	go b.send(g)
}

// send answers a batch. When it overtakes the batch of its key that began before it, it waits for that one as long as it
// took itself: its answers may be newer, and once they are out the older ones are of no use.
func (b *Batcher[K, Q, V]) send(g *group[K, Q, V]) {
	start := time.Now()
	questions, answers := make([]Q, len(g.futures)), make([]Answer[V], len(g.futures))
	for i, f := range g.futures {
		questions[i] = f.question
	}
	err := b.guarded(g, questions, answers)
	took := time.Since(start)
	b.next(g, took)
	if g.before != nil {
		timer := time.NewTimer(max(took, time.Microsecond)) // with 0, the runtime has crashed in a test whose time stands still
		defer timer.Stop()
		select {
		case <-g.before.done:
		case <-timer.C:
		}
	}
	for i, f := range g.futures {
		if f.answer = answers[i]; err != nil {
			f.answer = Answer[V]{Err: err}
		}
		close(f.done)
	}
	close(g.done)
	b.mu.Lock()
	defer b.mu.Unlock()
	if g.before = nil; b.last[g.key] == g {
		delete(b.last, g.key)
	}
}

// guarded turns a panic of run into an error: no caller would recover it.
func (b *Batcher[K, Q, V]) guarded(g *group[K, Q, V], questions []Q, answers []Answer[V]) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("batch: panic: %v\n%s", p, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), b.opts.Timeout)
	defer cancel()
	return b.run(b.withTurn(ctx, g), g.key, questions, answers)
}

// next passes the slot of a group, unless it has been passed already, to the first group in line that may have it. took
// is the time for which the slot was used; 0 if that is not a useful measurement.
func (b *Batcher[K, Q, V]) next(g *group[K, Q, V], took time.Duration) {
	const weight = 8 // of the previous average
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.under[g] {
		return
	}
	if took > 0 {
		average := &b.took[g.kind()]
		*average = (cmp.Or(*average, took)*(weight-1) + took) / weight
	}
	delete(b.under, g)
	b.free++
	for i := 0; i < len(b.line) && b.free > 0; {
		if first := b.line[i]; b.mayBegin(first) {
			b.drop(i)
			b.begin(first)
		} else {
			i++
		}
	}
}

// drop takes a group out of the line. It is called with mu held.
func (b *Batcher[K, Q, V]) drop(i int) {
	g := b.line[i]
	b.line = slices.Delete(b.line, i, i+1)
	if b.open[g.key] == g {
		delete(b.open, g.key)
	}
}

// remove takes a group out of the line, if it is there.
func (b *Batcher[K, Q, V]) remove(g *group[K, Q, V]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.line, g)
	if i >= 0 {
		b.drop(i)
	}
	return i >= 0
}

// leave takes a question out of a group that is in line.
func (b *Batcher[K, Q, V]) leave(g *group[K, Q, V], f *future[Q, V]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.Index(b.line, g)
	if at < 0 {
		return false
	}
	i := slices.Index(g.futures, f)
	g.futures = slices.Delete(g.futures, i, i+1)
	if g.size -= b.size(f.question); len(g.futures) == 0 {
		b.drop(at)
	}
	return true
}

// Rankings answers the queries of a database that takes many of them at once, within the bounds of a Batcher. It implements
// leaderboard.Rankings.
type Rankings struct {
	database leaderboard.BatchRankings
	batches  *Batcher[periodKey, question, leaderboard.Answer]
}

// periodKey is the common part of the questions of a batch: the period, and the order of its entries.
type periodKey struct {
	id, incarnation int64
	order, tiebreak leaderboard.Order
}

// question is a question with the period as its caller knows it.
type question struct {
	leaderboard.Question
	ref leaderboard.PeriodRef
}

// entriesPerUnit is how many entries of a page count as much as a member: reading is cheap once the place is found.
const entriesPerUnit = 32

func (q question) size() int {
	switch {
	case q.Page != nil:
		return 1 + q.Page.Limit/entriesPerUnit
	case q.Members != nil:
		return max(1, len(q.Members.Members))
	case q.Moves != nil:
		return sizeOfMoves(q.Moves.Moves)
	default:
		return 1
	}
}

// sizeOfMoves returns the number of places to find.
func sizeOfMoves(moves []leaderboard.Move) int {
	n := 2 * len(moves)
	for i := range moves {
		n += len(moves[i].Friends)
	}
	return max(1, n)
}

// NewRankings puts the questions to database in batches. loads reports whether a period is being loaded into memory:
// its questions have at most one slot then, so that they do not delay the load that will answer them all. nil: no
// period is being loaded.
func NewRankings(database leaderboard.BatchRankings, o Options, loads func(periodID int64) bool) *Rankings {
	r := &Rankings{database: database}
	r.batches = New(o, question.size, r.answer)
	if loads != nil {
		r.batches.one = func(k periodKey) bool { return loads(k.id) }
	}
	return r
}

func (r *Rankings) answer(ctx context.Context, _ periodKey, questions []question, answers []Answer[leaderboard.Answer]) error {
	asked := make([]leaderboard.Question, len(questions))
	for i := range questions {
		asked[i] = questions[i].Question
	}
	got, err := r.database.Query(ctx, questions[0].ref, asked)
	for i := range got {
		answers[i] = Answer[leaderboard.Answer]{Value: got[i], Err: got[i].Err}
	}
	return err
}

func (r *Rankings) query(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.Question) (leaderboard.Answer, error) {
	key := periodKey{id: p.ID, incarnation: p.Incarnation}
	if p.Rules != nil {
		key.order, key.tiebreak = p.Rules.Order, p.Rules.Tiebreak.Order
	}
	a, err := r.batches.Do(ctx, key, question{q, p})
	return a, unavailable(err)
}

// unavailable gives an error its meaning: the database had its time and did not answer.
func unavailable(err error) error {
	if err != nil && errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, leaderboard.ErrUnavailable) {
		return fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
	}
	return err
}

// Page implements leaderboard.Rankings.
func (r *Rankings) Page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	a, err := r.query(ctx, p, leaderboard.Question{Page: &q})
	return a.Page, err
}

// Members implements leaderboard.Rankings.
func (r *Rankings) Members(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	a, err := r.query(ctx, p, leaderboard.Question{Members: &q})
	return a.Members, err
}

// ScoreRank implements leaderboard.Rankings.
func (r *Rankings) ScoreRank(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	a, err := r.query(ctx, p, leaderboard.Question{Score: &q})
	return a.Score, err
}

// Moves implements leaderboard.Rankings.
func (r *Rankings) Moves(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MovesQuery) (*leaderboard.Moves, error) {
	a, err := r.query(ctx, p, leaderboard.Question{Moves: &q})
	return a.Moves, err
}

// Distribution implements leaderboard.Rankings. It takes a separate slot.
func (r *Rankings) Distribution(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.DistributionQuery) (d *leaderboard.Distribution, err error) {
	err = r.Alone(ctx, func(ctx context.Context) (err error) {
		d, err = r.database.Distribution(ctx, p, q)
		return err
	})
	return d, err
}

// Waiting returns how many questions wait to be sent.
func (r *Rankings) Waiting() int { return r.batches.Waiting() }

// Alone runs other work on the database, within the same bounds.
func (r *Rankings) Alone(ctx context.Context, work func(context.Context) error) error {
	return unavailable(r.batches.Alone(ctx, work))
}

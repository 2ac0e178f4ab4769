package topn

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// The reasons why a copy cannot answer. They are not failures of Redis.
var (
	// ErrMissing: there is no copy, or its format is from another version of this program.
	ErrMissing = errors.New("topn: no copy")
	// ErrDamaged: a part of the copy is lost.
	ErrDamaged = errors.New("topn: damaged copy")
	// ErrUncovered: the copy is fine and does not reach as deep as the query.
	ErrUncovered = errors.New("topn: not covered by the copy")
	// ErrBehind: the copy is older than the required min_seq.
	ErrBehind = errors.New("topn: copy is older than asked for")
)

// Failed reports whether a read failed because Redis does not answer, rather than with an answer or with one of the reasons
// above.
func Failed(err error) bool {
	for _, e := range []error{ErrMissing, ErrDamaged, ErrUncovered, ErrBehind, leaderboard.ErrNotRanked} {
		if errors.Is(err, e) {
			return false
		}
	}
	return err != nil
}

// Log is the database as copies see it. Changes returns the commits with LastSeq > fromSeq in order, and ErrLogPruned when
// the log does not continue exactly there. Snapshot reads the best limit entries in one state: it calls begin with that
// state, then rows with at most 1,000 keys at a time, best first. Period is read from the primary, never from a cache.
// Errors: ErrPeriodNotFound, ErrUnavailable.
type Log interface {
	Changes(ctx context.Context, periodID, fromSeq int64, limit int) ([]leaderboard.Commit, error)
	Snapshot(ctx context.Context, p leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error
	Period(ctx context.Context, id int64) (leaderboard.Period, error)
}

// Options adjust Copies; the zero value is fit for production.
type Options struct {
	Prefix string // of every key in Redis; "lb:" when empty
	Slack  int    // entries kept beyond top_n; 0: a tenth of top_n, at least 100
	// TempTTL is how long the temporary keys of a build that died live on; 1 minute when 0.
	TempTTL time.Duration
	// HookPoint is called at each named point of a build: locked, snapshot, chunk, before-publish, published, and of Verify: part. For tests
	// of faults.
	HookPoint func(name string)
	Observer  Observer // receives builds; may be nil
	// Background is for work that no reader waits for, see OpenBackground; nil: the connections of the reads.
	Background Client
	Logger     *slog.Logger
}

// Copies are the copies in Redis. All methods may be called concurrently, from any number of processes.
type Copies struct {
	client     Client // for reads, whose callers wait
	background Client // for everything else
	log        Log
	opts       Options
	scripts    scripts
	behind     sync.Map // copyID → true: the copies that are behind
}

// copyID identifies a copy.
type copyID struct{ period, incarnation int64 }

func idOf(p leaderboard.PeriodRef) copyID { return copyID{p.ID, p.Incarnation} }

// IsBehind reports whether a copy lacks commits because it could not be written to the last few times: reading it is a waste
// of time.
func (c *Copies) IsBehind(p leaderboard.PeriodRef) bool {
	_, behind := c.behind.Load(idOf(p))
	return behind
}

// Client returns the client for reads.
func (c *Copies) Client() Client { return c.client }

// New does no I/O.
func New(client Client, log Log, opts Options) *Copies {
	opts.Prefix = cmp.Or(opts.Prefix, "lb:")
	opts.TempTTL = cmp.Or(opts.TempTTL, time.Minute)
	if opts.HookPoint == nil {
		opts.HookPoint = func(string) {}
	}
	if opts.Observer == nil {
		opts.Observer = unobserved{}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Background == nil {
		opts.Background = inBackground(client)
	}
	return &Copies{client: client, background: opts.Background, log: log, opts: opts, scripts: newScripts()}
}

// slack returns how many entries a copy may have beyond top_n, so that not every other change trims it or makes it too short.
func (c *Copies) slack(p leaderboard.PeriodRef) int {
	if c.opts.Slack > 0 {
		return c.opts.Slack
	}
	return max(100, p.Rules.TopN/10)
}

// keys returns the three keys of a period's copy. The incarnation is in their names: when the id of a period is given
// again after a restore, the copy of the old period is never found, and ends with its TTL.
func (c *Copies) keys(p leaderboard.PeriodRef) []string {
	base := c.base(p)
	return []string{base + "top", base + "key", base + "meta"}
}

func (c *Copies) base(p leaderboard.PeriodRef) string {
	return c.opts.Prefix + "{" + tag(p) + "}:" + strconv.FormatUint(uint64(p.Incarnation), 16) + ":"
}

// format returns the number of the layout of the keys, and the directions of the sort keys: while a board has no
// entries its order may change, and keys in one order must not be read in the other. In every version a format is digits,
// then small letters.
func format(p leaderboard.PeriodRef) string {
	return "1" + direction(p.Rules.Order) + direction(p.Rules.Tiebreak.Order)
}

func direction(o leaderboard.Order) string {
	if o == leaderboard.OrderAsc {
		return "a"
	}
	return "d"
}

// Info looks at the copy of a period.
func (c *Copies) Info(ctx context.Context, p leaderboard.PeriodRef) (leaderboard.CopyInfo, error) {
	raw, err := c.scripts.info.RunRO(ctx, c.background, c.keys(p), format(p)).Slice()
	if err != nil {
		return leaderboard.CopyInfo{}, fmt.Errorf("topn: copy of period %d: %w", p.ID, err)
	}
	now, h, err := parseInfo(raw, p)
	info := leaderboard.CopyInfo{RedisNow: now, Damaged: errors.Is(err, ErrDamaged)}
	switch {
	case info.Damaged, errors.Is(err, ErrMissing):
		return info, nil
	case err != nil:
		return leaderboard.CopyInfo{}, err
	}
	info.Exists, info.Revision, info.Total = true, h.Revision, h.Total
	info.N, info.TTL, info.Complete = h.n, h.ttl, h.complete()
	info.Short = h.short(p)
	info.BuiltAt, info.BuildStarted = leaderboard.Micros(h.rest.int()), leaderboard.Micros(h.rest.int())
	return info, h.rest.err
}

// parseInfo reads a reply of info.lua: the time of the server, and the state, or the error of parseHead.
func parseInfo(raw []any, p leaderboard.PeriodRef) (now leaderboard.Micros, h head, err error) {
	r := reply{raw: raw}
	now = leaderboard.Micros(r.int())
	state := r.slice()
	if r.err != nil {
		return 0, head{}, r.err
	}
	h, err = parseHead(state, p)
	return now, h, err
}

// Drop removes the copy of a period, whatever state it is in. The next reader asks for a new one.
func (c *Copies) Drop(ctx context.Context, p leaderboard.PeriodRef) error {
	_, err := c.drop(ctx, p, "", "")
	return err
}

// drop removes the copy if it is still at (seq, asOf), or in any case when seq is "".
func (c *Copies) drop(ctx context.Context, p leaderboard.PeriodRef, seq, asOf string) (bool, error) {
	n, err := c.scripts.drop.Run(ctx, c.background, c.keys(p), format(p), seq, asOf).Int()
	if err != nil {
		return false, fmt.Errorf("topn: drop the copy of period %d: %w", p.ID, err)
	}
	return n == 1, nil
}

func decimal[T ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// The scripts. Each file describes its arguments and its reply. head.lua is put before the scripts that read a copy.
var (
	//go:embed head.lua
	headLua string
	//go:embed read.lua
	readLua string
	//go:embed info.lua
	infoLua string
	//go:embed part.lua
	partLua string
	//go:embed apply.lua
	applyLua string
	//go:embed publish.lua
	publishLua string
	//go:embed drop.lua
	dropLua string
	//go:embed touch.lua
	touchLua string
	//go:embed extend.lua
	extendLua string
	//go:embed release.lua
	releaseLua string
)

type scripts struct {
	read, info, part            *redis.Script // read only
	apply, publish, drop, touch *redis.Script
	extend, release             *redis.Script
}

func newScripts() scripts {
	return scripts{
		read:    redis.NewScript(headLua + readLua),
		info:    redis.NewScript(headLua + infoLua),
		part:    redis.NewScript(headLua + partLua),
		apply:   redis.NewScript(headLua + applyLua),
		publish: redis.NewScript(headLua + publishLua),
		drop:    redis.NewScript(dropLua),
		touch:   redis.NewScript(touchLua),
		extend:  redis.NewScript(extendLua),
		release: redis.NewScript(releaseLua),
	}
}

// reply takes the values of a script's reply one after another; err is about the first unexpected value.
type reply struct {
	raw []any
	err error
}

func (r *reply) next() any {
	if len(r.raw) == 0 {
		r.fail("it ends early")
		return nil
	}
	v := r.raw[0]
	r.raw = r.raw[1:]
	return v
}

func (r *reply) fail(reason string) {
	if r.err == nil {
		r.err = errors.New("topn: reply of a script: " + reason)
	}
}

func (r *reply) string() string {
	s, ok := r.next().(string)
	if !ok {
		r.fail("want a string")
	}
	return s
}

// int takes a number or a decimal string.
func (r *reply) int() int64 {
	switch v := r.next().(type) {
	case int64:
		return v
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			r.fail("want a decimal number")
		}
		return n
	default:
		r.fail("want a number")
		return 0
	}
}

func (r *reply) slice() []any {
	s, ok := r.next().([]any)
	if !ok {
		r.fail("want a list")
	}
	return s
}

func (r *reply) keys() []rank.Key {
	list := r.slice()
	out := make([]rank.Key, len(list))
	for i, v := range list {
		s, _ := v.(string)
		out[i] = rank.Key(s)
	}
	return out
}

func (r *reply) ints() []int64 {
	list := r.slice()
	out := make([]int64, len(list))
	for i, v := range list {
		out[i], _ = v.(int64)
	}
	return out
}

// head is the beginning of every reply to a read: the state that the rest is exact at.
type head struct {
	leaderboard.State
	n     int64 // entries in the copy
	floor rank.Key
	ttl   time.Duration
	rest  *reply
}

// parseHead reads a reply, or turns the reason in it into an error. A state that cannot be read is damage, which a build
// repairs, and never a failure, which would prevent that build.
func parseHead(raw []any, p leaderboard.PeriodRef) (head, error) {
	r := &reply{raw: raw}
	switch status := r.string(); {
	case r.err != nil:
		return head{}, fmt.Errorf("%w: %w", ErrDamaged, r.err)
	case status == "missing" || status == "format":
		return head{}, ErrMissing
	case status == "damaged":
		return head{}, ErrDamaged
	case status == "uncovered":
		return head{}, ErrUncovered
	case status != "ok":
		return head{}, fmt.Errorf("%w: status %q", ErrDamaged, status)
	}
	h := head{rest: r}
	h.Incarnation = p.Incarnation // in the names of the keys
	h.Seq, h.AsOf, h.Total = r.int(), leaderboard.Micros(r.int()), r.int()
	h.n, h.floor, h.ttl = r.int(), rank.Key(r.string()), time.Duration(r.int())*time.Millisecond
	h.Source = leaderboard.SourceRedis
	if r.err != nil {
		return head{}, fmt.Errorf("%w: %w", ErrDamaged, r.err)
	}
	return h, nil
}

func (h *head) complete() bool { return h.n == h.Total }

// short reports whether the copy has shrunk below top_n though the period has more.
func (h *head) short(p leaderboard.PeriodRef) bool { return !h.complete() && h.n < int64(p.Rules.TopN) }

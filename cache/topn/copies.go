package topn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard"
	"leaderboard/rank"
)

// What a copy can say instead of an answer. None of them is a failure of Redis.
var (
	// ErrMissing: there is no copy, or one in a format of another version of this program.
	ErrMissing = errors.New("topn: no copy")
	// ErrDamaged: the copy lost a part of itself.
	ErrDamaged = errors.New("topn: damaged copy")
	// ErrUncovered: the copy is fine and does not reach as deep as the query.
	ErrUncovered = errors.New("topn: not covered by the copy")
	// ErrBehind: the copy is older than the min_seq asked for.
	ErrBehind = errors.New("topn: copy is older than asked for")
	// ErrOld: the database has been further for too long.
	ErrOld = errors.New("topn: copy is older than the database allows")
	// ErrUnchecked is what Options.Check says when the database is away: answers are marked stale.
	ErrUnchecked = errors.New("topn: copy cannot be held against the database")
)

// Failed says whether a read failed because Redis does not answer, rather than with an answer or with what a copy can
// say.
func Failed(err error) bool {
	for _, e := range []error{ErrMissing, ErrDamaged, ErrUncovered, ErrBehind, ErrOld, leaderboard.ErrNotRanked} {
		if errors.Is(err, e) {
			return false
		}
	}
	return err != nil
}

// Log is the database as copies see it. Changes returns commits with LastSeq > fromSeq in order, none when there
// is none, ErrLogPruned when the log does not continue exactly there. Snapshot reads the best limit entries in one
// state: begin with that state, then rows with at most 1,000 keys at a time, best first. Period is read from the
// primary, never from a cache. Errors: ErrPeriodNotFound, ErrUnavailable.
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
	// Check holds a copy that was read against the database: nil, ErrOld, ErrUnchecked, or ErrDamaged when it has diverged. nil:
	// what a copy says counts whatever its age.
	Check func(ctx context.Context, period int64, r leaderboard.Revision) error
	// HookPoint is called at each named point of a build: locked, snapshot, chunk, before-publish, published. For tests
	// of faults.
	HookPoint func(name string)
	OnBuild   func(p leaderboard.PeriodRef, o leaderboard.CopyOutcome, took time.Duration, err error) // metrics; may be nil
	// Background is for what no reader waits for, see OpenBackground; nil: the connections of the reads.
	Background redis.UniversalClient
	Logger     *slog.Logger
}

// Copies are the copies in Redis. All methods may be called concurrently, from any number of processes.
type Copies struct {
	client     redis.UniversalClient // for reads, whose callers wait
	background redis.UniversalClient // for everything else
	log        Log
	opts       Options
	scripts    scripts
	left       sync.Map // copyID → true: what Left returns
}

// copyID tells copies apart.
type copyID struct{ period, history int64 }

func idOf(p leaderboard.PeriodRef) copyID { return copyID{p.ID, p.History} }

// Left says whether a copy is left behind, because it could not be written to the last few times: asking it is a waste of
// time.
func (c *Copies) Left(p leaderboard.PeriodRef) bool {
	_, left := c.left.Load(idOf(p))
	return left
}

// New does no I/O.
func New(client redis.UniversalClient, log Log, opts Options) *Copies {
	opts.Prefix = cmp.Or(opts.Prefix, "lb:")
	opts.TempTTL = cmp.Or(opts.TempTTL, time.Minute)
	if opts.HookPoint == nil {
		opts.HookPoint = func(string) {}
	}
	if opts.Check == nil {
		opts.Check = func(context.Context, int64, leaderboard.Revision) error { return nil }
	}
	if opts.OnBuild == nil {
		opts.OnBuild = func(leaderboard.PeriodRef, leaderboard.CopyOutcome, time.Duration, error) {}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Background == nil {
		opts.Background = inBackground(client)
	}
	return &Copies{client: client, background: opts.Background, log: log, opts: opts, scripts: newScripts()}
}

// slack returns how many entries a copy has beyond top_n, so that it is not trimmed or too short at every other change.
func (c *Copies) slack(p leaderboard.PeriodRef) int {
	if c.opts.Slack > 0 {
		return c.opts.Slack
	}
	return max(100, p.Rules.TopN/10)
}

// keys returns the three keys of a period's copy. The history is in their names: the copy of a period whose id is given
// again after a restore is never found, and lives out its TTL.
func (c *Copies) keys(p leaderboard.PeriodRef) []string {
	base := c.base(p)
	return []string{base + "top", base + "key", base + "meta"}
}

func (c *Copies) base(p leaderboard.PeriodRef) string {
	return c.opts.Prefix + "{" + strconv.FormatInt(p.ID, 10) + "}:" + strconv.FormatUint(uint64(p.History), 16) + ":"
}

// format returns the number of the layout of the keys, and the directions of the sort keys: while a board has no
// entries its order may change, and keys in one order must not be read in the other. Every version's is digits, then
// small letters.
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
	r := reply{raw: raw}
	info := leaderboard.CopyInfo{RedisNow: leaderboard.Micros(r.int())}
	if why := r.string(); why != "" {
		info.Damaged = why == "damaged"
		return info, r.err
	}
	h, err := parseHead(r.slice(), p)
	switch {
	case errors.Is(err, ErrDamaged):
		info.Damaged = true
		return info, r.err
	case err != nil:
		return leaderboard.CopyInfo{}, err
	}
	info.Exists, info.Revision, info.Total = true, h.Revision, h.Total
	info.N, info.TTL, info.Complete = h.n, h.ttl, h.complete()
	info.Short = h.short(p)
	info.BuiltAt, info.BuildStarted = leaderboard.Micros(h.rest.int()), leaderboard.Micros(h.rest.int())
	return info, errors.Join(r.err, h.rest.err)
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

package topn

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// cleanupTimeout bounds removing the temporary keys of a build that failed; their TTL does it otherwise.
const cleanupTimeout = 500 * time.Millisecond

// Build makes the copy from scratch: it reads the top in one snapshot of MySQL, writes it to temporary keys, publishes
// it if it is not older than the copy in place, and applies the log on top. It is correct without any lease; running
// two at once is only a waste.
func (c *Copies) Build(ctx context.Context, p leaderboard.PeriodRef) (leaderboard.CopyOutcome, error) {
	start := time.Now()
	out, err := c.build(ctx, p)
	if err != nil {
		err = fmt.Errorf("topn: build the copy of period %d: %w", p.ID, err)
	}
	c.opts.Observer.CopyBuilt(p, out, time.Since(start), err)
	return out, err
}

func (c *Copies) build(ctx context.Context, p leaderboard.PeriodRef) (leaderboard.CopyOutcome, error) {
	c.opts.HookPoint("locked")
	info, err := c.Info(ctx, p)
	if err != nil {
		return leaderboard.CopyOutcome{}, err
	}
	b := &builder{copies: c, ref: p, started: info.RedisNow}
	b.token = rand.Text()
	base := c.base(p) + "tmp:" + b.token + ":"
	b.top, b.key = base+"top", base+"key"
	if err := b.read(ctx); err != nil {
		b.discard(ctx)
		return leaderboard.CopyOutcome{}, err
	}
	out := leaderboard.CopyOutcome{FromSeq: info.Seq, Rows: b.rows}
	c.opts.HookPoint("before-publish")
	status, err := b.publish(ctx)
	if err == nil && status == "refused" {
		status, err = b.refused(ctx)
	}
	if err != nil || status == "refused" {
		b.discard(ctx)
		out.Refused, out.ToSeq = status == "refused", info.Seq
		return out, err
	}
	c.opts.HookPoint("published")
	out.ToSeq = b.state.Seq
	caught, err := c.CatchUp(ctx, p)
	if err != nil {
		return out, err
	}
	out.ToSeq = caught.ToSeq
	return out, nil
}

// builder is the state of a build under way.
type builder struct {
	copies   *Copies
	ref      leaderboard.PeriodRef
	started  leaderboard.Micros // clock of Redis
	token    string
	top, key string            // temporary keys
	state    leaderboard.State // of the snapshot
	rows     int64
	floor    rank.Key // last key read
}

// read copies the top of one snapshot into the temporary keys.
func (b *builder) read(ctx context.Context) error {
	limit := b.ref.Rules.TopN + b.copies.slack(b.ref)
	begin := func(s leaderboard.State) error {
		b.state = s
		b.copies.opts.HookPoint("snapshot")
		return nil
	}
	rows := func(keys []rank.Key) error { return b.write(ctx, keys) }
	if err := b.copies.log.Snapshot(ctx, b.ref, limit, begin, rows); err != nil {
		return err
	}
	if want := min(int64(limit), b.state.Total); b.rows != want {
		return fmt.Errorf("the snapshot at seq %d has %d entries, its count says %d", b.state.Seq, b.rows, want)
	}
	return nil
}

// write adds a chunk. The keys get their TTL in the same transaction, so that a build that dies leaves nothing for
// good.
func (b *builder) write(ctx context.Context, keys []rank.Key) error {
	if len(keys) == 0 {
		return nil
	}
	members := make([]redis.Z, len(keys))
	fields := make([]any, 0, 2*len(keys))
	for i, k := range keys {
		members[i].Member = string(k)
		fields = append(fields, k.Member(), string(k))
	}
	_, err := b.copies.background.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.ZAdd(ctx, b.top, members...)
		pipe.HSet(ctx, b.key, fields...)
		pipe.PExpire(ctx, b.top, b.copies.opts.TempTTL)
		pipe.PExpire(ctx, b.key, b.copies.opts.TempTTL)
		return nil
	})
	if err != nil {
		return fmt.Errorf("write %d entries: %w", len(keys), err)
	}
	b.rows += int64(len(keys))
	b.floor = keys[len(keys)-1]
	b.copies.opts.HookPoint("chunk")
	return nil
}

func (b *builder) publish(ctx context.Context) (status string, err error) {
	c, p := b.copies, b.ref
	raw, err := c.scripts.publish.Run(ctx, c.background, append(c.keys(p), b.top, b.key),
		format(p), decimal(b.state.Seq), decimal(b.state.AsOf), decimal(b.state.Total), b.rows, string(b.floor),
		decimal(b.started), p.Rules.TTL().Milliseconds(), b.token).Slice()
	if err != nil {
		return "", fmt.Errorf("publish: %w", err)
	}
	r := reply{raw: raw}
	switch status = r.string(); status {
	case "published", "refused":
		return status, r.err
	case "expired":
		return "", errors.New("publish: the temporary keys have expired, the build took too long")
	default:
		return "", errors.Join(r.err, fmt.Errorf("publish: status %q", status))
	}
}

// refused decides what a newer copy in place means: the builder was slow (stay refused), or the copy is from a branch
// that MySQL no longer has (drop it, publish again). CatchUp is the judge: it compares the copy with MySQL's present
// state, not with the snapshot of this builder, which proves nothing about a newer copy.
func (b *builder) refused(ctx context.Context) (status string, err error) {
	_, err = b.copies.CatchUp(ctx, b.ref)
	switch {
	case err == nil:
		return "refused", nil
	case !errors.Is(err, leaderboard.ErrNeedsBuild):
		return "", err
	}
	return b.publish(ctx)
}

// discard removes the temporary keys, even when ctx has ended.
func (b *builder) discard(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := b.copies.background.Unlink(ctx, b.top, b.key).Err(); err != nil {
		b.copies.opts.Logger.WarnContext(ctx, "temporary keys of a build are left to their TTL", "period", b.ref.ID, "error", err)
	}
}

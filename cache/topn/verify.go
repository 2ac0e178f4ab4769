package topn

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

const (
	verifyChunk = 1000 // entries read from Redis at once
	// verifyTries bounds how often it begins again: the log may be pruned, or the copy replaced, meanwhile.
	verifyTries = 3
)

// Verify compares the copy with MySQL at one seq and names the first difference. It disturbs neither writers nor
// readers: it clones the copy, reads MySQL in one snapshot, and brings the clone to that state by the change log, in
// memory. Errors: ErrAway, ErrPeriodNotFound, ErrUnavailable.
func (c *Copies) Verify(ctx context.Context, p leaderboard.PeriodRef) (leaderboard.Verification, error) {
	var last error
	for range verifyTries {
		img, err := c.image(ctx, p)
		switch {
		case errors.Is(err, ErrMissing):
			return c.unused(ctx, p, leaderboard.Verification{Equal: true, Detail: leaderboard.NoCopy})
		case errors.Is(err, ErrDamaged):
			return c.unused(ctx, p, leaderboard.Verification{Detail: "the copy is damaged and is not used"})
		case err != nil:
			return leaderboard.Verification{}, orAway(ctx, err)
		}
		v, err := c.compare(ctx, p, img)
		if !errors.Is(err, leaderboard.ErrLogPruned) {
			return v, err
		}
		last = err
	}
	return leaderboard.Verification{}, fmt.Errorf("topn: verify period %d: %w", p.ID, last)
}

// unused completes the answer about a copy that cannot be compared: with the state that MySQL is in.
func (c *Copies) unused(ctx context.Context, p leaderboard.PeriodRef, v leaderboard.Verification) (leaderboard.Verification, error) {
	period, err := c.log.Period(ctx, p.ID)
	if err != nil {
		return leaderboard.Verification{}, err
	}
	v.Seq, v.Total = period.LastSeq, period.EntryCount
	return v, nil
}

// image is a copy in memory.
type image struct {
	head
	whole bool // it was complete when it was read
	keys  map[string]rank.Key
	odd   string // a member whose sort key and hash entry disagree
}

// image reads the copy at one state.
func (c *Copies) image(ctx context.Context, p leaderboard.PeriodRef) (*image, error) {
	base := c.base(p) + "tmp:" + rand.Text() + ":"
	top, hash := base+"top", base+"key"
	defer func() { _ = c.background.Unlink(context.WithoutCancel(ctx), top, hash).Err() }() // else their TTL does it
	raw, err := c.scripts.clone.Run(ctx, c.background, append(c.keys(p), top, hash), format(p), c.opts.TempTTL.Milliseconds()).Slice()
	if err != nil {
		return nil, fmt.Errorf("topn: clone the copy of period %d: %w", p.ID, err)
	}
	h, err := parseHead(raw, p)
	if err != nil {
		return nil, err
	}
	img := &image{head: h, whole: h.complete(), keys: make(map[string]rank.Key, h.n)}
	for at := int64(0); at < h.n; at += verifyChunk {
		keys, err := c.background.ZRange(ctx, top, at, at+verifyChunk-1).Result()
		if err != nil {
			return nil, fmt.Errorf("topn: read a clone: %w", err)
		}
		if err := c.collect(ctx, img, hash, keys); err != nil {
			return nil, err
		}
	}
	if int64(len(img.keys)) != h.n && img.odd == "" {
		return nil, errors.New("topn: a clone has expired while it was read")
	}
	return img, nil
}

func (c *Copies) collect(ctx context.Context, img *image, hash string, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	members := make([]string, len(keys))
	for i, k := range keys {
		if !rank.Key(k).Valid() {
			return ErrDamaged
		}
		members[i] = rank.Key(k).Member()
	}
	held, err := c.background.HMGet(ctx, hash, members...).Result()
	if err != nil {
		return fmt.Errorf("topn: read a clone: %w", err)
	}
	for i, k := range keys {
		if held[i] != k && img.odd == "" {
			img.odd = members[i]
		}
		img.keys[members[i]] = rank.Key(k)
	}
	return nil
}

// compare reads MySQL and compares the image with it.
func (c *Copies) compare(ctx context.Context, p leaderboard.PeriodRef, img *image) (leaderboard.Verification, error) {
	var state leaderboard.State
	var want []rank.Key
	limit := int(img.n) + c.slack(p)
	err := c.log.Snapshot(ctx, p, limit,
		func(s leaderboard.State) error { state = s; return nil },
		func(keys []rank.Key) error { want = append(want, keys...); return nil })
	if err != nil {
		return leaderboard.Verification{}, err
	}
	v := leaderboard.Verification{Seq: state.Seq, Total: state.Total}
	if img.odd != "" {
		v.Detail = fmt.Sprintf("two parts of the copy disagree about member %q", img.odd)
		return v, nil
	}
	same, err := c.advance(ctx, p, img, state)
	if err != nil {
		return v, err
	}
	if !same {
		v.Detail = fmt.Sprintf("the copy is at seq %d of another history than MySQL, at seq %d", img.Seq, state.Seq)
		return v, nil
	}
	img.against(&v, rank.CodecOf(p.Rules), want, int64(len(want)) == state.Total)
	if v.Equal && img.Total != state.Total {
		v.Equal = false
		v.Detail = fmt.Sprintf("the copy counts %d entries in the period, MySQL %d", img.Total, state.Total)
	}
	return v, nil
}

// advance brings the image to a state of MySQL. false: the image is of another history.
func (c *Copies) advance(ctx context.Context, p leaderboard.PeriodRef, img *image, to leaderboard.State) (bool, error) {
	at := img.Revision
	for at.Seq < to.Seq {
		commits, err := c.log.Changes(ctx, p.ID, at.Seq, catchUpCommits)
		if err != nil {
			return false, err
		}
		if len(commits) == 0 || commits[0].From().Seq != at.Seq {
			return false, leaderboard.ErrLogPruned
		}
		if commits[0].From() != at {
			return false, nil
		}
		end := slices.IndexFunc(commits, func(c leaderboard.Commit) bool { return c.LastSeq > to.Seq })
		if end >= 0 {
			commits = commits[:end]
		}
		if len(commits) == 0 {
			return false, nil // the snapshot is in the middle of a commit: not this history
		}
		img.apply(finalKeys(rank.CodecOf(p.Rules), commits))
		img.Total += growth(commits)
		at = commits[len(commits)-1].To()
	}
	return at == to.Revision, nil
}

// growth returns by how many entries commits make a period larger. A wrong count of the copy stays wrong by as
// many, which the count of the last commit would hide.
func growth(commits []leaderboard.Commit) int64 {
	var n int64
	for i := range commits {
		for j := range commits[i].Changes {
			switch change := &commits[i].Changes[j]; {
			case change.Old == nil && change.New != nil:
				n++
			case change.Old != nil && change.New == nil:
				n--
			}
		}
	}
	return n
}

// apply is the rule of apply.lua.
func (img *image) apply(final map[string]rank.Key) {
	for member, key := range final {
		if key == "" || (!img.whole && key > img.floor) {
			delete(img.keys, member)
		} else {
			img.keys[member] = key
		}
	}
}

// against compares with what MySQL has, best first. all: want is the whole period, not only its beginning.
func (img *image) against(v *leaderboard.Verification, codec rank.Codec, want []rank.Key, all bool) {
	keys := make([]rank.Key, 0, len(img.keys))
	for _, k := range img.keys {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare[rank.Key])
	if !img.whole {
		// The copy says nothing about entries below the floor.
		if end := slices.IndexFunc(want, func(k rank.Key) bool { return k > img.floor }); end >= 0 {
			want, all = want[:end], true
		}
	}
	for i := range max(len(keys), len(want)) {
		switch {
		case i < len(keys) && i < len(want) && keys[i] == want[i]:
			v.Checked++
			continue
		case i >= len(want) && !all:
			v.Equal = true // as far as MySQL was read
			return
		}
		v.Difference = &leaderboard.Difference{Rank: int64(i) + 1, Copy: entryAt(codec, keys, i), Database: entryAt(codec, want, i)}
		v.Detail = fmt.Sprintf("the copy and MySQL differ at rank %d", i+1)
		return
	}
	v.Equal = true
}

func entryAt(codec rank.Codec, keys []rank.Key, i int) *leaderboard.Entry {
	if i >= len(keys) {
		return nil
	}
	e, err := codec.Entry(keys[i])
	if err != nil {
		return nil
	}
	return &e
}

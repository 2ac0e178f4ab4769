package topn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

const (
	// verifyPart is how many entries one script reads: it blocks Redis for some milliseconds at most.
	verifyPart = 1000
	// verifyTries bounds how often it begins again: the log may be pruned, or the copy replaced, meanwhile.
	verifyTries = 3
)

// errReplaced means that another build took the place of the copy while it was read.
var errReplaced = errors.New("topn: the copy was replaced while it was read")

// Verify compares the copy with MySQL at one seq and names the first difference. It disturbs neither writers nor
// readers: it reads the copy in parts, reads MySQL in one snapshot, and brings its image of the copy to that state by
// the change log, in memory. Errors: ErrAway, ErrPeriodNotFound, ErrUnavailable.
func (c *Copies) Verify(ctx context.Context, p leaderboard.PeriodRef) (leaderboard.Verification, error) {
	var last error
	for range verifyTries {
		img, err := c.image(ctx, p)
		switch {
		case errors.Is(err, ErrMissing):
			return c.unused(ctx, p, leaderboard.Verification{Equal: true, Detail: leaderboard.NoCopy})
		case errors.Is(err, ErrDamaged):
			return c.unused(ctx, p, leaderboard.Verification{Detail: "the copy is damaged and is not used"})
		case errors.Is(err, errReplaced):
			last = err
			continue
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

// image is a copy in memory. Its parts may be from different states. An entry that did not change since the first of
// these states has the same place in the image as in the copy; all others get their place from the change log, which
// names each change since that state.
type image struct {
	head           // of the first part
	whole bool     // it was complete when its last part was read
	bound rank.Key // the last entry that it covered by then, unless it was complete
	keys  map[string]rank.Key
	odd   string // a member whose sort key and hash entry disagree
}

// image reads the copy, part by part.
func (c *Copies) image(ctx context.Context, p leaderboard.PeriodRef) (*image, error) {
	var img *image
	var after rank.Key
	var built int64
	for {
		h, err := c.part(ctx, p, after)
		if err != nil {
			return nil, err
		}
		at, keys, odd := h.rest.int(), h.rest.keys(), h.rest.string()
		if h.rest.err != nil {
			return nil, h.rest.err
		}
		switch {
		case img == nil:
			img, built = &image{head: h, keys: make(map[string]rank.Key, h.n)}, at
		case at != built:
			return nil, errReplaced
		}
		img.whole, img.bound, img.odd = h.complete(), h.floor, cmp.Or(img.odd, odd)
		for _, k := range keys {
			if !k.Valid() {
				return nil, ErrDamaged
			}
			img.keys[k.Member()] = k
		}
		if len(keys) < verifyPart {
			break
		}
		after = keys[len(keys)-1]
		c.opts.HookPoint("part")
	}
	maps.DeleteFunc(img.keys, func(_ string, k rank.Key) bool { return !img.covers(k) }) // they left the copy meanwhile
	return img, nil
}

// part reads the entries after a sort key, and the state at which they are exact.
func (c *Copies) part(ctx context.Context, p leaderboard.PeriodRef, after rank.Key) (head, error) {
	raw, err := c.scripts.part.RunRO(ctx, c.background, c.keys(p), format(p), string(after), verifyPart).Slice()
	if err != nil {
		return head{}, fmt.Errorf("topn: read a part of the copy of period %d: %w", p.ID, err)
	}
	return parseHead(raw, p)
}

// covers reports whether the copy had an entry of this sort key when its last part was read, if the period has.
func (img *image) covers(key rank.Key) bool { return img.whole || key <= img.bound }

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

// advance brings the image to a state of MySQL. false: the image is of another incarnation.
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
			return false, nil // the snapshot is in the middle of a commit: not this incarnation
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
		if key == "" || !img.covers(key) {
			delete(img.keys, member)
		} else {
			img.keys[member] = key
		}
	}
}

// against compares with MySQL's entries, best first. all: want is the whole period, not only its beginning.
func (img *image) against(v *leaderboard.Verification, codec rank.Codec, want []rank.Key, all bool) {
	keys := make([]rank.Key, 0, len(img.keys))
	for _, k := range img.keys {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare[rank.Key])
	if !img.whole {
		// The copy says nothing about entries below the floor.
		if end := slices.IndexFunc(want, func(k rank.Key) bool { return !img.covers(k) }); end >= 0 {
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

package derived

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/leaderboard"
)

const (
	// stepMembers is the greatest number of members that a step looks up one by one; with more members everything is
	// computed from scratch.
	stepMembers = 1_000_000
	// logRows is how many commits of a source one statement reads.
	logRows = 50
	// listedMembers is how many members of a leaving or arriving period one statement reads.
	listedMembers = 5000
)

// errNeedsCompute: the changes since the reflected state can no longer be found.
var errNeedsCompute = errors.New("store: the derived board must be computed from scratch")

// changedMembers returns the members whose entries may differ from the reflected state, in byte order: members with changes
// in the log of a source, and members of the sources that leave or arrive.
func (d *derivation) changedMembers(ctx context.Context) ([]string, error) {
	members, all := map[string]struct{}{}, int64(0)
	for _, s := range d.periods {
		all += s.entries
	}
	if lag := d.lag(); lag > stepMembers && lag > all {
		return nil, fmt.Errorf("%w: %d changes are more work than %d entries", errNeedsCompute, lag, all)
	}
	for _, r := range d.reflected {
		if err := d.readMembers(ctx, r, members); err != nil {
			return nil, err
		}
	}
	for _, p := range slices.Concat(d.leaving(), d.arriving()) {
		if err := d.listMembers(ctx, p.periodID, members); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(members)), nil
}

// readMembers adds the members that have changed in a source since it was reflected.
func (d *derivation) readMembers(ctx context.Context, r reflected, members map[string]struct{}) error {
	source, ok := d.periods[r.periodID]
	if r.periodID != 0 && !ok {
		return fmt.Errorf("%w: period %d is gone", errNeedsCompute, r.periodID)
	}
	if source.lastSeq < r.seq {
		return fmt.Errorf("%w: period %d is at %d, before %d", errNeedsCompute, r.periodID, source.lastSeq, r.seq)
	}
	for at := r.seq; at < source.lastSeq; {
		commits, err := entries.ReadLog(ctx, d.db, d.q, r.periodID, at, logRows, entries.DecodeChanges)
		if errors.Is(err, leaderboard.ErrLogPruned) || errors.Is(err, entries.ErrPayload) {
			err = fmt.Errorf("%w: %w", errNeedsCompute, err)
		}
		if err != nil {
			return err
		}
		for _, c := range commits {
			for _, change := range c.Changes {
				members[change.Member] = struct{}{}
			}
			at = c.LastSeq
		}
		if len(members) > stepMembers {
			return fmt.Errorf("%w: more than %d members have changed", errNeedsCompute, stepMembers)
		}
	}
	return nil
}

// listMembers adds all members of a period.
func (d *derivation) listMembers(ctx context.Context, periodID int64, members map[string]struct{}) error {
	for after := ""; periodID != 0; {
		if len(members) > stepMembers {
			return fmt.Errorf("%w: more than %d members are concerned", errNeedsCompute, stepMembers)
		}
		start := time.Now()
		n, err := d.scanMembers(ctx, streamQuery("member", periodID, after, listedMembers), func(member string) { members[member], after = struct{}{}, member })
		if err != nil || n < listedMembers {
			return err
		}
		if err := d.rest(ctx, time.Since(start)); err != nil {
			return err
		}
	}
	return nil
}

func (d *derivation) scanMembers(ctx context.Context, query string, fn func(string)) (n int, err error) {
	rows, err := d.q.QueryContext(ctx, d.db.Limited(query))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var member string
		if err := rows.Scan(&member); err != nil {
			return n, err
		}
		fn(member)
		n++
	}
	return n, rows.Err()
}

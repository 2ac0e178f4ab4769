package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"leaderboard/cache"
	"leaderboard/cache/feed"
	"leaderboard/cache/keyring"
	"leaderboard/cache/players"
	"leaderboard/cache/topn"
	"leaderboard/features/review"
	"leaderboard/httpapi"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/refresher"
	"leaderboard/store"
)

// rankings implements httpapi.Rankings.
type rankings struct {
	*cache.Reader
	feed *feed.Feed
}

// Fresh reports whether a revision is still the newest one of a period, as far as the feed can tell.
func (r rankings) Fresh(period int64, at leaderboard.Revision) bool {
	return r.feed.Judge(period, at) == feed.VerdictFresh
}

// Changed implements httpapi.Rankings.
func (r rankings) Changed(ctx context.Context, period int64, than leaderboard.Revision) error {
	return r.feed.Changed(ctx, period, than)
}

// backend is what the handlers need: the store, and the caches of this process, which follow the changes that go through it.
// Questions that every caller may ask and no copy answers pass the gate.
type backend struct {
	people
	overview
	review.Desk
	catalog  *cache.Catalog
	listings *topn.Listings // nil without Redis
	ring     *keyring.Ring
	tokens   *players.Players
	log      *slog.Logger
	gate     gate
}

func (b backend) Board(ctx context.Context, name string) (board leaderboard.Board, err error) {
	if _, err := b.catalog.Board(ctx, name); errors.Is(err, leaderboard.ErrBoardNotFound) { // which is known without a question
		return board, err
	}
	err = b.gate(ctx, func(ctx context.Context) error { board, err = b.Store.Board(ctx, name); return err })
	return board, err
}

func (b backend) BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) (list []leaderboard.Board, err error) {
	err = b.gate(ctx, func(ctx context.Context) error {
		list, err = b.Store.BoardsLabelled(ctx, labels, after, limit)
		return err
	})
	return list, err
}

func (b backend) ChangeBoard(ctx context.Context, name string, change leaderboard.RulesChange) (leaderboard.Board, bool, error) {
	defer b.catalog.Forget(name)
	board, created, err := b.Store.ChangeBoard(ctx, name, change)
	if err == nil && b.listings != nil {
		b.outdated(ctx, name, func(ctx context.Context) error { return b.listings.Changed(ctx, &board) })
	}
	return board, created, err
}

func (b backend) DeleteBoard(ctx context.Context, name string) error {
	defer b.catalog.Forget(name)
	err := b.Store.DeleteBoard(ctx, name)
	if err == nil && b.listings != nil {
		b.outdated(ctx, name, func(ctx context.Context) error { return b.listings.Deleted(ctx, name) })
	}
	return err
}

// outdated passes a change of a board on to Redis, at best effort.
func (b backend) outdated(ctx context.Context, name string, tell func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), redisHealthLimit)
	defer cancel()
	if err := tell(ctx); err != nil {
		b.log.WarnContext(ctx, "a server that starts while MySQL is away may take a board for what it was", "board", name, "error", err)
	}
}

func (b backend) Periods(ctx context.Context, boardID int64, window leaderboard.Window, before int64, limit int) (list []leaderboard.Period, err error) {
	err = b.gate(ctx, func(ctx context.Context) error {
		list, err = b.Store.Periods(ctx, boardID, window, before, limit)
		return err
	})
	return list, err
}

func (b backend) Derivation(ctx context.Context, board string) (d leaderboard.Derivation, err error) {
	if _, err := b.catalog.Board(ctx, board); errors.Is(err, leaderboard.ErrBoardNotFound) {
		return d, err
	}
	err = b.gate(ctx, func(ctx context.Context) error { d, err = b.Store.Derivation(ctx, board); return err })
	return d, err
}

func (b backend) FindMembers(ctx context.Context, q leaderboard.ShownQuery) (found leaderboard.ShownMembers, err error) {
	err = b.gate(ctx, func(ctx context.Context) error { found, err = b.Store.FindMembers(ctx, q); return err })
	return found, err
}

func (b backend) Race(ctx context.Context, q leaderboard.RaceQuery) (race leaderboard.Race, err error) {
	err = b.gate(ctx, func(ctx context.Context) error { race, err = b.Store.Race(ctx, q); return err })
	return race, err
}

// known returns a changed key after this process has taken the change over. Other processes, and this one when that fails, do so
// within a second.
func (b backend) known(ctx context.Context, key leaderboard.Key, err error) (leaderboard.Key, error) {
	if err == nil {
		_ = b.ring.Renew(ctx)
	}
	return key, err
}

func (b backend) ChangeKey(ctx context.Context, id string, change leaderboard.KeyChange) (leaderboard.Key, error) {
	key, err := b.Store.ChangeKey(ctx, id, change)
	return b.known(ctx, key, err)
}

func (b backend) RotateKey(ctx context.Context, id string, hash leaderboard.KeyHash, overlap time.Duration) (leaderboard.Key, error) {
	key, err := b.Store.RotateKey(ctx, id, hash, overlap)
	return b.known(ctx, key, err)
}

func (b backend) RevokeKey(ctx context.Context, id string) (leaderboard.Key, error) {
	key, err := b.Store.RevokeKey(ctx, id)
	return b.known(ctx, key, err)
}

// heard returns an error once this process knows what was changed of issuers, signing keys and bars. Elsewhere, and here when
// that fails, it is known within a second.
func (b backend) heard(ctx context.Context, err error) error {
	if err == nil {
		_ = b.tokens.Renew(ctx)
	}
	return err
}

func (b backend) PutIssuer(ctx context.Context, name string, rules leaderboard.IssuerRules) (leaderboard.Issuer, bool, error) {
	i, created, err := b.Store.PutIssuer(ctx, name, rules)
	return i, created, b.heard(ctx, err)
}

func (b backend) DeleteIssuer(ctx context.Context, name string) error {
	return b.heard(ctx, b.Store.DeleteIssuer(ctx, name))
}

func (b backend) RotateSigning(ctx context.Context, overlap time.Duration) error {
	return b.heard(ctx, b.Store.RotateSigning(ctx, overlap))
}

func (b backend) BarMember(ctx context.Context, member string, before leaderboard.Micros) (leaderboard.MemberBar, error) {
	bar, err := b.Store.BarMember(ctx, member, before)
	return bar, b.heard(ctx, err)
}

func (b backend) UnbarMember(ctx context.Context, member string) error {
	return b.heard(ctx, b.Store.UnbarMember(ctx, member))
}

// Export reads all entries of a period in one state.
func (b backend) Export(
	ctx context.Context, ref leaderboard.PeriodRef, metadata bool, begin func(leaderboard.State) error, entries func([]leaderboard.Entry, []string) error,
) error {
	codec := rank.CodecOf(ref.Rules)
	var part []leaderboard.Entry
	return b.Store.Export(ctx, ref, metadata, begin, func(keys []rank.Key, bodies []string) error {
		part = part[:0]
		for _, key := range keys {
			e, err := codec.Entry(key)
			if err != nil {
				return err
			}
			part = append(part, e)
		}
		return entries(part, bodies)
	})
}

// ChangesAfter reads the change log of one period.
func (b backend) ChangesAfter(ctx context.Context, from leaderboard.PeriodRevision, changes int) (leaderboard.LogPart, error) {
	parts, err := b.Store.CommitsSince(ctx, []leaderboard.PeriodRevision{from}, changes)
	if err != nil {
		return leaderboard.LogPart{}, err
	}
	part := parts[from.PeriodID]
	switch {
	case errors.Is(part.Err, rank.ErrDiverged):
		part.Err = fmt.Errorf("%w: at seq %d of %d", leaderboard.ErrHistoryChanged, from.Seq, part.At.Seq)
	case errors.Is(part.Err, leaderboard.ErrLogPruned):
		part.Err = fmt.Errorf("%w: at seq %d of %d", leaderboard.ErrFeedPruned, from.Seq, part.At.Seq)
	}
	return part, part.Err
}

// refreshing implements httpapi.Refresher.
type refreshing struct {
	refresher *refresher.Refresher
	store     *store.Store
	copies    *topn.Copies // nil without Redis
}

func (r refreshing) Start(
	ctx context.Context, ref leaderboard.PeriodRef, kind leaderboard.RunKind, reason leaderboard.RunReason, actor string,
) (leaderboard.Run, func(context.Context) (leaderboard.Run, error), error) {
	return r.refresher.Start(ctx, refresher.Request{
		Ref: ref, Kind: kind, Reason: reason, Actor: actor, RequestID: leaderboard.CallerOf(ctx).RequestID, Span: trace.From(ctx),
	})
}

// Verify compares the Redis copy of a period with MySQL. Without Redis there is no copy that could be wrong.
func (r refreshing) Verify(ctx context.Context, ref leaderboard.PeriodRef) (leaderboard.Verification, error) {
	if r.copies == nil {
		period, err := r.store.Period(ctx, ref.ID)
		return leaderboard.Verification{Equal: err == nil, Seq: period.LastSeq, Total: period.EntryCount, Detail: leaderboard.NoCopy}, err
	}
	v, err := r.copies.Verify(ctx, ref)
	if errors.Is(err, topn.ErrAway) {
		err = fmt.Errorf("%w: %w", errRedisAway, err)
	}
	return v, err
}

const errRedisAway = httpapi.Reason("Redis does not answer, so the copy cannot be compared.")

package storetest

import (
	"context"

	"leaderboard/leaderboard"
	"leaderboard/store"
)

// Names under which some parts of a store are embedded: the parts' own names are names of methods.
type (
	boardsPart = store.Boards
	runsPart   = store.Runs
)

// whole is a store as one Database.
type whole struct {
	*boardsPart
	*store.Writer
	*store.Entries
	*runsPart
	*store.HiddenMembers
	*store.Erasures
	*store.Housekeeping
	Added
	store *store.Store
}

// Added is the parts that features add to a store.
type Added struct {
	Desk
	Plays
}

// Desk is where admins decide about held submissions.
type Desk interface {
	Held(ctx context.Context, q leaderboard.HeldQuery) ([]leaderboard.Held, error)
	HeldOne(ctx context.Context, id int64) (leaderboard.Held, error)
	DecideHeld(ctx context.Context, d leaderboard.HeldDecision) (leaderboard.Held, error)
}

// Plays begins plays.
type Plays interface {
	BeginPlay(ctx context.Context, board leaderboard.Board, member string) (leaderboard.Play, error)
}

// Of returns a store as one Database, with the parts of features: operations of missing features must not be called.
func Of(s *store.Store, added Added) Featured {
	return whole{
		s.Boards, s.Writer, s.Entries, s.Runs, s.Hidden, s.Erasures, s.Housekeeping, added, s,
	}
}

// StoreOf returns the store that was passed to Of.
func StoreOf(d Database) *store.Store { return d.(whole).store }

func (w whole) Ping(ctx context.Context) error { return w.store.Ping(ctx) }

func (w whole) Now(ctx context.Context) (leaderboard.Micros, error) { return w.store.Now(ctx) }

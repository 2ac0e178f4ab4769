package apitest

import (
	"context"
	"errors"
	"sync"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// Fake is the fake behind the API: the model of the store, with a catalog, a feed and rebuilds, which the store leaves to others.
// Any method can be made to fail. Further needs of a feature are in the feature's own fake.
type Fake struct {
	*storetest.Model
	Keyring *Keyring
	Players *Players

	Mu       sync.Mutex         // guards the next fields while requests are served
	Called   map[string]int     // how often each method was called
	Caller   leaderboard.Caller // of the last deletion of a board
	Fails    map[string]error   // by method
	Panics   bool               // every method panics
	PanicsIn string             // the method that panics, "" for none

	Source   leaderboard.Source
	Stale    bool
	Unseen   bool  // the last look-up of the boards failed
	Behind   int64 // how many changes the last board of an answer about several lacks
	Verified leaderboard.Verification
	RunGate  chan struct{} // a rebuild ends when it is closed; nil: at once

	OnAdmit   func(board string, bytes int64) error // nil: everything is admitted
	Outlasted bool                                  // an answer is no longer fresh after slow work
	OnChanged func(ctx context.Context) error       // nil: no period ever changes

	Outdated map[string]leaderboard.PeriodRef // the answer of Resolve about a board until it is renewed; the zero value: no board
	Renewed  int
}

// NewFake returns a fake without boards.
func NewFake() *Fake {
	m := storetest.NewModel()
	m.SetNow(1_700_000_000_000_000)
	f := &Fake{
		Model: m, Keyring: &Keyring{Table: NewTable[leaderboard.HashedKey](leaderboard.ErrKeyNotFound)},
		Players: &Players{Tokens: map[string]*leaderboard.Player{}, Refused: map[string]error{}},
		Called:  map[string]int{}, Fails: map[string]error{}, Source: leaderboard.SourceLocal,
		Verified: leaderboard.Verification{Equal: true, Seq: 3, Checked: 2, Total: 5},
	}
	m.OnCall, m.OnState = f.Enter, f.mark
	return f
}

// mark sets the source of an answer about one period, and whether it is stale.
func (f *Fake) mark(s *leaderboard.State) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	s.Source, s.Stale = f.Source, f.Stale
}

// Enter begins a method.
func (f *Fake) Enter(method string) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Called[method]++
	if f.Panics || method == f.PanicsIn {
		panic("secret of the inside")
	}
	return f.Fails[method]
}

// Calls returns how often a method was called.
func (f *Fake) Calls(method string) int {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.Called[method]
}

// Writes returns how often a method that changes something was called.
func (f *Fake) Writes() (n int) {
	for _, method := range []string{
		"ChangeBoard", "DeleteBoard", "Submit", "SubmitMultiBoard", "Remove", "Hide", "Restore", "DecideHeld",
		"PutFriends", "AddFriends", "RemoveFriend", "Forget", "BeginPlay", "Start",
	} {
		n += f.Calls(method)
	}
	return n
}

func (f *Fake) DeleteBoard(ctx context.Context, name string) error {
	f.Caller = leaderboard.CallerOf(ctx)
	return f.Model.DeleteBoard(ctx, name)
}

func (f *Fake) CombinedPage(ctx context.Context, p []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	out, err := f.Model.CombinedPage(ctx, p, q)
	if err == nil {
		last := &out.States[len(out.States)-1]
		if last.Source, last.Stale = f.Source, f.Stale; !q.Uncached {
			last.Seq -= f.Behind
		}
	}
	return out, err
}

func (f *Fake) CombinedMember(ctx context.Context, p []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (*leaderboard.CombinedStandings, error) {
	out, err := f.Model.CombinedMember(ctx, p, q)
	if err == nil && !q.Uncached && f.Behind > 0 {
		out.States[len(out.States)-1].Seq -= f.Behind
		out.Entries = nil // not there yet
	}
	return out, err
}

func (f *Fake) FriendsOf(ctx context.Context, members []string) ([][]string, error) {
	lists, err := f.Model.FriendsOf(ctx, members)
	if err == nil {
		err = f.Enter("KeptFriends")
	}
	out := make([][]string, len(members))
	for i, m := range members {
		out[i] = lists[m]
	}
	return out, err
}

func (f *Fake) Admit(board string, bytes int64) error {
	if f.OnAdmit == nil {
		return nil
	}
	return f.OnAdmit(board, bytes)
}

func (f *Fake) Fresh(int64, leaderboard.Revision) bool { return !f.Outlasted }

func (f *Fake) Changed(ctx context.Context, _ int64, _ leaderboard.Revision) error {
	if f.OnChanged == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	return f.OnChanged(ctx)
}

func (f *Fake) Start(ctx context.Context, ref leaderboard.PeriodRef, kind leaderboard.RunKind, reason leaderboard.RunReason,
	actor string,
) (leaderboard.Run, func(context.Context) (leaderboard.Run, error), error) {
	if err := f.Enter("Start"); err != nil {
		return leaderboard.Run{}, nil, err
	}
	run, err := f.StartRun(ctx, leaderboard.Run{
		BoardID: ref.BoardID, Board: ref.Board, PeriodID: ref.ID, Window: ref.Window, Period: ref.Name,
		Kind: kind, Reason: reason, Actor: actor, State: leaderboard.RunStateRunning,
	})
	gate := f.RunGate
	return run, func(ctx context.Context) (leaderboard.Run, error) {
		if gate != nil {
			select {
			case <-gate:
			case <-ctx.Done():
				return run, ctx.Err()
			}
		}
		done := run
		done.State, done.Took, done.Rows = leaderboard.RunStateDone, 12500*time.Microsecond, 2
		if err := f.Enter("Refresh"); err != nil {
			done.State, done.Error = leaderboard.RunStateFailed, err.Error()
			_, finished := f.FinishRun(ctx, done)
			return done, errors.Join(err, finished)
		}
		return f.FinishRun(ctx, done)
	}, err
}

func (f *Fake) Verify(context.Context, leaderboard.PeriodRef) (leaderboard.Verification, error) {
	return f.Verified, f.Enter("Verify")
}

// VerifySources returns Verified for a derived board.
func (f *Fake) VerifySources(ctx context.Context, board string) (leaderboard.Verification, error) {
	b, err := f.Board(ctx, board)
	if err == nil && b.Rules.Derive == nil {
		err = leaderboard.ErrNotDerived
	}
	return f.Verified, errors.Join(err, f.Enter("VerifySources"))
}

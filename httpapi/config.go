package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"leaderboard"
)

// Boards keeps the boards. Its methods block until MySQL has answered or ctx ends and may be called concurrently.
type Boards interface {
	// PutBoard creates a board or changes its rules, durably; the same rules twice change nothing. Errors:
	// *leaderboard.RuleError, *leaderboard.ConflictError, ErrUnavailable.
	PutBoard(ctx context.Context, name string, rules leaderboard.Rules) (b leaderboard.Board, created bool, err error)
	// Board finds one board; ErrBoardNotFound.
	Board(ctx context.Context, name string) (leaderboard.Board, error)
	// BoardsLabelled lists up to limit boards that have all labels, with names behind after, in the order of their bytes.
	BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) ([]leaderboard.Board, error)
	// DeleteBoard removes a board with all its periods; the name is free when it returns. ErrBoardNotFound.
	DeleteBoard(ctx context.Context, name string) error
}

// Catalog finds the period that a request is about.
type Catalog interface {
	// Resolve takes a board's name, a window ("" for the board's first) and a period's name ("" for the current one).
	// It is called for every request, so it should answer from memory. Errors: ErrBoardNotFound, ErrPeriodNotFound
	// (also for a window that the board does not have), ErrUnavailable.
	Resolve(ctx context.Context, board, window, period string) (leaderboard.PeriodRef, leaderboard.Board, error)
	// Renew makes Resolve answer with what the board is at the call or later. Errors: ErrBoardNotFound, ErrUnavailable.
	Renew(ctx context.Context, board string) error
	// Labelled are the names of the boards that have all labels, private ones included, in the order of their bytes.
	// Errors: ErrUnavailable, a *leaderboard.RuleError when they are too many.
	Labelled(ctx context.Context, labels leaderboard.Labels) ([]string, error)
}

// Writer takes submissions. Its methods return after the commit; ctx bounds only the waiting of the caller.
type Writer interface {
	// Submit applies the entries in order; key is the Idempotency-Key, "" for none. Errors: ErrBoardNotFound,
	// ErrKeyReused, ErrOverloaded, ErrUnavailable, ErrOutcomeUnknown.
	Submit(ctx context.Context, board, key string, entries []leaderboard.Submission) (leaderboard.Receipt, error)
	// SubmitAcross is Submit for entries of several boards: one transaction for all. An entry of a board that does not
	// exist is rejected like one that breaks a rule, and so is one of a derived board.
	SubmitAcross(ctx context.Context, key string, entries []leaderboard.BoardSubmission) (leaderboard.AcrossReceipt, error)
	// Remove takes the member's entry out of one period (0: all current periods of the board). ErrNotRanked when there
	// is none, ErrPeriodClosed when the period is over, otherwise the errors of Submit.
	Remove(ctx context.Context, board string, periodID int64, member string) (leaderboard.Receipt, error)
	// Reopen is Remove for a period that may be closed, which is recorded with the actor.
	Reopen(ctx context.Context, board string, periodID int64, member, actor string) (leaderboard.Receipt, error)
}

// Periods lists the periods of a board, newest first: those with an id below before (0: all), in window ("": any).
type Periods interface {
	Periods(ctx context.Context, boardID int64, window leaderboard.Window, before int64, limit int) ([]leaderboard.Period, error)
}

// Profiles keeps what is shown of members beside their entries. Its methods block until MySQL has answered or ctx ends and
// may be called concurrently.
type Profiles interface {
	// PutProfile sets the whole profile of a member, durably, and returns what is stored; created says whether there was
	// none. Errors: *leaderboard.RuleError, ErrUnavailable.
	PutProfile(ctx context.Context, p leaderboard.Profile) (out leaderboard.Profile, created bool, err error)
	// PatchProfile changes a part of it, of an empty profile when there is none, in one step. Errors as of PutProfile.
	PatchProfile(ctx context.Context, member string, change leaderboard.ProfilePatch) (out leaderboard.Profile, created bool, err error)
	// Profile is the profile of a member as it is now; ErrProfileNotFound.
	Profile(ctx context.Context, member string) (leaderboard.Profile, error)
	// ProfilesOf are the profiles of members in their order, nil where there is none. They may be half a minute old,
	// except for what was put here. With an error they are those at hand, however old.
	ProfilesOf(ctx context.Context, members []string) ([]*leaderboard.Profile, error)
}

// Friends keeps who is whose friend; it need not be mutual. Its methods block until MySQL has answered or ctx ends and may
// be called concurrently. Errors: *leaderboard.RuleError, ErrUnavailable.
type Friends interface {
	// PutFriends makes a list the one given, durably, and returns its length; AddFriends adds to it, all or nothing.
	PutFriends(ctx context.Context, member string, friends []string) (int, error)
	AddFriends(ctx context.Context, member string, friends []string) (int, error)
	// RemoveFriend takes a friend off the list; it may be none.
	RemoveFriend(ctx context.Context, member, friend string) error
	// Friends lists up to limit friends behind after, in the order of their bytes, as they are now.
	Friends(ctx context.Context, member, after string, limit int) ([]string, error)
	// FriendsOf are all friends of a member in the order of their bytes. The list may be a second old unless it was
	// changed here. With an error it is the one at hand, however old. Nobody writes to it.
	FriendsOf(ctx context.Context, member string) ([]string, error)
}

// Forgetter removes members from everywhere.
type Forgetter interface {
	// Forget removes all that is known of a member, and records who asked. It works until it is done or ctx ends, which is
	// no error; what is left is then done without it, and the same call again goes on and tells how far it is. Errors:
	// ErrOverloaded, ErrUnavailable.
	Forget(ctx context.Context, member, actor string) (leaderboard.Forgetting, error)
}

// Rebuilds starts runs and remembers them.
type Rebuilds interface {
	// Start begins a run, or joins one that is asked for already, and returns at once with its id. kind is RunKindFull,
	// RunKindIncremental, or for derived boards RunKindRecompute. wait blocks until the
	// run is finished or its ctx ends; the run goes on without a waiter.
	Start(ctx context.Context, ref leaderboard.PeriodRef, kind leaderboard.RunKind, reason leaderboard.RunReason,
		actor string) (run leaderboard.Run, wait func(context.Context) (leaderboard.Run, error), err error)
	// Run finds one run; ErrRunNotFound.
	Run(ctx context.Context, id int64) (leaderboard.Run, error)
	// Runs lists runs newest first: of one board (0: all), with an id below before (0: all).
	Runs(ctx context.Context, boardID, before int64, limit int) ([]leaderboard.Run, error)
}

// Derived knows how derived boards stand to their sources. Errors: ErrBoardNotFound, ErrNotDerived, ErrUnavailable.
type Derived interface {
	Derivation(ctx context.Context, board string) (leaderboard.Derivation, error)
	// VerifySources compares the entries with those that the sources make, at one state.
	VerifySources(ctx context.Context, board string) (leaderboard.Verification, error)
}

// Config is what an API needs. Boards to Health are required, the rest has defaults.
type Config struct {
	Boards    Boards
	Catalog   Catalog
	Rankings  leaderboard.Rankings
	Merged    leaderboard.MergedRankings
	Writer    Writer
	Periods   Periods
	Profiles  Profiles
	Friends   Friends
	Forgetter Forgetter
	Rebuilds  Rebuilds
	Hidings   Hidings
	Derived   Derived
	// Verify compares the copy of a period with the truth at one seq.
	Verify func(ctx context.Context, ref leaderboard.PeriodRef) (leaderboard.Verification, error)
	// Export reads all entries of a period in one state: begin gets the state first, then entries gets them in order,
	// best first, in parts of at most 1,000. An error of either ends the export and is returned as it is; otherwise
	// ErrPeriodNotFound, ErrUnavailable, ErrOverloaded.
	Export func(ctx context.Context, ref leaderboard.PeriodRef, begin func(leaderboard.State) error, entries func([]leaderboard.Entry) error) error
	// Health asks every dependency ("mysql", "redis") whether it answers; nil for yes. The text of an error is shown
	// only when it is a Reason.
	Health func(ctx context.Context) map[string]error

	// Keys are the bearer keys. Without any, only public boards can be read.
	Keys []Key
	// CheckRules finds what Rules.Check leaves to others: the cron expression. May be nil.
	CheckRules func(leaderboard.Rules) []leaderboard.FieldError
	// Metrics serves /metrics; nil when another listener does.
	Metrics http.Handler
	// OnRequest hears of every answered request. route is the path as in the document ("" when no route matched),
	// method one of the standard ones or "OTHER".
	OnRequest func(route, method string, status int, took time.Duration)
	Logger    *slog.Logger

	MaxBody        int64         // bytes of a request body, default 1 MiB
	MaxConcurrent  int           // requests of /v1 served at the same time, default 4096; beyond: 503 overloaded
	MaxExports     int           // exports made at the same time, each with a connection to MySQL; default 2, beyond: 503
	ExportStall    time.Duration // in which the client of an export must take a part of it, default 30s
	RequestTimeout time.Duration // for one request, rebuilds with ?wait= aside; default 10s
}

// Reason is an error of a dependency whose text is fit to be shown by /readyz.
type Reason string

func (r Reason) Error() string { return string(r) }

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.OnRequest == nil {
		c.OnRequest = func(string, string, int, time.Duration) {}
	}
	if c.CheckRules == nil {
		c.CheckRules = func(leaderboard.Rules) []leaderboard.FieldError { return nil }
	}
	if c.MaxBody <= 0 {
		c.MaxBody = 1 << 20
	}
	if c.MaxConcurrent <= 0 {
		c.MaxConcurrent = 4096
	}
	if c.MaxExports <= 0 {
		c.MaxExports = 2
	}
	if c.ExportStall <= 0 {
		c.ExportStall = 30 * time.Second
	}
	if c.RequestTimeout <= 0 {
		c.RequestTimeout = 10 * time.Second
	}
	return c
}

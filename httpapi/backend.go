package httpapi

import (
	"context"
	"time"

	"leaderboard/internal/guard"
	"leaderboard/leaderboard"
)

// The interfaces below the API. All methods may be called concurrently, and block until they have an answer or ctx ends. Any of
// them may fail with ErrUnavailable or ErrOverloaded.

// Catalog finds the period that a request is about. It is called for every request, so it answers from memory.
type Catalog interface {
	// Resolve takes a board's name, a window ("" for the board's first) and a period's name ("" for the current one).
	// The board must not be changed. Errors: ErrBoardNotFound, ErrPeriodNotFound (also for a window that the board does not have).
	Resolve(ctx context.Context, board, window, period string) (leaderboard.PeriodRef, *leaderboard.Board, error)
	// Renew makes Resolve answer with the board as it is at the call or later. Errors: ErrBoardNotFound.
	Renew(ctx context.Context, board string) error
	// Board finds a board as Resolve knows it. Errors: ErrBoardNotFound.
	Board(ctx context.Context, name string) (leaderboard.Board, error)
	// PeriodsBefore lists the periods of a board's window that begin before a moment and have a row, the latest first, at
	// most limit. Errors: ErrBoardNotFound.
	PeriodsBefore(ctx context.Context, board string, w leaderboard.Window, before leaderboard.Micros, limit int) ([]leaderboard.Period, error)
	// Labelled returns the names of the boards that have all labels, private ones included, in the order of their bytes.
	// Errors: a *leaderboard.RuleError when they are too many.
	Labelled(ctx context.Context, labels leaderboard.Labels) ([]string, error)
}

// Rankings answers questions about the entries of periods.
type Rankings interface {
	leaderboard.Rankings
	leaderboard.CombinedRankings
	leaderboard.Pasts
	leaderboard.MetadataReader
	// Fresh reports whether an answer about a period may still go out after slow work. It never blocks.
	Fresh(period int64, r leaderboard.Revision) bool
	// Changed blocks until a period has something newer than a revision, or is gone. It ends with ctx, with an error.
	Changed(ctx context.Context, period int64, than leaderboard.Revision) error
}

// Writer writes entries.
type Writer interface {
	// Admit reports whether a submission of about so many bytes for a board ("": for several boards) would be refused now,
	// so that its body need not be read: nil, or the ErrOverloaded or ErrUnavailable of Submit. It reserves nothing, never
	// blocks and costs next to nothing.
	Admit(board string, bytes int64) error
	// Submit applies the entries in order. Errors: ErrBoardNotFound, ErrKeyReused, ErrOutcomeUnknown.
	Submit(ctx context.Context, r leaderboard.SubmitRequest) (leaderboard.Receipt, error)
	// SubmitMultiBoard is Submit for entries of several boards: one transaction for all. An entry of a board that does not
	// exist is rejected like one that breaks a rule, and so is one of a derived board.
	SubmitMultiBoard(ctx context.Context, r leaderboard.MultiBoardRequest) (leaderboard.MultiBoardReceipt, error)
	// Remove removes the entry of a member. ErrNotRanked when there is none, ErrPeriodNotFound when the board has no such
	// period, ErrPeriodClosed when the period is over and not reopened, otherwise the errors of Submit.
	Remove(ctx context.Context, r leaderboard.RemoveRequest) (leaderboard.Receipt, error)
}

// Store keeps everything besides entries: what it returns is what the database has, and what it changes is durable.
type Store interface {
	// ChangeBoard creates a board or changes its rules to what change makes of it; the same rules twice change nothing.
	// The board does not change meanwhile; change may be called again, and its errors come back. Others:
	// *leaderboard.RuleError, *leaderboard.ConflictError.
	ChangeBoard(ctx context.Context, name string, change leaderboard.RulesChange) (b leaderboard.Board, created bool, err error)
	// Board finds one board; ErrBoardNotFound.
	Board(ctx context.Context, name string) (leaderboard.Board, error)
	// BoardsLabelled lists up to limit boards that have all labels, with names after that one, in the order of their bytes.
	BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) ([]leaderboard.Board, error)
	// DeleteBoard removes a board with all its periods; the name is free when it returns. ErrBoardNotFound.
	DeleteBoard(ctx context.Context, name string) error
	// Periods lists the periods of a board, newest first: those with an id below before (0: all), in window ("": any).
	Periods(ctx context.Context, boardID int64, window leaderboard.Window, before int64, limit int) ([]leaderboard.Period, error)
	// Export reads all entries of a period in one state: begin gets the state first, then entries gets them in order, best
	// first, in parts of at most 1,000, with their metadata when that is asked for, otherwise nil. An error of either ends the
	// export and is returned as it is; ErrPeriodNotFound.
	Export(ctx context.Context, ref leaderboard.PeriodRef, metadata bool, begin func(leaderboard.State) error, entries func([]leaderboard.Entry, []string) error) error

	// ChangesAfter reads the change log of a period after a revision: the commits of its next changes, at most as many and one
	// commit at least when there are any. The state at seq 0 is one, whatever time is given for it. Errors: ErrPeriodNotFound;
	// ErrHistoryChanged when the revision is none of the period's; ErrFeedPruned.
	ChangesAfter(ctx context.Context, from leaderboard.PeriodRevision, changes int) (leaderboard.LogPart, error)

	// BoardHealth returns the health of boards, in their order, with few questions for all of them; there are at most maxStatus.
	// Servers that do not answer soon are left out. away: the database is known not to answer, so it is not asked.
	BoardHealth(ctx context.Context, boards []leaderboard.Board, away bool) []leaderboard.BoardHealth
	// KnownBoards returns the boards that this server knows without the database and for which want is true, with names
	// after that one, in the order of their bytes, at most limit.
	KnownBoards(after string, limit int, want func(*leaderboard.Board) bool) []leaderboard.Board

	// Derivation compares a derived board with the states of its sources. ErrBoardNotFound, ErrNotDerived.
	Derivation(ctx context.Context, board string) (leaderboard.Derivation, error)
	// VerifySources compares the entries of a derived board with those that follow from its sources, at one state. Errors: those of
	// Derivation.
	VerifySources(ctx context.Context, board string) (leaderboard.Verification, error)
	// Run finds one run; ErrRunNotFound.
	Run(ctx context.Context, id int64) (leaderboard.Run, error)
	// Runs lists runs newest first: of one board (0: all), with an id below before (0: all).
	Runs(ctx context.Context, boardID, before int64, limit int) ([]leaderboard.Run, error)
	// Submissions returns those of a member to a board that were recorded, newest first.
	Submissions(ctx context.Context, q leaderboard.SubmissionsQuery) ([]leaderboard.SubmissionRecord, error)
	// Audit returns the records that the query selects, newest first. When it stopped looking before there were as many as
	// the limit, more may be behind rest.
	Audit(ctx context.Context, q leaderboard.AuditQuery) (found []leaderboard.AuditEntry, rest leaderboard.AuditPlace, err error)

	// Hide returns when no answer of MySQL shows the member any more, on the board of the request or everywhere; copies
	// follow as after any write. A repetition may change reason and actor. Errors: *leaderboard.RuleError,
	// ErrBoardNotFound, ErrUnknownRule, ErrOutcomeUnknown (it has begun and will be finished, or it has not begun).
	Hide(ctx context.Context, r leaderboard.HideRequest) (leaderboard.HiddenMember, error)
	// Restore undoes that. ErrNotHidden, otherwise the errors of Hide.
	Restore(ctx context.Context, r leaderboard.HideRequest) error
	// Hidden lists the hidden members; ErrBoardNotFound.
	Hidden(ctx context.Context, q leaderboard.HiddenQuery) ([]leaderboard.HiddenMember, error)

	// Activity counts those that were recorded on a board hour by hour; the work is bounded.
	Activity(ctx context.Context, q leaderboard.ActivityQuery) (leaderboard.Activity, error)
	// Race returns what members had at moments since a period began, as it is recorded. ErrPeriodNotFound.
	Race(ctx context.Context, q leaderboard.RaceQuery) (leaderboard.Race, error)

	// Held lists held submissions, newest first.
	Held(ctx context.Context, q leaderboard.HeldQuery) ([]leaderboard.Held, error)
	// HeldOne finds one; ErrHeldNotFound.
	HeldOne(ctx context.Context, id int64) (leaderboard.Held, error)
	// DecideHeld approves or rejects one; the same decision again changes nothing. Errors: ErrHeldNotFound, ErrHeldDecided,
	// ErrPeriodClosed, ErrPeriodNotFound, *leaderboard.RuleError.
	DecideHeld(ctx context.Context, d leaderboard.HeldDecision) (leaderboard.Held, error)

	// Profile is the profile of a member as it is now; ErrProfileNotFound.
	Profile(ctx context.Context, member string) (leaderboard.Profile, error)
	// ProfilesOf returns the profiles of members in their order, nil for a member without one. They may be half a minute old,
	// unless they were changed here. With an error they are the cached ones, of any age.
	ProfilesOf(ctx context.Context, members []string) ([]*leaderboard.Profile, error)
	// PutProfile sets the whole profile of a member and returns what is stored; created reports whether there was none.
	// Errors: *leaderboard.RuleError.
	PutProfile(ctx context.Context, p leaderboard.Profile) (out leaderboard.Profile, created bool, err error)
	// PatchProfile changes a part of it, of an empty profile when there is none, in one step. Errors as of PutProfile.
	PatchProfile(ctx context.Context, member string, change leaderboard.ProfilePatch) (out leaderboard.Profile, created bool, err error)
	// ResetName takes a display name away, which PutProfile and PatchProfile then give again for admins only. Errors:
	// ErrProfileNotFound, *leaderboard.RuleError.
	ResetName(ctx context.Context, r leaderboard.NameReset) (leaderboard.Profile, error)
	// SearchMembers finds members; the work is bounded.
	SearchMembers(ctx context.Context, q leaderboard.MemberQuery) (leaderboard.FoundMembers, error)
	// FindMembers finds those with an entry in a period by what is shown of them; the work is bounded.
	FindMembers(ctx context.Context, q leaderboard.ShownQuery) (leaderboard.ShownMembers, error)
	// MemberData calls tell with all that is stored of a member, kind by kind in the order of leaderboard.MemberRecord's fields. An error
	// of tell ends it and is returned as it is.
	MemberData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error
	// Forget removes everything about a member, and records the actor. It works until it is done, or ctx ends, or a board cannot
	// be written to, which are no errors; the housekeeping then does the rest, and the same call again goes on and returns how far it
	// is.
	Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error)

	// PutFriends makes a list the one given and returns its length; AddFriends adds to it, all or nothing. Errors of both:
	// *leaderboard.RuleError.
	PutFriends(ctx context.Context, member string, friends []string) (int, error)
	AddFriends(ctx context.Context, member string, friends []string) (int, error)
	// RemoveFriend takes a friend off the list; it may not be on it.
	RemoveFriend(ctx context.Context, member, friend string) error
	// Friends lists up to limit friends after the given one, in the order of their bytes, as they are now.
	Friends(ctx context.Context, member, after string, limit int) ([]string, error)
	// FriendsOf returns all friends of members, which are distinct, in the order of the members; those of each are in the
	// order of their bytes. A list may be a second old unless it was changed here. With an error the lists are the cached ones,
	// of any age. The caller must not change them.
	FriendsOf(ctx context.Context, members []string) ([][]string, error)

	// PutIssuer creates an issuer of players' tokens or replaces its rules, which have passed their Check;
	// *leaderboard.RuleError. This and all that follows records the caller.
	PutIssuer(ctx context.Context, name string, rules leaderboard.IssuerRules) (i leaderboard.Issuer, created bool, err error)
	// DeleteIssuer ends an issuer with its tokens; ErrIssuerNotFound.
	DeleteIssuer(ctx context.Context, name string) error
	// Issuer finds an issuer; ErrIssuerNotFound.
	Issuer(ctx context.Context, name string) (leaderboard.Issuer, error)
	// Issuers lists up to limit issuers with a name after that one, in the order of their names.
	Issuers(ctx context.Context, after string, limit int) ([]leaderboard.Issuer, error)
	// RotateSigning makes another key for new tokens; those of the ones before are taken for the time of the overlap.
	// ErrKeyOverlap.
	RotateSigning(ctx context.Context, overlap time.Duration) error
	// BeginPlay begins a play of a member on a board, which ends the one before it.
	BeginPlay(ctx context.Context, board leaderboard.Board, member string) (leaderboard.Play, error)
	// BarMember ends all tokens of a member that were issued before a time, 0: now; *leaderboard.RuleError.
	BarMember(ctx context.Context, member string, before leaderboard.Micros) (leaderboard.MemberBar, error)
	// UnbarMember takes that back; ErrBarNotFound.
	UnbarMember(ctx context.Context, member string) error
	// Bar finds the bar of a member; ErrBarNotFound.
	Bar(ctx context.Context, member string) (leaderboard.MemberBar, error)

	// CreateKey adds a key under its ID, with the hash of its secret; *leaderboard.RuleError. This and all that changes keys
	// records the caller.
	CreateKey(ctx context.Context, k leaderboard.Key, hash leaderboard.KeyHash) (leaderboard.Key, error)
	// ChangeKey changes a key; *leaderboard.RuleError, ErrKeyRevoked, ErrKeyNotFound.
	ChangeKey(ctx context.Context, id string, change leaderboard.KeyChange) (leaderboard.Key, error)
	// RotateKey gives a key another secret; for the time of the overlap the old one is valid as well. ErrKeyRevoked,
	// ErrKeyOverlap, ErrKeyNotFound.
	RotateKey(ctx context.Context, id string, hash leaderboard.KeyHash, overlap time.Duration) (leaderboard.Key, error)
	// RevokeKey ends a key for good; a repetition changes nothing. ErrKeyNotFound.
	RevokeKey(ctx context.Context, id string) (leaderboard.Key, error)
	// Key finds a key, one that was revoked too; ErrKeyNotFound.
	Key(ctx context.Context, id string) (leaderboard.Key, error)
	// Keys lists up to limit keys with an id after that one, in the order of their ids.
	Keys(ctx context.Context, after string, limit int) ([]leaderboard.Key, error)
}

// Players knows players by their tokens. All methods may be called concurrently. Errors of all: ErrUnavailable.
type Players interface {
	guard.Tokens
	// Mint makes a token of a grant that has passed Check.
	Mint(ctx context.Context, g leaderboard.TokenGrant, now time.Time) (token string, expires leaderboard.Micros, err error)
	// PublicKeys returns the keys by which tokens of this service are verified, in the order of their ids.
	PublicKeys(ctx context.Context, now time.Time) ([]leaderboard.PublicKey, error)
	// MintPlay makes the token of a play that was begun.
	MintPlay(ctx context.Context, play leaderboard.Play, now time.Time) (string, error)
	// FindPlay returns what the token of a play says, without its time; *leaderboard.TokenError. admit is called before its
	// signature is verified.
	FindPlay(ctx context.Context, token string, now time.Time, admit func() error) (leaderboard.Play, error)
	// CheckIssuer finds what IssuerRules.Check leaves to others.
	CheckIssuer(rules leaderboard.IssuerRules) []leaderboard.FieldError
	// PassedOver returns up to leaderboard.MaxPassedOver keys of an issuer that are not used, as far as this process knows them.
	PassedOver(i *leaderboard.Issuer) []leaderboard.UnusableKey
}

// Refresher works on the copies of periods.
type Refresher interface {
	// Start begins a run, or joins one that was requested already, and returns at once with its id. kind is RunKindFull,
	// RunKindIncremental, or for derived boards RunKindRecompute. wait blocks until the run is finished or its ctx ends; the
	// run goes on without a waiter.
	Start(ctx context.Context, ref leaderboard.PeriodRef, kind leaderboard.RunKind, reason leaderboard.RunReason,
		actor string) (run leaderboard.Run, wait func(context.Context) (leaderboard.Run, error), err error)
	// Verify compares the Redis copy of a period with the database at one seq.
	Verify(ctx context.Context, ref leaderboard.PeriodRef) (leaderboard.Verification, error)
}

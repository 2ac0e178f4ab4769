package leaderboard

import (
	"errors"
	"strings"
	"time"
)

// Error is a sentinel error: the meaning of a failure.
type Error struct {
	Code string // stable, as in problems of the API; "" for an error that clients never see
	text string
}

func (e *Error) Error() string { return e.text }

// The sentinel errors, by meaning, whichever layer found the error.
var (
	ErrBoardNotFound  = &Error{Code: "board-not-found", text: "board not found"}
	ErrPeriodNotFound = &Error{Code: "period-not-found", text: "period not found"}
	ErrNotRanked      = &Error{Code: "not-ranked", text: "member is not ranked"}
	ErrRunNotFound    = &Error{Code: "run-not-found", text: "run not found"}
	// ErrNotDerived: only derived boards have a derivation.
	ErrNotDerived = &Error{Code: "not-derived", text: "board is not derived"}
	// ErrProfileNotFound: the member has no profile.
	ErrProfileNotFound = &Error{Code: "profile-not-found", text: "profile not found"}
	ErrNotHidden       = &Error{Code: "not-hidden", text: "member is not hidden"}
	// ErrKeyNotFound: no API key has this id, or this secret.
	ErrKeyNotFound = &Error{Code: "key-not-found", text: "API key not found"}
	// ErrKeyRevoked: the API key was revoked, for good.
	ErrKeyRevoked = &Error{Code: "key-revoked", text: "API key is revoked"}
	// ErrKeyOverlap: the API key has two valid secrets now, so it cannot get a third secret with an overlap.
	ErrKeyOverlap = &Error{Code: "key-overlap", text: "API key has two secrets already"}
	// ErrEndpointNotFound: no endpoint has this name.
	ErrEndpointNotFound = &Error{Code: "endpoint-not-found", text: "endpoint not found"}
	// ErrEventNotFound: no stored event that the endpoint gets has this id.
	ErrEventNotFound = &Error{Code: "event-not-found", text: "event not found"}
	// ErrKeyExpired: the API key, or its secret before the last rotation, has expired.
	ErrKeyExpired = &Error{text: "API key is expired"}
	// ErrIssuerNotFound: no issuer has this name.
	ErrIssuerNotFound = &Error{Code: "issuer-not-found", text: "issuer not found"}
	// ErrHeldNotFound: no held submission that is kept has this id.
	ErrHeldNotFound = &Error{Code: "held-not-found", text: "held submission not found"}
	// ErrHeldDecided: the held submission was decided otherwise.
	ErrHeldDecided = &Error{Code: "held-decided", text: "held submission is decided"}
	// ErrBarNotFound: no tokens of the member were ended.
	ErrBarNotFound = &Error{Code: "bar-not-found", text: "the member has no bar"}
	// ErrSignInRefused: the data of the provider, or of the browser, are invalid. Signing in again may help.
	ErrSignInRefused = &Error{Code: "sign-in-refused", text: "sign-in is refused"}
	// ErrNoRole: the provider knows the person, but no setting gives that person anything.
	ErrNoRole = &Error{Code: "no-role", text: "the person has no role here"}
	// ErrProviderAway: the provider by which people sign in does not answer.
	ErrProviderAway = &Error{Code: "provider-away", text: "the identity provider does not answer"}

	// ErrBoardConflict: the change would reorder existing entries, or move them to other periods. A *ConflictError says
	// which change and why.
	ErrBoardConflict = &Error{Code: "board-conflict", text: "board has entries that the change would reorder or move"}
	// ErrPeriodClosed: the period is over; only a correction changes it.
	ErrPeriodClosed = &Error{Code: "period-closed", text: "period is closed"}
	// ErrKeyReused: the Idempotency-Key was used before with a different request.
	ErrKeyReused = &Error{Code: "idempotency-key-reused", text: "idempotency key was used with another request"}
	// ErrSeqAhead: the caller requires a state that the period has not reached.
	ErrSeqAhead = &Error{Code: "seq-ahead", text: "the period has not reached the seq asked for"}

	// ErrOverloaded: too much is waiting; try again soon. Nothing was done. An *OverloadError says how soon.
	ErrOverloaded = &Error{Code: "overloaded", text: "overloaded"}
	// ErrUnavailable: MySQL is away, and no copy could answer. Nothing was done.
	ErrUnavailable = &Error{Code: "unavailable", text: "unavailable"}
	// ErrUnknownRule: the board has a rule that this server does not know, so that only another server may write to it, or read
	// the periods that the rule makes. Nothing was done.
	ErrUnknownRule = &Error{Code: "unknown-rule", text: "board has a rule that this server does not know"}
	// ErrOutcomeUnknown: the connection was lost during COMMIT. The write happened or not; a repetition with the same
	// Idempotency-Key returns the one result.
	ErrOutcomeUnknown = &Error{Code: "outcome-unknown", text: "outcome unknown"}
	// ErrLogPruned: the change log no longer reaches back to the requested seq; only a rebuild helps.
	ErrLogPruned = &Error{text: "change log is pruned"}
	// ErrFeedPruned is for a client that follows the changes: the log no longer has the next change, so the client must
	// export again.
	ErrFeedPruned = &Error{Code: "log-pruned", text: "changes are not kept any more"}
	// ErrIncarnationChanged: the database never had, or has lost, the state from which a reader of the change log
	// continues: it was restored from a backup, or the board was made again.
	ErrIncarnationChanged = &Error{Code: "history-changed", text: "the period has another history"}
)

// Codes of the rules that an input can break. They are stable: clients distinguish rejections by them.
const (
	CodeInvalidBoard  = "invalid-board"
	CodeInvalidMember = "invalid-member"
	// CodeInvalidProfile: a profile breaks one of its bounds.
	CodeInvalidProfile = "invalid-profile"
	// CodeInvalidFriends: a list of friends has a duplicate, the member itself, or an invalid id.
	CodeInvalidFriends = "invalid-friends"
	// CodeTooManyFriends: the list would be longer than MaxFriends.
	CodeTooManyFriends = "too-many-friends"
	CodeScoreLimit     = "score-out-of-range"
	CodeDeltaLimit     = "delta-out-of-range"
	CodeScoreOverflow  = "score-overflow"
	// CodeInvalidNumber: a number is no whole number of 64 bits.
	CodeInvalidNumber = "invalid-number"
	// CodeInvalidFields: the tiebreak fields are not the board's fields, or a value is out of range.
	CodeInvalidFields = "invalid-fields"
	CodeInvalidTime   = "invalid-created-time"
	// CodeInvalidMetadata: the metadata is no object, or longer than the board takes, or the board takes none.
	CodeInvalidMetadata = "invalid-metadata"
	CodeBoardNotStarted = "board-not-started"
	CodeBoardEnded      = "board-ended"
	CodeBetweenSeasons  = "between-seasons"
	// CodeDerivedBoard: a derived board takes no submissions.
	CodeDerivedBoard = "derived-board"
	CodeInvalidHide  = "invalid-hiding"
	// CodeInvalidReset: the reason for taking a name away, or the actor, is missing or too long.
	CodeInvalidReset = "invalid-reset"
	// CodeNameReset: an admin has taken this name away from the member.
	CodeNameReset = "name-reset"
	// CodeConditionUnmet: the entry does not meet the submission's condition. It may later.
	CodeConditionUnmet = "condition-unmet"
	// CodeAborted: another entry of an atomic request was rejected or unmet.
	CodeAborted = "aborted"
	// CodeOverrideNotAllowed: the board does not let this key do otherwise than its policy says.
	CodeOverrideNotAllowed = "override-not-allowed"
	// CodeInvalidKey: a new or changed API key breaks one of its bounds.
	CodeInvalidKey = "invalid-key"
	// CodeInvalidEndpoint: a new or changed endpoint breaks one of its bounds.
	CodeInvalidEndpoint = "invalid-endpoint"
	// CodeTooManyEndpoints: there are as many endpoints as there may be.
	CodeTooManyEndpoints = "too-many-endpoints"
	// CodeInvalidIssuer: an issuer breaks one of its bounds, or could name the same members as another issuer.
	CodeInvalidIssuer = "invalid-issuer"
	// CodePlayNeeded: a player submitted without a play to a board that requires one.
	CodePlayNeeded = "play-needed"
	// CodePlayGone: the play was used, or ended by a later one, or refused too often.
	CodePlayGone = "play-gone"
	// CodePlayTime: the play took less or more time than the board's rule allows.
	CodePlayTime = "play-time"
	// CodePlayRate: the score is more than the time of the play allows.
	CodePlayRate = "play-rate"
	// CodeInvalidPlay: the submission's play is not a play of this member on this board.
	CodeInvalidPlay = "invalid-play"
	// CodeHeld: the submission waits for an admin.
	CodeHeld = "held-for-review"
	// CodeHeldFull: MaxHeldPerMember submissions of the member wait that are as good or better.
	CodeHeldFull = "too-many-held"
	// CodeReviewNeeded: an entry of an atomic request would wait for an admin.
	CodeReviewNeeded = "review-needed"
	// CodeInvalidDecision: a decision about a held submission breaks one of its bounds.
	CodeInvalidDecision = "invalid-decision"
	// CodeInvalidToken: the requested token is not possible.
	CodeInvalidToken = "invalid-token"
	// CodeModeNotAvailable: finding a rank in this mode would take too long here; other modes are available.
	CodeModeNotAvailable = "mode-not-available"
	// CodeBoardsDiffer: boards of different orders cannot be ranked as one.
	CodeBoardsDiffer = "boards-differ"
	// CodeTooManyBoards: more boards than can be ranked as one.
	CodeTooManyBoards = "too-many-boards"
)

// FieldError is one fault in the input: its place and a description.
type FieldError struct {
	Pointer string // JSON pointer into the body, such as "/limits/max_score"
	Detail  string
}

// RuleError is a well-formed input that breaks a rule. It is final: the same input fails again, unless it failed
// because of an entry's state (CodeConditionUnmet, CodeAborted).
type RuleError struct {
	Code   string // stable, such as CodeScoreLimit
	Detail string
	Fields []FieldError // may be empty
}

// In returns the error with the window in which it was found, unless that is the window that the caller sees.
func (e *RuleError) In(w Window) *RuleError {
	in := *e
	in.Detail = "in window " + string(w) + ": " + e.Detail
	return &in
}

// AsRule returns the RuleError that err is or wraps, nil if it does not.
func AsRule(err error) *RuleError {
	rule, _ := errors.AsType[*RuleError](err)
	return rule
}

func (e *RuleError) Error() string {
	parts := make([]string, 0, len(e.Fields)+1)
	if e.Detail != "" {
		parts = append(parts, e.Detail)
	}
	for _, f := range e.Fields {
		parts = append(parts, f.Pointer+": "+f.Detail)
	}
	return e.Code + ": " + strings.Join(parts, "; ")
}

// OverloadError is an ErrOverloaded that says how long to wait.
type OverloadError struct {
	Wait   time.Duration // how long the work would have waited, by recent work; 0: unknown
	Detail string        // the overloaded part, for the log
}

func (e *OverloadError) Error() string {
	text := ErrOverloaded.Error() + ": " + e.Detail
	if e.Wait > 0 {
		text += ", the wait is about " + e.Wait.Round(time.Millisecond).String()
	}
	return text
}

// Unwrap returns ErrOverloaded.
func (e *OverloadError) Unwrap() error { return ErrOverloaded }

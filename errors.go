package leaderboard

import (
	"errors"
	"strings"
	"time"
)

// The sentinels say what went wrong by meaning, whichever layer found it.
var (
	ErrBoardNotFound  = errors.New("board not found")
	ErrPeriodNotFound = errors.New("period not found")
	ErrNotRanked      = errors.New("member is not ranked")
	ErrRunNotFound    = errors.New("run not found")
	// ErrNotDerived: only derived boards have what was asked for.
	ErrNotDerived = errors.New("board is not derived")
	// ErrProfileNotFound: nobody has said anything about the member.
	ErrProfileNotFound = errors.New("profile not found")
	ErrNotHidden       = errors.New("member is not hidden")
	// ErrKeyNotFound: there is no API key with this id, or with this secret.
	ErrKeyNotFound = errors.New("API key not found")
	// ErrKeyRevoked: the API key was revoked, which is for good.
	ErrKeyRevoked = errors.New("API key is revoked")
	// ErrKeyOverlap: two secrets of the API key are taken now, so it cannot be given a third with an overlap.
	ErrKeyOverlap = errors.New("API key has two secrets already")
	// ErrKeyExpired: the time of the API key, or of the secret before its last rotation, is over.
	ErrKeyExpired = errors.New("API key is expired")

	// ErrBoardConflict: the change would reorder entries that exist already, or move them to other periods. Which change
	// and why a *ConflictError says.
	ErrBoardConflict = errors.New("board has entries that the change would reorder or move")
	// ErrPeriodClosed: the period is over and does not change any more, unless it is reopened on purpose.
	ErrPeriodClosed = errors.New("period is closed")
	// ErrKeyReused: the Idempotency-Key was used before with another request.
	ErrKeyReused = errors.New("idempotency key was used with another request")
	// ErrSeqAhead: the caller asked for a state that the period has not reached.
	ErrSeqAhead = errors.New("the period has not reached the seq asked for")

	// ErrOverloaded: too much is waiting already; try again soon. Nothing was done. A *OverloadError says how soon.
	ErrOverloaded = errors.New("overloaded")
	// ErrUnavailable: MySQL (and every copy that could have answered) is away. Nothing was done.
	ErrUnavailable = errors.New("unavailable")
	// ErrOutcomeUnknown: the connection was lost during COMMIT. The write happened or it did not;
	// the same Idempotency-Key returns the one true result.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrLogPruned: the change log no longer reaches back to the seq asked for, only a rebuild helps.
	ErrLogPruned = errors.New("change log is pruned")
)

// Codes of the rules that an input can break. They are stable: clients tell rejections apart by them.
const (
	CodeInvalidBoard  = "invalid-board"
	CodeInvalidMember = "invalid-member"
	// CodeInvalidProfile: a profile that is put breaks one of its bounds.
	CodeInvalidProfile = "invalid-profile"
	// CodeInvalidFriends: a list of friends names somebody twice, the member itself, or nobody who can be a member.
	CodeInvalidFriends = "invalid-friends"
	// CodeTooManyFriends: the list would be longer than MaxFriends.
	CodeTooManyFriends = "too-many-friends"
	CodeScoreLimit     = "score-out-of-range"
	CodeDeltaLimit     = "delta-out-of-range"
	CodeScoreOverflow  = "score-overflow"
	// CodeInvalidFields: the tiebreak fields are not those of the board, or a value of one is out of range.
	CodeInvalidFields   = "invalid-fields"
	CodeInvalidTime     = "invalid-created-time"
	CodeBoardNotStarted = "board-not-started"
	CodeBoardEnded      = "board-ended"
	CodeBetweenSeasons  = "between-seasons"
	// CodeDerivedBoard: nothing can be submitted to a derived board.
	CodeDerivedBoard = "derived-board"
	CodeInvalidHide  = "invalid-hiding"
	// CodeInvalidKey: an API key that is made or changed breaks one of its bounds.
	CodeInvalidKey = "invalid-key"
	// CodeModeNotAvailable: finding a rank in this mode would take too long here; the other modes have one.
	CodeModeNotAvailable = "mode-not-available"
	// CodeBoardsDiffer: boards of different orders cannot be ranked as one.
	CodeBoardsDiffer = "boards-differ"
	// CodeTooManyBoards: more boards than are ranked as one.
	CodeTooManyBoards = "too-many-boards"
)

// FieldError names one place in the input and says what is wrong with it.
type FieldError struct {
	Pointer string // JSON pointer into the body, such as "/limits/max_score"
	Detail  string
}

// RuleError is an input that is well-formed and breaks a rule. It is final: the same input fails again.
type RuleError struct {
	Code   string // stable, such as CodeScoreLimit
	Detail string
	Fields []FieldError // may be empty
}

// In returns the error with the window that it was found in, when that is not the one the caller is told about.
func (e *RuleError) In(w Window) *RuleError {
	in := *e
	in.Detail = "in window " + string(w) + ": " + e.Detail
	return &in
}

// AsRule returns the RuleError that err is or wraps, nil when it is another error or none.
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

// OverloadError is an ErrOverloaded that says how long to stay away.
type OverloadError struct {
	Wait   time.Duration // what the work would have waited for, going by what others take; 0: not known
	Detail string        // what is overloaded, for the log
}

func (e *OverloadError) Error() string {
	text := ErrOverloaded.Error() + ": " + e.Detail
	if e.Wait > 0 {
		text += ", the wait is about " + e.Wait.Round(time.Millisecond).String()
	}
	return text
}

// Is makes it an ErrOverloaded.
func (e *OverloadError) Is(target error) bool { return target == ErrOverloaded }

package httpapi

import (
	"time"

	"leaderboard"
)

// Codes of the problems that this package finds by itself; the others belong to an error in the table.
const (
	codeMalformed    = "malformed-request"
	codeUnauthorized = "unauthorized"
	codeForbidden    = "forbidden"
	codeNotFound     = "not-found"
	codeMethod       = "method-not-allowed"
	codeSlowRequest  = "request-timeout"
	codeTooLarge     = "body-too-large"
	codeNotJSON      = "not-json"
	codeInternal     = "internal"
	codeOverloaded   = "overloaded"
	codeTimeout      = "timeout"
	codeClientGone   = "client-closed"
	codeMemberHidden = "member-hidden"
	codeConflict     = "board-conflict"
	codeNoPeriod     = "period-not-found"
	codeRunFailed    = "run-failed"
	codePrecondition = "precondition-failed"
	codeQuota        = "quota-exceeded"
	codeAttempts     = "too-many-attempts"
)

// kind is one row of the table: a sort of problem.
type kind struct {
	code   string
	status int
	title  string
	detail string // when the error has none of its own
	help   string // what to do about it, for people

	wait time.Duration // what Retry-After goes by when the error does not say; 0: there is none
}

// typ returns the problem's member type.
func (k *kind) typ() string { return "/problems/" + k.code }

// kinds is the one table from codes of errors to responses.
var kinds = []kind{
	{
		code: codeMalformed, status: 400,
		title:  "The request is malformed",
		detail: "The request is not of the documented form.",
		help:   "Correct what the member errors points at; the same request fails again.",
	},
	{
		code: codeUnauthorized, status: 401,
		title:  "A key is needed",
		detail: "This needs a key.",
		help:   "Send the header Authorization: Bearer <key> with a key that the server knows.",
	},
	{
		code: codeForbidden, status: 403,
		title:  "The key does not allow this",
		detail: "The key does not allow this.",
		help:   "Use a key with a greater scope, or one that is for the board: the detail says what the key given is for.",
	},
	{
		code: codeNotFound, status: 404,
		title:  "There is nothing at this address",
		detail: "No route has this path.",
		help:   "The routes are listed at /docs.",
	},
	{
		code: leaderboard.ErrBoardNotFound.Code, status: 404,
		title:  "Board not found",
		detail: "No board has this name.",
		help:   "GET /v1/boards lists the boards; an admin creates one with PUT /v1/boards/{board}.",
	},
	{
		code: leaderboard.ErrPeriodNotFound.Code, status: 404,
		title:  "Period not found",
		detail: "The board has no such window or period.",
		help:   "GET /v1/boards/{board}/periods lists the periods of a board.",
	},
	{
		code: leaderboard.ErrNotRanked.Code, status: 404,
		title:  "The member is not ranked",
		detail: "The member has no entry in this period.",
		help:   "Submit a score for the member first. Ids are compared as bytes: case and spaces matter.",
	},
	{
		code: codeMemberHidden, status: 404,
		title:  "The member is hidden",
		detail: "The member is hidden.",
		help:   "Only admins are told; to everybody else the member is not ranked. DELETE …/members/{member}/hidden shows the member again.",
	},
	{
		code: leaderboard.ErrNotHidden.Code, status: 404,
		title:  "The member is not hidden",
		detail: "The member is not hidden there.",
		help:   "GET /v1/hidden lists who is hidden where: on one board and everywhere are restored one by one.",
	},
	{
		code: leaderboard.ErrKeyNotFound.Code, status: 404,
		title:  "Key not found",
		detail: "No key has this id.",
		help:   "GET /v1/keys lists the keys. Those of the server's settings are not among them.",
	},
	{
		code: leaderboard.ErrRunNotFound.Code, status: 404,
		title:  "Run not found",
		detail: "No run has this id.",
		help:   "GET /v1/runs lists the runs; old ones are forgotten.",
	},
	{
		code: leaderboard.ErrNotDerived.Code, status: 404,
		title:  "The board is not derived",
		detail: "The board has no sources: it is not a derived board.",
		help:   "GET /v1/boards/{board} shows the rule of a derived board in its member derive.",
	},
	{
		code: leaderboard.ErrProfileNotFound.Code, status: 404,
		title:  "The member has no profile",
		detail: "Nobody has put a profile of this member.",
		help:   "PUT /v1/members/{member} makes one. A member may be ranked without a profile, and have one without being ranked.",
	},
	{
		code: codeMethod, status: 405,
		title:  "The method is not allowed here",
		detail: "The route does not have this method.",
		help:   "The header Allow lists the methods of the route.",
	},
	{
		code: codeSlowRequest, status: 408,
		title:  "The request came too slowly",
		detail: "The request did not arrive in time.",
		help:   "Send it again.",
	},
	{
		code: leaderboard.ErrBoardConflict.Code, status: 409,
		title:  "What the board holds stands against the change",
		detail: "What the board holds stands against the change.",
		help:   "The member errors points at what has to stay. Create another board, or delete this one first.",
	},
	{
		code: leaderboard.ErrKeyRevoked.Code, status: 409,
		title:  "The key is revoked",
		detail: "The key was revoked, which is for good.",
		help:   "Make another one with POST /v1/keys.",
	},
	{
		code: leaderboard.ErrKeyOverlap.Code, status: 409,
		title:  "The overlap of a rotation is not over",
		detail: "The key was rotated with an overlap that is not over. Without an overlap it can be rotated now.",
		help:   "Wait for that, or rotate without an overlap: then the new text alone is taken, at once.",
	},
	{
		code: leaderboard.ErrPeriodClosed.Code, status: 409,
		title:  "The period is closed",
		detail: "The period is over and does not change any more.",
		help:   "A correction on purpose is made with ?reopen=true, and recorded.",
	},
	{
		code: leaderboard.ErrSeqAhead.Code, status: 409,
		title:  "The period has not reached this seq",
		detail: "min_seq is ahead of the period.",
		help:   "Ask with the seq that a write answered with, for the same period: each counts its own changes. If you did, the database was restored from a backup.",
	},
	{
		code: codePrecondition, status: 412,
		title:  "The board is not as the request expects",
		detail: "The board is not as If-Match or If-None-Match says.",
		help:   "Read it again with GET /v1/boards/{board}, make the change anew, and send the ETag of that answer. Nothing was changed.",
	},
	{
		code: codeTooLarge, status: 413,
		title:  "The body is too large",
		detail: "The body is larger than the server takes.",
		help:   "Send fewer entries per request.",
	},
	{
		code: codeNotJSON, status: 415,
		title:  "The body is not JSON",
		detail: "The body has to be application/json.",
		help:   "Send the header Content-Type: application/json and UTF-8.",
	},
	{
		code: leaderboard.ErrKeyReused.Code, status: 422,
		title:  "The Idempotency-Key was used with another request",
		detail: "The Idempotency-Key was used before with another request.",
		help:   "Use a new key for a new request, and the old one only to repeat the old request.",
	},
	{
		code: leaderboard.CodeInvalidBoard, status: 422,
		title:  "The board is not valid",
		detail: "The name or the rules of the board are not valid.",
		help:   "Correct what the member errors points at.",
	},
	{
		code: leaderboard.CodeInvalidMember, status: 422,
		title:  "The member id is not valid",
		detail: "The member id is not valid.",
		help:   "A member id is 1 to 64 bytes of UTF-8.",
	},
	{
		code: leaderboard.CodeInvalidProfile, status: 422,
		title:  "The profile is not valid",
		detail: "The profile is not valid.",
		help:   "Correct what the member errors points at.",
	},
	{
		code: leaderboard.CodeInvalidFriends, status: 422,
		title:  "The list of friends is not valid",
		detail: "The list of friends is not valid.",
		help:   "Give each friend once, as an id of 1 to 64 bytes, and not the member itself. Nothing was changed.",
	},
	{
		code: leaderboard.CodeTooManyFriends, status: 422,
		title:  "The member would have too many friends",
		detail: "A member has at most 5,000 friends.",
		help:   "Remove some first, or PUT a shorter list. Nothing was changed.",
	},
	{
		code: leaderboard.CodeScoreLimit, status: 422,
		title:  "The score is outside of the board's limits",
		detail: "The score is outside of the board's limits.",
		help:   "GET /v1/boards/{board} shows the limits.",
	},
	{
		code: leaderboard.CodeDeltaLimit, status: 422,
		title:  "The change of the score is too great",
		detail: "The change of the score is above the board's limit.",
		help:   "GET /v1/boards/{board} shows the limits.",
	},
	{
		code: leaderboard.CodeScoreOverflow, status: 422,
		title:  "The sum does not fit",
		detail: "The sum does not fit into an int64.",
		help:   "Scores lie between -9223372036854775808 and 9223372036854775807; a sum is never wrapped around.",
	},
	{
		code: leaderboard.CodeInvalidFields, status: 422,
		title:  "The tiebreak fields are not valid",
		detail: "The tiebreak fields are not valid.",
		help:   "GET /v1/boards/{board} shows the fields of the board's tiebreak. A value is 0 to 2^bits - 1, and every field is needed.",
	},
	{
		code: leaderboard.CodeInvalidTime, status: 422,
		title:  "The created_time is not valid",
		detail: "The created_time is not valid.",
		help:   "A created_time lies between 1970 and the clock of the database.",
	},
	{
		code: leaderboard.CodeBoardNotStarted, status: 422,
		title:  "The board has not started",
		detail: "The board has not started.",
		help:   "Submit from its starts_at on.",
	},
	{
		code: leaderboard.CodeBoardEnded, status: 422,
		title:  "The board has ended",
		detail: "The board has ended.",
		help:   "Its entries stay readable and change no more.",
	},
	{
		code: leaderboard.CodeModeNotAvailable, status: 422,
		title:  "Ranks in this mode are not available here",
		detail: "Ranks in this mode are not available at this depth.",
		help:   "Ask for mode=strict or mode=tied, which are exact at any depth; dense ranks are known for the first 100,000 entries.",
	},
	{
		code: leaderboard.CodeBoardsDiffer, status: 422,
		title:  "The boards cannot be ranked as one",
		detail: "The boards have different orders or tiebreaks.",
		help:   "Ask for boards whose order and tiebreak are the same: GET /v1/boards/{board} shows them.",
	},
	{
		code: leaderboard.CodeTooManyBoards, status: 422,
		title:  "Too many boards",
		detail: "More boards than can be ranked as one.",
		help:   "Ask for at most 50 boards, or for labels that fewer boards have.",
	},
	{
		code: leaderboard.CodeBetweenSeasons, status: 422,
		title:  "No season is under way",
		detail: "The board takes submissions during its seasons only.",
		help:   "GET /v1/boards/{board} shows when the next season starts.",
	},
	{
		code: leaderboard.CodeDerivedBoard, status: 422,
		title:  "The board is derived",
		detail: "The entries of a derived board follow those of its sources.",
		help:   "Submit to the sources; GET /v1/boards/{board}/sources names them.",
	},
	{
		code: leaderboard.CodeInvalidHide, status: 422,
		title:  "The reason or the actor is not valid",
		detail: "The reason or the actor is not valid.",
		help:   "A reason has 1 to 200 bytes of UTF-8, an actor up to 128.",
	},
	{
		code: leaderboard.CodeInvalidKey, status: 422,
		title:  "The key is not valid",
		detail: "What is said of the key is not valid.",
		help:   "Correct what the member errors points at.",
	},
	{
		code: codeQuota, status: 429, wait: time.Second,
		title:  "A quota is used up",
		detail: "Whoever asks has used up a quota.",
		help:   "Try again after the time in Retry-After; RateLimit-Policy shows how much may be done in how many seconds. An admin gives a key another quota.",
	},
	{
		code: codeAttempts, status: 429, wait: 10 * time.Second,
		title:  "Too many requests with a key that is not good",
		detail: "Too many requests from this address had a key that is not known, has expired or was revoked.",
		help:   "Correct the key. Requests with a good key go on being served.",
	},
	{
		code: codeClientGone, status: 499,
		title:  "The client closed the connection",
		detail: "The client closed the connection.",
		help:   "Seen in metrics only.",
	},
	{
		code: codeInternal, status: 500,
		title:  "Internal error",
		detail: "Something went wrong in the server. It was logged.",
		help:   "Tell the operator the time of the request.",
	},
	{
		code: leaderboard.ErrOutcomeUnknown.Code, status: 503, wait: time.Second,
		title:  "The outcome is unknown",
		detail: "The database was told to commit and did not say in time whether it has: the write happened or it did not.",
		help:   "Repeat the request with the same Idempotency-Key: it returns the one true result. Without a key, read before writing again.",
	},
	{
		code: leaderboard.ErrOverloaded.Code, status: 503, wait: time.Second,
		title:  "The server is busy",
		detail: "The server has as much to do as it takes on. Nothing was done.",
		help:   "Try again after the time in Retry-After.",
	},
	{
		code: leaderboard.ErrUnavailable.Code, status: 503, wait: 5 * time.Second,
		title:  "The service is not available",
		detail: "The database does not answer. Nothing was done.",
		help:   "Try again after the time in Retry-After.",
	},
	{
		code: codeRunFailed, status: 503, wait: 5 * time.Second,
		title:  "The run failed",
		detail: "The run failed.",
		help:   "The member run says why. What was there before it is as it was; the same request begins another run.",
	},
	{
		code: codeTimeout, status: 503, wait: time.Second,
		title:  "The answer took too long",
		detail: "The answer took too long.",
		help:   "Try again after the time in Retry-After.",
	},
}

// kindOf finds a row by its code; an unknown code is an internal error.
func kindOf(code string) *kind {
	var internal *kind
	for i := range kinds {
		switch kinds[i].code {
		case code:
			return &kinds[i]
		case codeInternal:
			internal = &kinds[i]
		}
	}
	return internal
}

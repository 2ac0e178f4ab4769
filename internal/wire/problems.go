package wire

import (
	"time"

	"leaderboard/leaderboard"
)

// Codes of the problems that the front finds without a dependency; the others belong to an error in the table.
const (
	CodeMalformed    = "malformed-request"
	CodeUnauthorized = "unauthorized"
	CodeForbidden    = "forbidden"
	CodeNotFound     = "not-found"
	CodeMethod       = "method-not-allowed"
	CodeSlowRequest  = "request-timeout"
	CodeTooLarge     = "body-too-large"
	CodeNotJSON      = "not-json"
	CodeInternal     = "internal"
	CodeOverloaded   = "overloaded"
	codeTimeout      = "timeout"
	CodeClientGone   = "client-closed"
	CodeMemberHidden = "member-hidden"
	codeConflict     = "board-conflict"
	CodeNoPeriod     = "period-not-found"
	CodeRunFailed    = "run-failed"
	CodePrecondition = "precondition-failed"
	CodeQuota        = "quota-exceeded"
	CodeAttempts     = "too-many-attempts"
)

// Kind is one row of the table: a sort of problem.
type Kind struct {
	Code   string
	Status int
	Title  string
	Detail string // for an error without a detail
	Help   string // the remedy, for people

	Wait time.Duration // for Retry-After when the error has no wait; 0: no Retry-After
}

// Type returns the problem's member type, which leads to its page below the base path.
func (k *Kind) Type(base string) string { return base + "/problems/" + k.Code }

// Kinds is the one table from codes of errors to responses.
var Kinds = []Kind{
	{
		Code: CodeMalformed, Status: 400,
		Title:  "The request is malformed",
		Detail: "The request is not of the documented form.",
		Help:   "Correct what the member errors points at; the same request fails again.",
	},
	{
		Code: CodeUnauthorized, Status: 401,
		Title:  "A key is needed",
		Detail: "This needs a key.",
		Help:   "Send the header Authorization: Bearer <key> with a key that the server knows.",
	},
	{
		Code: CodeForbidden, Status: 403,
		Title:  "The key does not allow this",
		Detail: "The key does not allow this.",
		Help:   "Use a key with a greater scope, or one that is for the board: the detail says what the key given is for.",
	},
	{
		Code: leaderboard.ErrSignInRefused.Code, Status: 400,
		Title:  "The sign-in did not work",
		Detail: "The identity provider sent an answer that is not valid.",
		Help:   "Sign in again, in one window. If that fails too, whoever runs the server finds the reason in its log.",
	},
	{
		Code: leaderboard.ErrNoRole.Code, Status: 403,
		Title:  "You have no role here",
		Detail: "The identity provider knows you, but the settings of this server give you nothing.",
		Help:   "Whoever runs the server adds you, or a group of yours, to --oidc-admins, --oidc-writers or --oidc-readers.",
	},
	{
		Code: leaderboard.CodeOverrideNotAllowed, Status: 403,
		Title:  "The board does not allow this override",
		Detail: "The board does not let this key do otherwise than its policy says.",
		Help:   "GET /v1/boards/{board} shows the rule overrides: which op and keep_time it allows, and which keys besides those of scope admin.",
	},
	{
		Code: CodeNotFound, Status: 404,
		Title:  "There is nothing at this address",
		Detail: "No route has this path.",
		Help:   "The routes are listed at /docs.",
	},
	{
		Code: leaderboard.ErrBoardNotFound.Code, Status: 404,
		Title:  "Board not found",
		Detail: "No board has this name.",
		Help:   "GET /v1/boards lists the boards; an admin creates one with PUT /v1/boards/{board}.",
	},
	{
		Code: leaderboard.ErrPeriodNotFound.Code, Status: 404,
		Title:  "Period not found",
		Detail: "The board has no such window or period.",
		Help:   "GET /v1/boards/{board}/periods lists the periods of a board.",
	},
	{
		Code: leaderboard.ErrNotRanked.Code, Status: 404,
		Title:  "The member is not ranked",
		Detail: "The member has no entry in this period.",
		Help:   "Submit a score for the member first. Ids are compared as bytes: case and spaces matter.",
	},
	{
		Code: CodeMemberHidden, Status: 404,
		Title:  "The member is hidden",
		Detail: "The member is hidden.",
		Help:   "Only admins get this answer; to everybody else the member is not ranked. DELETE …/members/{member}/hidden shows the member again.",
	},
	{
		Code: leaderboard.ErrNotHidden.Code, Status: 404,
		Title:  "The member is not hidden",
		Detail: "The member is not hidden there.",
		Help:   "GET /v1/hidden lists who is hidden where: on one board and everywhere are restored one by one.",
	},
	{
		Code: leaderboard.ErrKeyNotFound.Code, Status: 404,
		Title:  "Key not found",
		Detail: "No key has this id.",
		Help:   "GET /v1/keys lists the keys. Those of the server's settings are not among them.",
	},
	{
		Code: leaderboard.ErrEndpointNotFound.Code, Status: 404,
		Title:  "Endpoint not found",
		Detail: "No endpoint has this name.",
		Help:   "GET /v1/endpoints lists the endpoints that the key may see.",
	},
	{
		Code: leaderboard.ErrEventNotFound.Code, Status: 404,
		Title:  "Event not found",
		Detail: "No event that is kept has this id, or the endpoint does not get it.",
		Help:   "GET /v1/endpoints/{name}/deliveries lists the events of an endpoint; they are kept for three days.",
	},
	{
		Code: leaderboard.ErrIssuerNotFound.Code, Status: 404,
		Title:  "Issuer not found",
		Detail: "No issuer has this name.",
		Help:   "GET /v1/issuers lists the issuers of players' tokens; an admin creates one with PUT /v1/issuers/{name}.",
	},
	{
		Code: leaderboard.ErrBarNotFound.Code, Status: 404,
		Title:  "The member has no bar",
		Detail: "No tokens of the member were ended, or it was longer ago than any token lives.",
		Help:   "PUT /v1/members/{member}/bar ends the tokens that the member has.",
	},
	{
		Code: leaderboard.ErrHeldNotFound.Code, Status: 404,
		Title:  "Held submission not found",
		Detail: "No held submission that is kept has this id.",
		Help:   "GET /v1/held lists them; one is kept for as long as the rule review.expire of its board says, and goes with its member.",
	},
	{
		Code: leaderboard.ErrRunNotFound.Code, Status: 404,
		Title:  "Run not found",
		Detail: "No run has this id.",
		Help:   "GET /v1/runs lists the runs; old ones are forgotten.",
	},
	{
		Code: leaderboard.ErrNotDerived.Code, Status: 404,
		Title:  "The board is not derived",
		Detail: "The board has no sources: it is not a derived board.",
		Help:   "GET /v1/boards/{board} shows the rule of a derived board in its member derive.",
	},
	{
		Code: leaderboard.ErrProfileNotFound.Code, Status: 404,
		Title:  "The member has no profile",
		Detail: "The member has no profile.",
		Help:   "PUT /v1/members/{member} makes one. A member may be ranked without a profile, and have one without being ranked.",
	},
	{
		Code: CodeMethod, Status: 405,
		Title:  "The method is not allowed here",
		Detail: "The route does not have this method.",
		Help:   "The header Allow lists the methods of the route.",
	},
	{
		Code: CodeSlowRequest, Status: 408,
		Title:  "The request came too slowly",
		Detail: "The request did not arrive in time.",
		Help:   "Send it again.",
	},
	{
		Code: leaderboard.ErrHeldDecided.Code, Status: 409,
		Title:  "The held submission is decided",
		Detail: "The held submission was decided otherwise.",
		Help:   "GET /v1/held/{id} shows by whom. An approved entry can be removed, a rejected score submitted again by a key of scope admin.",
	},
	{
		Code: leaderboard.ErrBoardConflict.Code, Status: 409,
		Title:  "The entries or periods of the board forbid the change",
		Detail: "The entries or periods of the board forbid the change.",
		Help:   "The member errors points at what has to stay. Give a new board the other rules; export and import take the entries along: docs/operating#another-order-of-a-board-with-entries.",
	},
	{
		Code: leaderboard.ErrKeyRevoked.Code, Status: 409,
		Title:  "The key is revoked",
		Detail: "The key was revoked, which is for good.",
		Help:   "Make another one with POST /v1/keys.",
	},
	{
		Code: leaderboard.ErrKeyOverlap.Code, Status: 409,
		Title:  "The overlap of a rotation is not over",
		Detail: "The key was rotated with an overlap that is not over. Without an overlap it can be rotated now.",
		Help:   "Wait for that, or rotate without an overlap: then the new text alone is taken, at once.",
	},
	{
		Code: leaderboard.ErrPeriodClosed.Code, Status: 409,
		Title:  "The period is closed",
		Detail: "The period is over and no longer changes.",
		Help:   "A correction on purpose is made with ?reopen=true, and recorded.",
	},
	{
		Code: leaderboard.ErrSeqAhead.Code, Status: 409,
		Title:  "The period has not reached this seq",
		Detail: "min_seq is ahead of the period.",
		Help:   "Ask with the seq that a write answered with, for the same period: each counts its own changes. If you did, the database was restored from a backup.",
	},
	{
		Code: leaderboard.CodeAborted, Status: 409,
		Title:  "Another entry of the request prevented it",
		Detail: "Another entry of the atomic request was rejected or unmet.",
		Help:   "Nothing of the request was applied. Look at the results that are rejected or unmet, and send the request again.",
	},
	{
		Code: leaderboard.ErrIncarnationChanged.Code, Status: 410,
		Title:  "The cursor is of another history",
		Detail: "The cursor is of another history of the period: the database was restored from a backup, or the board was made again.",
		Help:   "Read everything again with GET /v1/boards/{board}/export and follow from the cursor in its header Leaderboard-Cursor. Changes after the last state that both histories share are lost.",
	},
	{
		Code: leaderboard.ErrFeedPruned.Code, Status: 410,
		Title:  "The changes are not kept any more",
		Detail: "The change log does not reach back to the cursor.",
		Help:   "Read everything again with GET /v1/boards/{board}/export and follow from the cursor in its header Leaderboard-Cursor.",
	},
	{
		Code: leaderboard.CodeConditionUnmet, Status: 412,
		Title:  "The entry is not as its condition wants it",
		Detail: "The entry is not as its condition wants it.",
		Help:   "Nothing was changed. The result has the present entry: decide by it, and send another request.",
	},
	{
		Code: CodePrecondition, Status: 412,
		Title:  "The board is not as the request expects",
		Detail: "The board is not as If-Match or If-None-Match says.",
		Help:   "Read it again with GET /v1/boards/{board}, make the change again, and send the ETag of that answer. Nothing was changed.",
	},
	{
		Code: CodeTooLarge, Status: 413,
		Title:  "The body is too large",
		Detail: "The body is larger than the server takes.",
		Help:   "Send fewer entries per request.",
	},
	{
		Code: CodeNotJSON, Status: 415,
		Title:  "The body is not JSON",
		Detail: "The body has to be application/json.",
		Help:   "Send the header Content-Type: application/json and UTF-8.",
	},
	{
		Code: leaderboard.ErrKeyReused.Code, Status: 422,
		Title:  "The Idempotency-Key was used with another request",
		Detail: "The Idempotency-Key was used before with another request.",
		Help:   "Use a new key for a new request, and the old one only to repeat the old request.",
	},
	{
		Code: leaderboard.CodeInvalidBoard, Status: 422,
		Title:  "The board is not valid",
		Detail: "The name or the rules of the board are not valid.",
		Help:   "Correct what the member errors points at.",
	},
	{
		Code: leaderboard.CodeInvalidMember, Status: 422,
		Title:  "The member id is not valid",
		Detail: "The member id is not valid.",
		Help:   "A member id is 1 to 64 bytes of UTF-8.",
	},
	{
		Code: leaderboard.CodeInvalidProfile, Status: 422,
		Title:  "The profile is not valid",
		Detail: "The profile is not valid.",
		Help:   "Correct what the member errors points at.",
	},
	{
		Code: leaderboard.CodeInvalidFriends, Status: 422,
		Title:  "The list of friends is not valid",
		Detail: "The list of friends is not valid.",
		Help:   "Give each friend once, as an id of 1 to 64 bytes, and not the member itself. Nothing was changed.",
	},
	{
		Code: leaderboard.CodeTooManyFriends, Status: 422,
		Title:  "The member would have too many friends",
		Detail: "A member has at most 5,000 friends.",
		Help:   "Remove some first, or PUT a shorter list. Nothing was changed.",
	},
	{
		Code: leaderboard.CodeScoreLimit, Status: 422,
		Title:  "The score is outside of the board's limits",
		Detail: "The score is outside of the board's limits.",
		Help:   "GET /v1/boards/{board} shows the limits.",
	},
	{
		Code: leaderboard.CodeDeltaLimit, Status: 422,
		Title:  "The change of the score is too great",
		Detail: "The change of the score is above the board's limit.",
		Help:   "GET /v1/boards/{board} shows the limits.",
	},
	{
		Code: leaderboard.CodeScoreOverflow, Status: 422,
		Title:  "The sum does not fit",
		Detail: "The sum does not fit into an int64.",
		Help:   "Scores lie between -9223372036854775808 and 9223372036854775807; a sum is never wrapped around.",
	},
	{
		Code: leaderboard.CodeInvalidNumber, Status: 422,
		Title:  "The number is not valid",
		Detail: "The number is not valid.",
		Help:   "Scores, tiebreaks and fields are whole numbers from -9223372036854775808 to 9223372036854775807. 100, 100.0, 1e2 and \"100\" are the same; multiply what has a fraction.",
	},
	{
		Code: leaderboard.CodeInvalidFields, Status: 422,
		Title:  "The tiebreak fields are not valid",
		Detail: "The tiebreak fields are not valid.",
		Help:   "GET /v1/boards/{board} shows the fields of the board's tiebreak. A value is 0 to 2^bits - 1, and every field is needed.",
	},
	{
		Code: leaderboard.CodeInvalidMetadata, Status: 422,
		Title:  "The metadata is not valid",
		Detail: "The metadata is not valid.",
		Help:   "GET /v1/boards/{board} shows with metadata.max_bytes how long a JSON object entries may have, without its spaces. Boards without that rule take none.",
	},
	{
		Code: leaderboard.CodeInvalidTime, Status: 422,
		Title:  "The created_time is not valid",
		Detail: "The created_time is not valid.",
		Help:   "A created_time lies between 1970 and the clock of the database.",
	},
	{
		Code: leaderboard.CodeBoardNotStarted, Status: 422,
		Title:  "The board has not started",
		Detail: "The board has not started.",
		Help:   "Submit from its starts_at on.",
	},
	{
		Code: leaderboard.CodeBoardEnded, Status: 422,
		Title:  "The board has ended",
		Detail: "The board has ended.",
		Help:   "Its entries stay readable and change no more.",
	},
	{
		Code: leaderboard.CodeModeNotAvailable, Status: 422,
		Title:  "Ranks in this mode are not available here",
		Detail: "Ranks in this mode are not available at this depth.",
		Help:   "Ask for mode=strict or mode=tied, which are exact at any depth; dense ranks are known for the first 100,000 entries.",
	},
	{
		Code: leaderboard.CodeBoardsDiffer, Status: 422,
		Title:  "The boards cannot be ranked as one",
		Detail: "The boards have different orders or tiebreaks.",
		Help:   "Ask for boards whose order and tiebreak are the same: GET /v1/boards/{board} shows them.",
	},
	{
		Code: leaderboard.CodeTooManyBoards, Status: 422,
		Title:  "Too many boards",
		Detail: "More boards than can be ranked as one.",
		Help:   "Ask for at most 50 boards, or for labels that fewer boards have.",
	},
	{
		Code: leaderboard.CodeBetweenSeasons, Status: 422,
		Title:  "No season is under way",
		Detail: "The board takes submissions during its seasons only.",
		Help:   "GET /v1/boards/{board} shows when the next season starts.",
	},
	{
		Code: leaderboard.CodeDerivedBoard, Status: 422,
		Title:  "The board is derived",
		Detail: "The entries of a derived board follow those of its sources.",
		Help:   "Submit to the sources; GET /v1/boards/{board}/sources names them.",
	},
	{
		Code: leaderboard.CodeInvalidHide, Status: 422,
		Title:  "The reason or the actor is not valid",
		Detail: "The reason or the actor is not valid.",
		Help:   "A reason has 1 to 200 bytes of UTF-8, an actor up to 128.",
	},
	{
		Code: leaderboard.CodeInvalidReset, Status: 422,
		Title:  "The reason or the actor is not valid",
		Detail: "The reason or the actor is not valid.",
		Help:   "A reason has 1 to 200 bytes of UTF-8, an actor up to 128.",
	},
	{
		Code: leaderboard.CodeNameReset, Status: 422,
		Title:  "The name was taken away",
		Detail: "An admin has taken this name away from the member.",
		Help:   "Ask the player for another name; a PATCH without display_name changes the rest. A key of scope admin can give the name back.",
	},
	{
		Code: leaderboard.CodeInvalidKey, Status: 422,
		Title:  "The key is not valid",
		Detail: "A field of the key is not valid.",
		Help:   "Correct what the member errors points at.",
	},
	{
		Code: leaderboard.CodeInvalidEndpoint, Status: 422,
		Title:  "The endpoint is not valid",
		Detail: "A field of the endpoint is not valid.",
		Help:   "Correct what the member errors points at.",
	},
	{
		Code: leaderboard.CodeTooManyEndpoints, Status: 422,
		Title:  "There are too many endpoints",
		Detail: "There are as many endpoints as there can be.",
		Help:   "Delete one that is not needed, or have one endpoint pass events on.",
	},
	{
		Code: leaderboard.CodeInvalidIssuer, Status: 422,
		Title:  "The issuer is not valid",
		Detail: "A field of the issuer is not valid.",
		Help:   "Correct what the member errors points at. No two issuers have one claim iss, or prefixes of which one begins like the other.",
	},
	{
		Code: leaderboard.CodePlayNeeded, Status: 422,
		Title:  "A play is needed",
		Detail: "Players submit to this board with a play.",
		Help:   "Begin a play with POST /v1/boards/{board}/plays when the player begins, and send its token as play when the player is done.",
	},
	{
		Code: leaderboard.CodePlayGone, Status: 422,
		Title:  "The play is over",
		Detail: "The play was submitted with, or a later one has ended it.",
		Help:   "Begin another play. A player has one on each board, the last one that was begun; a submission uses it up, three refused ones too.",
	},
	{
		Code: leaderboard.CodePlayTime, Status: 422,
		Title:  "The play took too little or too much time",
		Detail: "The time since the play was begun is shorter or longer than the board allows.",
		Help:   "Begin the play when the player begins, and submit between submit_after and submit_before of its answer.",
	},
	{
		Code: leaderboard.CodePlayRate, Status: 422,
		Title:  "The score is too high for the time of the play",
		Detail: "The score is more than the board allows for the time that the play took.",
		Help:   "The board's limits.per_second bounds the score by the seconds since the play was begun. Begin it when the player begins.",
	},
	{
		Code: leaderboard.CodeHeld, Status: 422,
		Title:  "The submission waits for an admin",
		Detail: "The submission waits for an admin, who approves or rejects it.",
		Help:   "Nothing is wrong with it, and it need not be sent again: the board's rule review holds such scores. Admins see it with GET /v1/held.",
	},
	{
		Code: leaderboard.CodeHeldFull, Status: 422,
		Title:  "Too many submissions of the member wait",
		Detail: "Five submissions of the member wait for an admin, all of them as good or better.",
		Help:   "A better one takes the place of the worst. Admins decide with POST /v1/held/{id}/approve and …/reject.",
	},
	{
		Code: leaderboard.CodeReviewNeeded, Status: 422,
		Title:  "The entry would wait for an admin",
		Detail: "The entry would wait for an admin, and an atomic request is not held in part.",
		Help:   "Submit the entry without atomic, or let a key of scope admin submit the request: its submissions are not held.",
	},
	{
		Code: leaderboard.CodeInvalidDecision, Status: 422,
		Title:  "The decision is not valid",
		Detail: "The decision is not valid.",
		Help:   "The member errors names each wrong place and the reason.",
	},
	{
		Code: leaderboard.CodeInvalidPlay, Status: 422,
		Title:  "That is no play",
		Detail: "The text sent as play is no play of this player on this board.",
		Help:   "Send the token that POST /v1/boards/{board}/plays gave this player for this board, as it came. A board whose rule players.submit is not play has none.",
	},
	{
		Code: leaderboard.CodeInvalidToken, Status: 422,
		Title:  "There can be no such token",
		Detail: "A field of the token is not valid.",
		Help:   "Correct what the member errors points at.",
	},
	{
		Code: CodeQuota, Status: 429, Wait: time.Second,
		Title:  "A quota is used up",
		Detail: "The caller has used up a quota.",
		Help:   "Try again after the time in Retry-After; RateLimit-Policy shows how much may be done in how many seconds. An admin gives a key another quota.",
	},
	{
		Code: CodeAttempts, Status: 429, Wait: 10 * time.Second,
		Title:  "Too many requests with a key that is not good",
		Detail: "Too many requests from this address had a key that is not known, has expired or was revoked.",
		Help:   "Correct the key. Requests with a good key are still served.",
	},
	{
		Code: CodeClientGone, Status: 499,
		Title:  "The client closed the connection",
		Detail: "The client closed the connection.",
		Help:   "Seen in metrics only.",
	},
	{
		Code: CodeInternal, Status: 500,
		Title:  "Internal error",
		Detail: "Something went wrong in the server. It was logged.",
		Help:   "Tell the operator the time of the request.",
	},
	{
		Code: leaderboard.ErrOutcomeUnknown.Code, Status: 503, Wait: time.Second,
		Title:  "The outcome is unknown",
		Detail: "COMMIT was sent to the database, which did not answer in time: the write happened or it did not.",
		Help:   "Repeat the request with the same Idempotency-Key: it returns the one true result. Without a key, read before writing again.",
	},
	{
		Code: leaderboard.ErrOverloaded.Code, Status: 503, Wait: time.Second,
		Title:  "The server is busy",
		Detail: "The server has as much to do as it takes on. Nothing was done.",
		Help:   "Try again after the time in Retry-After.",
	},
	{
		Code: leaderboard.ErrUnavailable.Code, Status: 503, Wait: 5 * time.Second,
		Title:  "The service is not available",
		Detail: "The database does not answer. Nothing was done.",
		Help:   "Try again after the time in Retry-After.",
	},
	{
		Code: leaderboard.ErrProviderAway.Code, Status: 503, Wait: 5 * time.Second,
		Title:  "The identity provider does not answer",
		Detail: "The identity provider, by which people sign in, does not answer.",
		Help:   "Try again after the time in Retry-After. Meanwhile who is signed in stays so, and an API key is a way in.",
	},
	{
		Code: leaderboard.ErrUnknownRule.Code, Status: 503, Wait: 5 * time.Second,
		Title:  "The board has a rule that this server does not know",
		Detail: "A board has a rule that this server does not know: of a newer version, or a time zone that its machine does not have. Nothing was done.",
		Help:   "Try again: another server may know it. Bring all servers to one version, and their machines to one version of the time zones.",
	},
	{
		Code: CodeRunFailed, Status: 503, Wait: 5 * time.Second,
		Title:  "The run failed",
		Detail: "The run failed.",
		Help:   "The member run says why. The copy or board before it is unchanged; the same request begins another run.",
	},
	{
		Code: codeTimeout, Status: 503, Wait: time.Second,
		Title:  "The answer took too long",
		Detail: "The answer took too long.",
		Help:   "Try again after the time in Retry-After.",
	},
}

// KindOf finds a row by its code; an unknown code is an internal error.
func KindOf(code string) *Kind {
	var internal *Kind
	for i := range Kinds {
		switch Kinds[i].Code {
		case code:
			return &Kinds[i]
		case CodeInternal:
			internal = &Kinds[i]
		}
	}
	return internal
}

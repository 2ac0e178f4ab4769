package api

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"leaderboard/leaderboard"
)

// Operation is a row of the table of operations: the form of a request, its callers and its cost.
type Operation struct {
	ID     string // in openapi.yaml
	Method string // GET includes HEAD
	Path   string // as in openapi.yaml; {name} stands for any one segment
	Access Access
	// SomeBoards: a key that is for some boards may use the operation and touches no other board. Without it, and without a board in the
	// path, the operation is for keys of all boards.
	SomeBoards bool
	Players    PlayersMay
	Query      any    // a struct with the parameters, see ParamsOf, or Loose; nil: none
	List       string // the member of the answer that has the items of a list, which comes in pages; "": no list
	Body       Body
	Stream     bool          // the answer has no end, so it does not count as a request in service
	Writes     bool          // a row at least, which counts against a quota
	Reads      bool          // answers count as reads of boards; answers to a GET with a board in its path count anyway
	Heavy      int           // units of heavy work that a request counts for
	ExtraTime  time.Duration // how much longer than other requests it may take
}

// Access is which callers may use an operation. A server refuses to start with the zero value, which is also the strictest.
type Access int

const (
	AccessUnsaid  Access = iota
	AccessAdmins         // keys with scope admin
	AccessWriters        // keys with write or admin
	AccessHolders        // any key
	AccessReaders        // anyone for a public board, any key for a private one
	AccessAnyone         // no key is looked at
	AccessPlayers        // players' tokens alone
)

// Needs returns the least scope for an operation, "" when it takes requests without a key.
func (a Access) Needs() leaderboard.Scope {
	switch a {
	case AccessAnyone, AccessReaders:
		return ""
	case AccessHolders:
		return leaderboard.ScopeRead
	case AccessWriters:
		return leaderboard.ScopeWrite
	default:
		return leaderboard.ScopeAdmin
	}
}

// PlayersMay says which requests a player's token opens, in addition to reads that are open to anyone.
type PlayersMay int

const (
	PlayersMayAsAnyone    PlayersMay = iota
	PlayersMayReadOwn                // the own member, named in the path or as the member of a stream, where the board's rule players.read says so
	PlayersMayReadFriends            // the player among the own friends, on a board that anyone may read and that the token is for
	PlayersMaySubmit                 // to submit their own scores; the handler looks at the board's rule players.submit
)

// Body is the form of the body of an operation.
type Body int

const (
	BodyNone    Body = iota
	BodyJSON         // an object
	BodyPatch        // an object that may be a merge patch
	BodyRows         // a list; each element counts as a row that is written
	BodyScores       // BodyRows that are submitted: the writer may refuse the request before the body is read
	BodyMembers      // a list of members that are looked up: each full 100 count as a unit of heavy work. It is shorter than other bodies
)

// Ops reports whether the operation is not of /v1: there is no bound on concurrency, so that health can be seen under load, and no quota.
func (o *Operation) Ops() bool { return !strings.HasPrefix(o.Path, "/v1/") }

// AnyQuery reports whether parameters that the operation does not know are ignored, and all are read loosely.
func (o *Operation) AnyQuery() bool {
	_, loose := o.Query.(Loose)
	return loose || o.Ops()
}

// Has reports whether a segment of the path stands for {name}.
func (o *Operation) Has(name string) bool { return strings.Contains(o.Path, "{"+name+"}") }

// Fill returns the path with values in the places of the segments that stand for any one.
func (o *Operation) Fill(values ...string) string {
	parts := strings.Split(o.Path, "/")
	for i := range parts {
		if strings.HasPrefix(parts[i], "{") {
			parts[i], values = url.PathEscape(values[0]), values[1:]
		}
	}
	return strings.Join(parts, "/")
}

// Operations returns the table of operations.
func Operations() []Operation { return slices.Clone(operations) }

// OperationOf returns the operation with an id. It panics for an unknown id.
func OperationOf(id string) Operation {
	i := slices.IndexFunc(operations, func(o Operation) bool { return o.ID == id })
	if i < 0 {
		panic("api: no operation is called " + id)
	}
	return operations[i]
}

// operations is never changed.
var operations = []Operation{
	{ID: "listBoards", Method: "GET", Path: "/v1/boards", Access: AccessReaders, SomeBoards: true, Query: BoardsListQuery{}, List: "boards", Heavy: 1},
	{ID: "getBoard", Method: "GET", Path: "/v1/boards/{board}", Access: AccessReaders},
	{ID: "putBoard", Method: "PUT", Path: "/v1/boards/{board}", Access: AccessAdmins, Body: BodyJSON, Writes: true},
	{ID: "patchBoard", Method: "PATCH", Path: "/v1/boards/{board}", Access: AccessAdmins, Body: BodyPatch, Writes: true},
	{ID: "deleteBoard", Method: "DELETE", Path: "/v1/boards/{board}", Access: AccessAdmins, Writes: true, Heavy: 10},
	{ID: "submitScores", Method: "POST", Path: "/v1/boards/{board}/scores", Access: AccessWriters, Players: PlayersMaySubmit, Query: SubmitQuery{}, Body: BodyScores, Writes: true},
	{ID: "submitMultiBoard", Method: "POST", Path: "/v1/scores", Access: AccessWriters, SomeBoards: true, Query: SubmitQuery{}, Body: BodyScores, Writes: true},
	{ID: "removeMember", Method: "DELETE", Path: "/v1/boards/{board}/members/{member}", Access: AccessAdmins, Query: RemoveQuery{}, Writes: true},
	{ID: "hideMember", Method: "PUT", Path: "/v1/boards/{board}/members/{member}/hidden", Access: AccessAdmins, Query: ReopenQuery{}, Body: BodyJSON, Writes: true, Heavy: 2, ExtraTime: time.Minute},
	{ID: "restoreMember", Method: "DELETE", Path: "/v1/boards/{board}/members/{member}/hidden", Access: AccessAdmins, Query: RestoreQuery{}, Writes: true, Heavy: 2, ExtraTime: time.Minute},
	{ID: "hideMemberEverywhere", Method: "PUT", Path: "/v1/members/{member}/hidden", Access: AccessAdmins, Query: ReopenQuery{}, Body: BodyJSON, Writes: true, Heavy: 2, ExtraTime: time.Minute},
	{ID: "restoreMemberEverywhere", Method: "DELETE", Path: "/v1/members/{member}/hidden", Access: AccessAdmins, Query: RestoreQuery{}, Writes: true, Heavy: 2, ExtraTime: time.Minute},
	{ID: "moderateMembers", Method: "POST", Path: "/v1/boards/{board}/moderation", Access: AccessAdmins, Body: BodyRows, Writes: true, Heavy: 10, ExtraTime: time.Minute},
	{ID: "moderateMembersEverywhere", Method: "POST", Path: "/v1/moderation", Access: AccessAdmins, Body: BodyRows, Writes: true, Heavy: 10, ExtraTime: time.Minute},
	{ID: "listHidden", Method: "GET", Path: "/v1/hidden", Access: AccessAdmins, SomeBoards: true, Query: HiddenQuery{}, List: "hidden"},
	{ID: "getTop", Method: "GET", Path: "/v1/boards/{board}/top", Access: AccessReaders, Query: TopQuery{}, List: "entries"},
	{ID: "getMember", Method: "GET", Path: "/v1/boards/{board}/members/{member}", Access: AccessReaders, Players: PlayersMayReadOwn, Query: ReadQuery{}},
	{ID: "getAround", Method: "GET", Path: "/v1/boards/{board}/members/{member}/around", Access: AccessReaders, Players: PlayersMayReadOwn, Query: AroundQuery{}},
	{ID: "getHistory", Method: "GET", Path: "/v1/boards/{board}/members/{member}/history", Access: AccessReaders, Players: PlayersMayReadOwn, Query: HistoryQuery{}, Heavy: 1},
	{ID: "getRanks", Method: "POST", Path: "/v1/boards/{board}/ranks", Access: AccessReaders, Query: ReadQuery{}, Body: BodyMembers, Reads: true},
	{ID: "getScoreRank", Method: "GET", Path: "/v1/boards/{board}/scores/{score}/rank", Access: AccessReaders, Query: ScoreQuery{}},
	{ID: "getDistribution", Method: "GET", Path: "/v1/boards/{board}/distribution", Access: AccessReaders, Query: DistributionQuery{}, Heavy: 1},
	{ID: "listPeriods", Method: "GET", Path: "/v1/boards/{board}/periods", Access: AccessReaders, Query: PeriodsQuery{}, List: "periods"},
	{ID: "getSources", Method: "GET", Path: "/v1/boards/{board}/sources", Access: AccessReaders, Heavy: 1},
	{ID: "getMergedTop", Method: "GET", Path: "/v1/rankings/top", Access: AccessReaders, SomeBoards: true, Query: CombinedQuery{}, List: "entries", Reads: true, Heavy: 2},
	{ID: "getMergedMember", Method: "GET", Path: "/v1/rankings/members/{member}", Access: AccessReaders, SomeBoards: true, Query: CombinedMemberQuery{}, Reads: true, Heavy: 2},
	{ID: "getMergedAround", Method: "GET", Path: "/v1/rankings/members/{member}/around", Access: AccessReaders, SomeBoards: true, Query: CombinedAroundQuery{}, Reads: true, Heavy: 2},
	{ID: "startRebuild", Method: "POST", Path: "/v1/boards/{board}/rebuild", Access: AccessAdmins, Query: RebuildQuery{}, Body: BodyJSON, Heavy: 5, ExtraTime: 5 * time.Minute},
	{ID: "verifyCopy", Method: "GET", Path: "/v1/boards/{board}/verify", Access: AccessAdmins, Query: VerifyQuery{}, Heavy: 10, ExtraTime: 5 * time.Minute},
	{ID: "exportEntries", Method: "GET", Path: "/v1/boards/{board}/export", Access: AccessAdmins, Query: ExportQuery{}, Heavy: 10, ExtraTime: 15 * time.Minute},
	{ID: "getStatus", Method: "GET", Path: "/v1/status", Access: AccessAdmins, SomeBoards: true, Query: StatusQuery{}, Heavy: 1},
	{ID: "listRuns", Method: "GET", Path: "/v1/runs", Access: AccessAdmins, SomeBoards: true, Query: RunsQuery{}, List: "runs"},
	{ID: "getRun", Method: "GET", Path: "/v1/runs/{id}", Access: AccessAdmins, SomeBoards: true},
	{ID: "forgetMember", Method: "DELETE", Path: "/v1/members/{member}", Access: AccessAdmins, Writes: true, Heavy: 10},
	{ID: "getMemberData", Method: "GET", Path: "/v1/members/{member}/data", Access: AccessAdmins, Heavy: 10, ExtraTime: 15 * time.Minute},
	{ID: "getStandings", Method: "GET", Path: "/v1/members/{member}/standings", Access: AccessReaders, SomeBoards: true, Players: PlayersMayReadOwn, Query: StandingsQuery{}, Reads: true, Heavy: 2},
	{ID: "getLivez", Method: "GET", Path: "/livez", Access: AccessAnyone},
	{ID: "getReadyz", Method: "GET", Path: "/readyz", Access: AccessAnyone},
	{ID: "getOpenAPI", Method: "GET", Path: "/openapi.json", Access: AccessAnyone},
	{ID: "getOpenAPIYAML", Method: "GET", Path: "/openapi.yaml", Access: AccessAnyone},
	{ID: "getDocs", Method: "GET", Path: "/docs", Access: AccessAnyone},
	{ID: "getManualPage", Method: "GET", Path: "/docs/{page}", Access: AccessAnyone},
	{ID: "getProblemPage", Method: "GET", Path: "/problems/{code}", Access: AccessAnyone},
	{ID: "getHome", Method: "GET", Path: "/", Access: AccessAnyone, Query: Loose{"labels", "cursor", "lang"}},
	{ID: "getBoardPage", Method: "GET", Path: "/boards/{board}", Access: AccessAnyone, Query: Loose{"window", "period", "mode", "member", "offset", "rank", "limit", "embed", "transparent", "theme", "lang"}},
	{ID: "getBoardPicture", Method: "GET", Path: "/boards/{board}/picture.png", Access: AccessAnyone, Query: Loose{"window", "period", "mode", "member", "lang"}},
	{ID: "getConsole", Method: "GET", Path: "/console", Access: AccessAnyone},
	{ID: "getAsset", Method: "GET", Path: "/assets/{file}", Access: AccessAnyone},
	{ID: "getMetrics", Method: "GET", Path: "/metrics", Access: AccessAnyone},
	{ID: "listSubmissions", Method: "GET", Path: "/v1/boards/{board}/members/{member}/submissions", Access: AccessWriters, Query: ListQuery{}, List: "submissions", Heavy: 1},
	{ID: "getRace", Method: "GET", Path: "/v1/boards/{board}/race", Access: AccessReaders, Query: RaceQuery{}, Heavy: 3},
	{ID: "getActivity", Method: "GET", Path: "/v1/boards/{board}/activity", Access: AccessWriters, Query: ActivityQuery{}, Heavy: 5},
	{ID: "listIssuers", Method: "GET", Path: "/v1/issuers", Access: AccessAdmins, Query: ListQuery{}, List: "issuers"},
	{ID: "getIssuer", Method: "GET", Path: "/v1/issuers/{name}", Access: AccessAdmins},
	{ID: "putIssuer", Method: "PUT", Path: "/v1/issuers/{name}", Access: AccessAdmins, Body: BodyJSON, Writes: true},
	{ID: "deleteIssuer", Method: "DELETE", Path: "/v1/issuers/{name}", Access: AccessAdmins, Writes: true},
	{ID: "createToken", Method: "POST", Path: "/v1/tokens", Access: AccessWriters, SomeBoards: true, Body: BodyJSON, Writes: true},
	{ID: "rotateTokens", Method: "POST", Path: "/v1/tokens/rotate", Access: AccessAdmins, Body: BodyJSON, Writes: true},
	{ID: "getBar", Method: "GET", Path: "/v1/members/{member}/bar", Access: AccessAdmins},
	{ID: "barMember", Method: "PUT", Path: "/v1/members/{member}/bar", Access: AccessAdmins, Body: BodyJSON, Writes: true},
	{ID: "unbarMember", Method: "DELETE", Path: "/v1/members/{member}/bar", Access: AccessAdmins, Writes: true},
	{ID: "getTokenKeys", Method: "GET", Path: "/.well-known/jwks.json", Access: AccessAnyone},
	{ID: "beginPlay", Method: "POST", Path: "/v1/boards/{board}/plays", Access: AccessPlayers, Players: PlayersMaySubmit, Body: BodyJSON, Writes: true},
	{ID: "listHeld", Method: "GET", Path: "/v1/held", Access: AccessAdmins, SomeBoards: true, Query: HeldQuery{}, List: "held"},
	{ID: "getHeld", Method: "GET", Path: "/v1/held/{id}", Access: AccessAdmins, SomeBoards: true},
	{ID: "approveHeld", Method: "POST", Path: "/v1/held/{id}/approve", Access: AccessAdmins, SomeBoards: true, Query: ReopenQuery{}, Body: BodyJSON, Writes: true},
	{ID: "rejectHeld", Method: "POST", Path: "/v1/held/{id}/reject", Access: AccessAdmins, SomeBoards: true, Body: BodyJSON, Writes: true},
	{ID: "findMembers", Method: "GET", Path: "/v1/boards/{board}/members", Access: AccessReaders, Query: FindQuery{}, Heavy: 5},
	{ID: "searchMembers", Method: "GET", Path: "/v1/members", Access: AccessAdmins, Query: SearchQuery{}, List: "members", Heavy: 5},
	{ID: "getProfile", Method: "GET", Path: "/v1/members/{member}", Access: AccessHolders},
	{ID: "putProfile", Method: "PUT", Path: "/v1/members/{member}", Access: AccessWriters, Body: BodyJSON, Writes: true},
	{ID: "patchProfile", Method: "PATCH", Path: "/v1/members/{member}", Access: AccessWriters, Body: BodyPatch, Writes: true},
	{ID: "resetName", Method: "POST", Path: "/v1/members/{member}/reset-name", Access: AccessAdmins, Body: BodyJSON, Writes: true},
	{ID: "getBoardFriends", Method: "GET", Path: "/v1/boards/{board}/members/{member}/friends", Access: AccessHolders, Players: PlayersMayReadFriends, Query: FriendsQuery{}},
	{ID: "listFriends", Method: "GET", Path: "/v1/members/{member}/friends", Access: AccessHolders, Query: ListQuery{}, List: "members"},
	{ID: "putFriends", Method: "PUT", Path: "/v1/members/{member}/friends", Access: AccessWriters, Body: BodyRows, Writes: true},
	{ID: "addFriends", Method: "POST", Path: "/v1/members/{member}/friends", Access: AccessWriters, Body: BodyRows, Writes: true},
	{ID: "removeFriend", Method: "DELETE", Path: "/v1/members/{member}/friends/{friend}", Access: AccessWriters, Writes: true},
	{ID: "listEndpoints", Method: "GET", Path: "/v1/endpoints", Access: AccessAdmins, SomeBoards: true, Query: ListQuery{}, List: "endpoints"},
	{ID: "getEndpoint", Method: "GET", Path: "/v1/endpoints/{name}", Access: AccessAdmins, SomeBoards: true},
	{ID: "putEndpoint", Method: "PUT", Path: "/v1/endpoints/{name}", Access: AccessAdmins, SomeBoards: true, Body: BodyJSON, Writes: true},
	{ID: "deleteEndpoint", Method: "DELETE", Path: "/v1/endpoints/{name}", Access: AccessAdmins, SomeBoards: true, Writes: true},
	{ID: "rotateEndpoint", Method: "POST", Path: "/v1/endpoints/{name}/rotate", Access: AccessAdmins, SomeBoards: true, Body: BodyJSON, Writes: true},
	{ID: "testEndpoint", Method: "POST", Path: "/v1/endpoints/{name}/test", Access: AccessAdmins, SomeBoards: true, Body: BodyJSON, Writes: true, Heavy: 5, ExtraTime: 20 * time.Second},
	{ID: "listDeliveries", Method: "GET", Path: "/v1/endpoints/{name}/deliveries", Access: AccessAdmins, SomeBoards: true, Query: DeliveriesQuery{}, List: "deliveries", Heavy: 1},
	{ID: "replayEvents", Method: "POST", Path: "/v1/endpoints/{name}/replay", Access: AccessAdmins, SomeBoards: true, Body: BodyJSON, Writes: true, Heavy: 10, ExtraTime: time.Minute},
	{ID: "streamPage", Method: "GET", Path: "/v1/boards/{board}/stream", Access: AccessReaders, Players: PlayersMayReadOwn, Query: StreamQuery{}, Stream: true},
	{ID: "readChanges", Method: "GET", Path: "/v1/boards/{board}/changes", Access: AccessAdmins, Query: ChangesQuery{}, Stream: true, Heavy: 1, ExtraTime: time.Minute},
	{ID: "listAudit", Method: "GET", Path: "/v1/audit", Access: AccessAdmins, Query: AuditQuery{}, List: "entries"},
	{ID: "listKeys", Method: "GET", Path: "/v1/keys", Access: AccessAdmins, Query: ListQuery{}, List: "keys"},
	{ID: "createKey", Method: "POST", Path: "/v1/keys", Access: AccessAdmins, Body: BodyJSON, Writes: true},
	{ID: "getOwnKey", Method: "GET", Path: "/v1/key", Access: AccessHolders, SomeBoards: true},
	{ID: "getKey", Method: "GET", Path: "/v1/keys/{id}", Access: AccessAdmins},
	{ID: "changeKey", Method: "PATCH", Path: "/v1/keys/{id}", Access: AccessAdmins, Body: BodyPatch, Writes: true},
	{ID: "revokeKey", Method: "DELETE", Path: "/v1/keys/{id}", Access: AccessAdmins, Writes: true},
	{ID: "rotateKey", Method: "POST", Path: "/v1/keys/{id}/rotate", Access: AccessAdmins, Body: BodyJSON, Writes: true},
	{ID: "getSession", Method: "GET", Path: "/v1/session", Access: AccessReaders, SomeBoards: true},
	{ID: "keepKey", Method: "POST", Path: "/v1/session", Access: AccessHolders, SomeBoards: true, Body: BodyJSON, Writes: true},
	{ID: "endSession", Method: "DELETE", Path: "/v1/session", Access: AccessReaders, SomeBoards: true, Writes: true},
	{ID: "beginSignIn", Method: "GET", Path: "/v1/sign-in", Access: AccessAnyone, Query: Loose{}, Heavy: 1},
	{ID: "finishSignIn", Method: "GET", Path: "/v1/sign-in/callback", Access: AccessAnyone, Query: Loose{"code", "state", "error"}, Writes: true, Heavy: 5},
}

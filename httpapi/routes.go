package httpapi

import (
	"net/http"
	"time"
)

// route is one row of the table of routes.
type route struct {
	method string // GET includes HEAD
	path   string // as in the document
	access access // the zero value is the strictest
	params []string
	handle func(*call) error

	anyQuery bool // the query is not looked at
	ops      bool // not of /v1: no bound on concurrency, so that health is seen under load
	// patience is how much longer than Config.RequestTimeout the route may take.
	patience time.Duration

	mergePatch bool // the body may be application/merge-patch+json too

	segments []string // of path
}

// nowhere is a route that answers everything with one problem.
func nowhere(code string) route {
	return route{access: accessAnyone, ops: true, anyQuery: true, handle: func(*call) error { return refuse(code, "") }}
}

// common are the parameters that every reading route has.
var common = []string{"window", "period", "mode", "min_seq"}

func withCommon(more ...string) []string { return append(append([]string{}, common...), more...) }

// withBoards are those of the routes that are about several boards.
func withBoards(more ...string) []string {
	return append([]string{"boards", "labels", "window", "period", "mode", "min_seq", "profiles"}, more...)
}

// routes is the table. Routes under /v1 that do not say otherwise are for admins.
func routes(metrics bool) []route {
	table := []route{
		{method: http.MethodGet, path: "/v1/boards", access: accessReaders, params: []string{"labels", "limit", "cursor"}, handle: listBoards},
		{method: http.MethodGet, path: "/v1/boards/{board}", access: accessReaders, handle: getBoard},
		{method: http.MethodPut, path: "/v1/boards/{board}", access: accessAdmins, handle: putBoard},
		{method: http.MethodDelete, path: "/v1/boards/{board}", access: accessAdmins, handle: deleteBoard},

		{method: http.MethodPost, path: "/v1/boards/{board}/scores", access: accessWriters, handle: submit},
		{method: http.MethodPost, path: "/v1/scores", access: accessWriters, handle: submitAcross},
		{method: http.MethodDelete, path: "/v1/boards/{board}/members/{member}", access: accessAdmins, params: []string{"window", "period", "reopen"}, handle: removeMember},

		{method: http.MethodPut, path: "/v1/boards/{board}/members/{member}/hidden", access: accessAdmins, params: []string{"reopen"}, patience: time.Minute, handle: hide},
		{method: http.MethodDelete, path: "/v1/boards/{board}/members/{member}/hidden", access: accessAdmins, params: []string{"reopen", "reason", "actor"}, patience: time.Minute, handle: restore},
		{method: http.MethodPut, path: "/v1/members/{member}/hidden", access: accessAdmins, params: []string{"reopen"}, patience: time.Minute, handle: hide},
		{method: http.MethodDelete, path: "/v1/members/{member}/hidden", access: accessAdmins, params: []string{"reopen", "reason", "actor"}, patience: time.Minute, handle: restore},
		{method: http.MethodGet, path: "/v1/hidden", access: accessAdmins, params: []string{"board", "member", "limit", "cursor"}, handle: listHidden},
		{method: http.MethodGet, path: "/v1/hidden/log", access: accessAdmins, params: []string{"member", "limit", "cursor"}, handle: listHiddenLog},

		{method: http.MethodGet, path: "/v1/boards/{board}/top", access: accessReaders, params: withCommon("limit", "offset", "cursor", "profiles"), handle: reading(top)},
		{method: http.MethodGet, path: "/v1/boards/{board}/members/{member}", access: accessReaders, params: withCommon("profiles"), handle: reading(member)},
		{method: http.MethodGet, path: "/v1/boards/{board}/members/{member}/around", access: accessReaders, params: withCommon("before", "after", "profiles"), handle: reading(around)},
		{method: http.MethodGet, path: "/v1/boards/{board}/members/{member}/friends", access: accessHolders, params: withCommon("limit", "offset", "profiles"), handle: reading(boardFriends)},
		{method: http.MethodPost, path: "/v1/boards/{board}/ranks", access: accessReaders, params: withCommon("profiles"), handle: ranks},
		{method: http.MethodGet, path: "/v1/boards/{board}/scores/{score}/rank", access: accessReaders, params: withCommon("tiebreak", "fields"), handle: reading(scoreRank)},
		{method: http.MethodGet, path: "/v1/boards/{board}/distribution", access: accessReaders, params: withCommon("buckets"), handle: reading(distribution)},
		{method: http.MethodGet, path: "/v1/boards/{board}/periods", access: accessReaders, params: []string{"window", "limit", "cursor"}, handle: listPeriods},

		{method: http.MethodGet, path: "/v1/boards/{board}/sources", access: accessReaders, handle: sources},
		{method: http.MethodGet, path: "/v1/rankings/top", access: accessReaders, params: withBoards("limit", "offset", "cursor"), handle: mergedTop},
		{method: http.MethodGet, path: "/v1/rankings/members/{member}", access: accessReaders, params: withBoards(), handle: mergedMember},
		{method: http.MethodGet, path: "/v1/rankings/members/{member}/around", access: accessReaders, params: withBoards("before", "after"), handle: mergedAround},

		{method: http.MethodPost, path: "/v1/boards/{board}/rebuild", access: accessAdmins, params: []string{"wait"}, patience: maxWait, handle: rebuild},
		{method: http.MethodGet, path: "/v1/boards/{board}/verify", access: accessAdmins, params: []string{"window", "period", "against"}, patience: maxVerifyWait, handle: verify},
		{method: http.MethodGet, path: "/v1/boards/{board}/export", access: accessAdmins, params: []string{"window", "period", "format"}, patience: exportLimit, handle: reading(export)},
		{method: http.MethodGet, path: "/v1/runs", access: accessAdmins, params: []string{"board", "limit", "cursor"}, handle: listRuns},
		{method: http.MethodGet, path: "/v1/runs/{id}", access: accessAdmins, handle: getRun},

		{method: http.MethodGet, path: "/v1/members/{member}", access: accessHolders, handle: getProfile},
		{method: http.MethodPut, path: "/v1/members/{member}", access: accessWriters, handle: putProfile},
		{method: http.MethodPatch, path: "/v1/members/{member}", access: accessWriters, mergePatch: true, handle: patchProfile},
		{method: http.MethodDelete, path: "/v1/members/{member}", access: accessAdmins, handle: forgetMember},
		{method: http.MethodGet, path: "/v1/members/{member}/friends", access: accessHolders, params: []string{"limit", "cursor"}, handle: listFriends},
		{method: http.MethodPut, path: "/v1/members/{member}/friends", access: accessWriters, handle: putFriends},
		{method: http.MethodPost, path: "/v1/members/{member}/friends", access: accessWriters, handle: addFriends},
		{method: http.MethodDelete, path: "/v1/members/{member}/friends/{friend}", access: accessWriters, handle: removeFriend},

		{method: http.MethodGet, path: "/livez", access: accessAnyone, ops: true, anyQuery: true, handle: livez},
		{method: http.MethodGet, path: "/readyz", access: accessAnyone, ops: true, anyQuery: true, handle: readyz},
		{method: http.MethodGet, path: "/openapi.json", access: accessAnyone, ops: true, anyQuery: true, handle: openAPI},
		{method: http.MethodGet, path: "/docs", access: accessAnyone, ops: true, anyQuery: true, handle: docs},
		{method: http.MethodGet, path: "/problems/{code}", access: accessAnyone, ops: true, anyQuery: true, handle: problemPage},
		{method: http.MethodGet, path: "/", access: accessAnyone, ops: true, anyQuery: true, handle: home},
	}
	if metrics {
		table = append(table, route{method: http.MethodGet, path: "/metrics", access: accessAnyone, ops: true, anyQuery: true, handle: metricsPage})
	}
	return table
}

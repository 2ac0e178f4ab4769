package httpapi

import (
	"net/http"
	"strings"
	"time"

	"leaderboard/httpapi/internal/wire"
)

// handlers are all of them, each with what it needs.
type handlers struct {
	boards   boardHandlers
	scores   scoreHandlers
	hidden   hiddenHandlers
	audit    auditHandlers
	reader   reader
	past     pastReader
	records  submissionHandlers
	combined combinedReader
	runs     runHandlers
	exports  exportHandlers
	members  memberHandlers
	friends  friendHandlers
	streams  streamHandlers
	keys     keyHandlers
	health   healthHandlers
	pages    pageHandler
	manual   manual
	status   statusHandlers
}

func newHandlers(cfg *Config) *handlers {
	find, profiles := resolver{cfg.Catalog}, profileFinder{cfg.Rankings, cfg.Store}
	h := &handlers{
		boards:   boardHandlers{find, cfg.Store, cfg.CheckRules},
		scores:   scoreHandlers{find, cfg.Writer},
		hidden:   hiddenHandlers{cfg.Store},
		audit:    auditHandlers{cfg.Store},
		reader:   reader{resolver: find, profileFinder: profiles, store: cfg.Store},
		past:     pastReader{find, cfg.Rankings},
		records:  submissionHandlers{find, cfg.Store},
		combined: combinedReader{find, profiles, cfg.Store},
		runs:     runHandlers{find, cfg.Store, cfg.Refresher},
		exports:  exportHandlers{find, cfg.Store, cfg.Limits.ExportStall, make(permits, cfg.Limits.MaxExports)},
		members:  memberHandlers{cfg.Store},
		keys:     keyHandlers{cfg.Store},
		health:   healthHandlers{check: cfg.Health, metrics: cfg.Metrics},
		manual:   newManual(),
	}
	h.friends = friendHandlers{&h.reader, cfg.Store}
	h.status = statusHandlers{cfg.Store, cfg.Build, cfg.Health, &h.streams, time.Now()}
	h.streams.reader, h.streams.most, h.streams.feeds.rankings = &h.reader, cfg.Limits.MaxStreams, cfg.Rankings
	return h
}

// nowhere returns a route that answers everything with one problem.
func nowhere(code string) route {
	return route{access: accessAnyone, ops: true, anyQuery: true, handle: func(*call) error { return wire.Reject(code, "") }}
}

// common returns the parameters that every reading route has.
func common(more ...string) []string {
	return append([]string{"window", "period", "mode", "min_seq"}, more...)
}

// combined returns those of the routes that are about several boards.
func combined(more ...string) []string {
	return append([]string{"boards", "labels", "window", "period", "mode", "min_seq", "profiles"}, more...)
}

// routes returns the table. Each says who may use it.
func (h *handlers) routes(metrics bool) []route {
	fresh := h.reader.retryOutdated
	rows := bodyRule{limit: anyBody, charge: rowsOf}
	table := []route{
		{pattern: get("/v1/boards"), access: accessReaders, someBoards: true, params: []string{"labels", "limit", "cursor"}, heavy: 1, handle: h.boards.list},
		{pattern: get("/v1/boards/{board}"), access: accessReaders, handle: h.boards.get},
		{pattern: put("/v1/boards/{board}"), access: accessAdmins, body: bodyRule{limit: anyBody}, writes: true, handle: h.boards.put},
		{pattern: patch("/v1/boards/{board}"), access: accessAdmins, mergePatch: true, body: bodyRule{limit: anyBody}, writes: true, handle: h.boards.patch},
		{pattern: remove("/v1/boards/{board}"), access: accessAdmins, writes: true, heavy: 10, handle: h.boards.delete},

		{pattern: post("/v1/boards/{board}/scores"), access: accessWriters, body: rows, admitted: true, writes: true, handle: h.scores.submit},
		{pattern: post("/v1/scores"), access: accessWriters, someBoards: true, body: rows, admitted: true, writes: true, handle: h.scores.submitToBoards},
		{pattern: remove("/v1/boards/{board}/members/{member}"), access: accessAdmins, params: []string{"window", "period", "reopen"}, writes: true, handle: h.scores.remove},

		{pattern: put("/v1/boards/{board}/members/{member}/hidden"), access: accessAdmins, params: []string{"reopen"}, extraTime: time.Minute, body: bodyRule{limit: anyBody}, writes: true, heavy: 2, handle: h.hidden.hide},
		{pattern: remove("/v1/boards/{board}/members/{member}/hidden"), access: accessAdmins, params: []string{"reopen", "reason", "actor"}, extraTime: time.Minute, writes: true, heavy: 2, handle: h.hidden.restore},
		{pattern: put("/v1/members/{member}/hidden"), access: accessAdmins, params: []string{"reopen"}, extraTime: time.Minute, body: bodyRule{limit: anyBody}, writes: true, heavy: 2, handle: h.hidden.hide},
		{pattern: remove("/v1/members/{member}/hidden"), access: accessAdmins, params: []string{"reopen", "reason", "actor"}, extraTime: time.Minute, writes: true, heavy: 2, handle: h.hidden.restore},
		{pattern: get("/v1/hidden"), access: accessAdmins, someBoards: true, params: []string{"board", "member", "limit", "cursor"}, handle: h.hidden.list},

		{pattern: get("/v1/boards/{board}/top"), access: accessReaders, params: common("limit", "offset", "cursor", "profiles"), handle: fresh(h.reader.top)},
		{pattern: get("/v1/boards/{board}/stream"), access: accessReaders, params: []string{"window", "mode", "limit", "member", "before", "after"}, stream: true, handle: fresh(h.streams.serve)},
		{pattern: get("/v1/boards/{board}/members/{member}"), access: accessReaders, params: common("profiles"), handle: fresh(h.reader.member)},
		{pattern: get("/v1/boards/{board}/members/{member}/around"), access: accessReaders, params: common("before", "after", "profiles"), handle: fresh(h.reader.around)},
		{pattern: get("/v1/boards/{board}/members/{member}/history"), access: accessReaders, heavy: 1, params: []string{"window", "min_seq", "limit", "cursor"}, handle: fresh(h.past.history)},
		{pattern: get("/v1/boards/{board}/members/{member}/submissions"), access: accessWriters, heavy: 1, params: []string{"limit", "cursor"}, handle: h.records.list},
		{pattern: get("/v1/boards/{board}/members/{member}/friends"), access: accessHolders, params: common("limit", "offset", "profiles"), handle: fresh(h.friends.onBoard)},
		{pattern: post("/v1/boards/{board}/ranks"), access: accessReaders, params: common("profiles"), body: bodyRule{limit: ranksBody, charge: lookUpsOf}, handle: h.reader.ranks},
		{pattern: get("/v1/boards/{board}/scores/{score}/rank"), access: accessReaders, params: common("tiebreak", "fields"), handle: fresh(h.reader.scoreRank)},
		{pattern: get("/v1/boards/{board}/distribution"), access: accessReaders, params: common("buckets"), heavy: 1, handle: fresh(h.reader.distribution)},
		{pattern: get("/v1/boards/{board}/periods"), access: accessReaders, params: []string{"window", "limit", "cursor"}, handle: h.boards.listPeriods},

		{pattern: get("/v1/boards/{board}/sources"), access: accessReaders, heavy: 1, handle: h.runs.sources},
		{pattern: get("/v1/rankings/top"), access: accessReaders, someBoards: true, params: combined("limit", "offset", "cursor"), heavy: 2, handle: h.combined.top},
		{pattern: get("/v1/rankings/members/{member}"), access: accessReaders, someBoards: true, params: combined(), heavy: 2, handle: h.combined.member},
		{pattern: get("/v1/rankings/members/{member}/around"), access: accessReaders, someBoards: true, params: combined("before", "after"), heavy: 2, handle: h.combined.around},

		{pattern: post("/v1/boards/{board}/rebuild"), access: accessAdmins, params: []string{"wait"}, extraTime: maxWait, body: bodyRule{limit: anyBody}, heavy: 5, handle: h.runs.rebuild},
		{pattern: get("/v1/boards/{board}/verify"), access: accessAdmins, params: []string{"window", "period", "against"}, extraTime: maxVerifyWait, heavy: 10, handle: h.runs.verify},
		{pattern: get("/v1/boards/{board}/export"), access: accessAdmins, params: []string{"window", "period", "format", "raw"}, extraTime: maxExport, heavy: 10, handle: fresh(h.exports.export)},
		{pattern: get("/v1/audit"), access: accessAdmins, params: []string{"board", "member", "actor", "action", "since", "until", "limit", "cursor"}, handle: h.audit.list},
		{pattern: get("/v1/status"), access: accessAdmins, someBoards: true, params: []string{"limit", "cursor"}, heavy: 1, handle: h.status.get},
		{pattern: get("/v1/runs"), access: accessAdmins, someBoards: true, params: []string{"board", "limit", "cursor"}, handle: h.runs.list},
		{pattern: get("/v1/runs/{id}"), access: accessAdmins, someBoards: true, handle: h.runs.get},

		{pattern: get("/v1/members"), access: accessAdmins, params: []string{"q", "by", "limit", "cursor"}, heavy: 5, handle: h.members.search},
		{pattern: get("/v1/members/{member}"), access: accessHolders, handle: h.members.get},
		{pattern: put("/v1/members/{member}"), access: accessWriters, body: bodyRule{limit: anyBody}, writes: true, handle: h.members.put},
		{pattern: patch("/v1/members/{member}"), access: accessWriters, mergePatch: true, body: bodyRule{limit: anyBody}, writes: true, handle: h.members.patch},
		{pattern: remove("/v1/members/{member}"), access: accessAdmins, writes: true, heavy: 10, handle: h.members.erase},
		{pattern: get("/v1/members/{member}/friends"), access: accessHolders, params: []string{"limit", "cursor"}, handle: h.friends.list},
		{pattern: put("/v1/members/{member}/friends"), access: accessWriters, body: rows, writes: true, handle: h.friends.put},
		{pattern: post("/v1/members/{member}/friends"), access: accessWriters, body: rows, writes: true, handle: h.friends.add},
		{pattern: remove("/v1/members/{member}/friends/{friend}"), access: accessWriters, writes: true, handle: h.friends.remove},

		{pattern: get("/v1/keys"), access: accessAdmins, params: []string{"limit", "cursor"}, handle: h.keys.list},
		{pattern: post("/v1/keys"), access: accessAdmins, body: bodyRule{limit: anyBody}, writes: true, handle: h.keys.create},
		{pattern: get("/v1/key"), access: accessHolders, someBoards: true, handle: h.keys.self},
		{pattern: get("/v1/keys/{id}"), access: accessAdmins, handle: h.keys.get},
		{pattern: patch("/v1/keys/{id}"), access: accessAdmins, mergePatch: true, body: bodyRule{limit: anyBody}, writes: true, handle: h.keys.patch},
		{pattern: remove("/v1/keys/{id}"), access: accessAdmins, writes: true, handle: h.keys.revoke},
		{pattern: post("/v1/keys/{id}/rotate"), access: accessAdmins, body: bodyRule{limit: anyBody}, writes: true, handle: h.keys.rotate},

		{pattern: get("/livez"), access: accessAnyone, ops: true, anyQuery: true, handle: livez},
		{pattern: get("/readyz"), access: accessAnyone, ops: true, anyQuery: true, handle: h.health.readyz},
		{pattern: get("/openapi.json"), access: accessAnyone, ops: true, anyQuery: true, handle: h.manual.openAPIJSON},
		{pattern: get("/openapi.yaml"), access: accessAnyone, ops: true, anyQuery: true, handle: h.manual.openAPIYAML},
		{pattern: get("/docs"), access: accessAnyone, ops: true, anyQuery: true, handle: h.manual.docs},
		{pattern: get("/problems/{code}"), access: accessAnyone, ops: true, anyQuery: true, handle: h.manual.problemPage},

		{pattern: get("/"), access: accessAnyone, params: []string{"labels", "cursor"}, ops: true, anyQuery: true, handle: h.pages.serve},
		{pattern: get("/boards/{board}"), access: accessAnyone, params: []string{"window", "period", "mode", "member", "offset", "rank", "limit", "embed", "transparent", "theme"}, ops: true, anyQuery: true, handle: h.pages.serve},
		{pattern: get("/console"), access: accessAnyone, ops: true, anyQuery: true, handle: h.pages.serve},
		{pattern: get("/assets/{file}"), access: accessAnyone, ops: true, anyQuery: true, handle: h.pages.serve},
	}
	for i := range table {
		if rt := &table[i]; !rt.anyQuery {
			rt.params = append(rt.params, wire.NumbersParam)
		}
	}
	if metrics {
		table = append(table, route{pattern: get("/metrics"), access: accessAnyone, ops: true, anyQuery: true, handle: h.health.metricsPage})
	}
	return table
}

// isRead says whether answers of the route count as reads, of the board in its path or of several.
func (rt *route) isRead() bool {
	about := rt.has("board") || strings.HasPrefix(rt.path, "/v1/rankings/")
	asks := rt.method == http.MethodGet && (rt.access == accessReaders || rt.access == accessHolders) || strings.HasSuffix(rt.path, "/ranks")
	return about && asks && !rt.stream
}

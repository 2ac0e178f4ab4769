package httpapi

import (
	"net/http"
	"slices"
	"time"

	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
)

// handlers are all of them, each with what it needs.
type handlers struct {
	boards   boardHandlers
	scores   scoreHandlers
	hidden   hiddenHandlers
	reader   reader
	past     pastReader
	combined combinedReader
	runs     runHandlers
	exports  exportHandlers
	erase    eraseHandlers
	health   healthHandlers
	pages    pageHandler
	docs     docPages
	status   statusHandlers
}

func newHandlers(cfg *Config) *handlers {
	find, reading := Resolver{cfg.Catalog}, Reading{cfg.Rankings, cfg.Feed}
	h := &handlers{
		boards:   boardHandlers{find, cfg.Boards, cfg.Periods, cfg.CheckRules},
		scores:   scoreHandlers{find, cfg.Writer, standingFinder{cfg.Rankings, cfg.Friends, cfg.Observer}, cfg.Plays},
		hidden:   hiddenHandlers{cfg.Hidden},
		reader:   reader{Resolver: find, Reading: reading, hides: cfg.Hidden},
		past:     pastReader{find, cfg.Rankings},
		combined: combinedReader{find, reading, cfg.Hidden},
		runs:     runHandlers{find, cfg.Boards, cfg.Runs, cfg.Derived, cfg.Refresher},
		exports:  exportHandlers{find, cfg.Exports, cfg.MemberData, cfg.Limits.ExportStall, guard.NewPermits(cfg.Limits.MaxExports, tooManyExports(cfg.Limits.MaxExports))},
		erase:    eraseHandlers{cfg.Erasures},
		health:   healthHandlers{check: cfg.Health, metrics: cfg.Metrics},
	}
	h.docs = newDocPages(cfg.Base, &h.pages)
	h.status = statusHandlers{cfg.Catalog, cfg.Boards, cfg.Status, cfg.Build, cfg.Health, cfg.Purge, cfg.Streams, time.Now()}
	return h
}

// nowhere returns a route that answers everything with one problem.
func nowhere(code string) Route {
	return Route{Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: func(*Call) error { return wire.Reject(code, "") }}
}

// lost is the route of addresses that no other has: a person is told by a page.
func (h *handlers) lost() Route {
	return Route{Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: func(c *Call) error { return h.pages.missing(c, "") }}
}

// Common returns the parameters that every reading route has.
func Common(more ...string) []string {
	return append([]string{"window", "period", "mode", "min_seq"}, more...)
}

// combined returns those of the routes that are about several boards.
func combined(more ...string) []string {
	return append([]string{"boards", "labels", "window", "period", "mode", "min_seq"}, more...)
}

// routes returns the table. Each route has the access that it needs.
func (h *handlers) routes(metrics bool) []Route {
	fresh := h.reader.RetryOutdated
	rows := BodyRule{Limit: AnyBody, Charge: RowsOf}
	table := []Route{
		{Pattern: Get("/v1/boards"), Access: guard.AccessReaders, SomeBoards: true, Params: []string{"labels", "limit", "cursor"}, Heavy: 1, Handle: h.boards.list},
		{Pattern: Get("/v1/boards/{board}"), Access: guard.AccessReaders, Handle: h.boards.get},
		{Pattern: Put("/v1/boards/{board}"), Access: guard.AccessAdmins, Body: BodyRule{Limit: AnyBody}, Writes: true, Handle: h.boards.put},
		{Pattern: Patch("/v1/boards/{board}"), Access: guard.AccessAdmins, MergePatch: true, Body: BodyRule{Limit: AnyBody}, Writes: true, Handle: h.boards.patch},
		{Pattern: Delete("/v1/boards/{board}"), Access: guard.AccessAdmins, Writes: true, Heavy: 10, Handle: h.boards.delete},

		{Pattern: Post("/v1/boards/{board}/scores"), Access: guard.AccessWriters, Players: PlayersMaySubmit, Params: h.scores.standings.params(), Body: rows, Admitted: true, Writes: true, Handle: h.scores.submit},
		{Pattern: Post("/v1/scores"), Access: guard.AccessWriters, SomeBoards: true, Params: h.scores.standings.params(), Body: rows, Admitted: true, Writes: true, Handle: h.scores.submitToBoards},
		{Pattern: Delete("/v1/boards/{board}/members/{member}"), Access: guard.AccessAdmins, Params: []string{"window", "period", "reopen"}, Writes: true, Handle: h.scores.remove},

		{Pattern: Put("/v1/boards/{board}/members/{member}/hidden"), Access: guard.AccessAdmins, Params: []string{"reopen"}, ExtraTime: time.Minute, Body: BodyRule{Limit: AnyBody}, Writes: true, Heavy: 2, Handle: h.hidden.hide},
		{Pattern: Delete("/v1/boards/{board}/members/{member}/hidden"), Access: guard.AccessAdmins, Params: []string{"reopen", "reason", "actor"}, ExtraTime: time.Minute, Writes: true, Heavy: 2, Handle: h.hidden.restore},
		{Pattern: Put("/v1/members/{member}/hidden"), Access: guard.AccessAdmins, Params: []string{"reopen"}, ExtraTime: time.Minute, Body: BodyRule{Limit: AnyBody}, Writes: true, Heavy: 2, Handle: h.hidden.hide},
		{Pattern: Delete("/v1/members/{member}/hidden"), Access: guard.AccessAdmins, Params: []string{"reopen", "reason", "actor"}, ExtraTime: time.Minute, Writes: true, Heavy: 2, Handle: h.hidden.restore},
		{Pattern: Get("/v1/hidden"), Access: guard.AccessAdmins, SomeBoards: true, Params: []string{"board", "member", "limit", "cursor"}, Handle: h.hidden.list},

		{Pattern: Get("/v1/boards/{board}/top"), Access: guard.AccessReaders, Params: Common("limit", "offset", "cursor"), Shows: ShowsAll, Handle: fresh(h.reader.top)},
		{Pattern: Get("/v1/boards/{board}/members/{member}"), Access: guard.AccessReaders, Players: PlayersMayReadOwn, Params: Common(), Shows: ShowsAll, Handle: fresh(h.reader.member)},
		{Pattern: Get("/v1/boards/{board}/members/{member}/around"), Access: guard.AccessReaders, Players: PlayersMayReadOwn, Params: Common("before", "after"), Shows: ShowsAll, Handle: fresh(h.reader.around)},
		{Pattern: Get("/v1/boards/{board}/members/{member}/history"), Access: guard.AccessReaders, Players: PlayersMayReadOwn, Heavy: 1, Params: []string{"window", "min_seq", "limit", "cursor"}, Shows: ShowsKept, Handle: fresh(h.past.history)},
		{Pattern: Post("/v1/boards/{board}/ranks"), Access: guard.AccessReaders, Params: Common(), Shows: ShowsAll, Body: BodyRule{Limit: ranksBody, Charge: LookUpsOf}, Reads: true, Handle: h.reader.ranks},
		{Pattern: Get("/v1/boards/{board}/scores/{score}/rank"), Access: guard.AccessReaders, Params: Common("tiebreak", "fields"), Handle: fresh(h.reader.scoreRank)},
		{Pattern: Get("/v1/boards/{board}/distribution"), Access: guard.AccessReaders, Params: Common("buckets"), Heavy: 1, Handle: fresh(h.reader.distribution)},
		{Pattern: Get("/v1/boards/{board}/periods"), Access: guard.AccessReaders, Params: []string{"window", "limit", "cursor"}, Handle: h.boards.listPeriods},

		{Pattern: Get("/v1/boards/{board}/sources"), Access: guard.AccessReaders, Heavy: 1, Handle: h.runs.sources},
		{Pattern: Get("/v1/rankings/top"), Access: guard.AccessReaders, SomeBoards: true, Params: combined("limit", "offset", "cursor"), Shows: ShowsAbout, Reads: true, Heavy: 2, Handle: h.combined.top},
		{Pattern: Get("/v1/rankings/members/{member}"), Access: guard.AccessReaders, SomeBoards: true, Params: combined(), Shows: ShowsAbout, Reads: true, Heavy: 2, Handle: h.combined.member},
		{Pattern: Get("/v1/rankings/members/{member}/around"), Access: guard.AccessReaders, SomeBoards: true, Params: combined("before", "after"), Shows: ShowsAbout, Reads: true, Heavy: 2, Handle: h.combined.around},

		{Pattern: Post("/v1/boards/{board}/rebuild"), Access: guard.AccessAdmins, Params: []string{"wait"}, ExtraTime: maxWait, Body: BodyRule{Limit: AnyBody}, Heavy: 5, Handle: h.runs.rebuild},
		{Pattern: Get("/v1/boards/{board}/verify"), Access: guard.AccessAdmins, Params: []string{"window", "period", "against"}, ExtraTime: maxVerifyWait, Heavy: 10, Handle: h.runs.verify},
		{Pattern: Get("/v1/boards/{board}/export"), Access: guard.AccessAdmins, Params: []string{"window", "period", "format", "raw"}, Shows: ShowsKept, ExtraTime: maxExport, Heavy: 10, Handle: fresh(h.exports.export)},
		{Pattern: Get("/v1/status"), Access: guard.AccessAdmins, SomeBoards: true, Params: []string{"limit", "cursor"}, Heavy: 1, Handle: h.status.get},
		{Pattern: Get("/v1/runs"), Access: guard.AccessAdmins, SomeBoards: true, Params: []string{"board", "limit", "cursor"}, Handle: h.runs.list},
		{Pattern: Get("/v1/runs/{id}"), Access: guard.AccessAdmins, SomeBoards: true, Handle: h.runs.get},

		{Pattern: Delete("/v1/members/{member}"), Access: guard.AccessAdmins, Writes: true, Heavy: 10, Handle: h.erase.erase},
		{Pattern: Get("/v1/members/{member}/data"), Access: guard.AccessAdmins, ExtraTime: maxExport, Heavy: 10, Handle: h.exports.data},
		{Pattern: Get("/v1/members/{member}/standings"), Access: guard.AccessReaders, SomeBoards: true, Players: PlayersMayReadOwn, Params: []string{"boards", "labels", "window", "period", "mode", "min_seq"}, Shows: ShowsKept, Reads: true, Heavy: 2, Handle: h.combined.standings},
	}
	table = slices.Concat(table, h.openRoutes())
	if metrics {
		table = append(table, Route{Pattern: Get("/metrics"), Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: h.health.metricsPage})
	}
	return table
}

// openRoutes are those that answer anyone: health, the manual, the pages.
func (h *handlers) openRoutes() []Route {
	return []Route{
		{Pattern: Get("/livez"), Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: livez},
		{Pattern: Get("/readyz"), Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: h.health.readyz},
		{Pattern: Get("/openapi.json"), Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: h.docs.openAPIJSON},
		{Pattern: Get("/openapi.yaml"), Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: h.docs.openAPIYAML},
		{Pattern: Get("/docs"), Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: h.docs.reference},
		{Pattern: Get("/docs/{page}"), Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: h.docs.document},
		{Pattern: Get("/problems/{code}"), Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: h.docs.problemPage},

		{Pattern: Get("/"), Access: guard.AccessAnyone, Params: []string{"labels", "cursor", "lang"}, Ops: true, AnyQuery: true, Handle: h.pages.serve},
		{Pattern: Get("/boards/{board}"), Access: guard.AccessAnyone, Params: []string{"window", "period", "mode", "member", "offset", "rank", "limit", "embed", "transparent", "theme", "lang"}, Ops: true, AnyQuery: true, Handle: h.pages.serve},
		{Pattern: Get("/boards/{board}/picture.png"), Access: guard.AccessAnyone, Params: []string{"window", "period", "mode", "member", "lang"}, Ops: true, AnyQuery: true, Handle: h.pages.picture},
		{Pattern: Get("/console"), Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: h.pages.serve},
		{Pattern: Get("/assets/{file}"), Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: h.pages.serve},
	}
}

// isRead reports whether answers of the route count as reads, of the board in its path or of several.
func (rt *Route) isRead() bool {
	one := rt.Method == http.MethodGet && rt.has("board") && (rt.Access == guard.AccessReaders || rt.Access == guard.AccessHolders)
	return rt.Reads || one && !rt.Stream
}

package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
)

// handlers are all of them, each with what it needs.
type handlers struct {
	boards   boardHandlers
	scores   scoreHandlers
	hidden   hiddenHandlers
	held     heldHandlers
	audit    auditHandlers
	reader   reader
	past     pastReader
	records  submissionHandlers
	activity activityHandlers
	combined combinedReader
	runs     runHandlers
	exports  exportHandlers
	members  memberHandlers
	friends  friendHandlers
	streams  streamHandlers
	changes  changeHandlers
	keys     keyHandlers
	hooks    endpointHandlers
	issuers  issuerHandlers
	tokens   tokenHandlers
	people   signInHandlers
	plays    playHandlers
	health   healthHandlers
	pages    pageHandler
	docs     docPages
	status   statusHandlers
}

func newHandlers(cfg *Config) *handlers {
	find, profiles := resolver{cfg.Catalog}, profileFinder{cfg.Rankings, cfg.Profiles, cfg.Feed}
	h := &handlers{
		boards:   boardHandlers{find, cfg.Boards, cfg.Periods, cfg.CheckRules},
		scores:   scoreHandlers{find, cfg.Writer, standingFinder{cfg.Rankings, cfg.Friends, cfg.Observer}, cfg.Players},
		hidden:   hiddenHandlers{cfg.Hidden},
		held:     heldHandlers{cfg.Held, cfg.Review, cfg.Boards},
		audit:    auditHandlers{cfg.Audit},
		reader:   reader{resolver: find, profileFinder: profiles, hides: cfg.Hidden, found: cfg.MemberFinder},
		past:     pastReader{find, cfg.Rankings},
		records:  submissionHandlers{find, cfg.Records},
		activity: activityHandlers{find, cfg.Rankings, cfg.Activity},
		combined: combinedReader{find, profiles, cfg.Hidden},
		runs:     runHandlers{find, cfg.Boards, cfg.Runs, cfg.Derived, cfg.Refresher},
		exports:  exportHandlers{find, cfg.Exports, cfg.MemberData, cfg.Limits.ExportStall, guard.NewPermits(cfg.Limits.MaxExports, tooManyExports(cfg.Limits.MaxExports))},
		members:  memberHandlers{cfg.Profiles, cfg.Members, cfg.Erasures},
		keys:     keyHandlers{cfg.Keys},
		hooks:    endpointHandlers{cfg.Endpoints},
		issuers:  issuerHandlers{cfg.Issuers, cfg.Players},
		tokens:   tokenHandlers{cfg.Signing, cfg.Bars, cfg.Players},
		people:   signInHandlers{cfg.Keys, cfg.SignIn, cfg.isSecure(), cfg.Base},
		plays:    playHandlers{find, cfg.Plays, cfg.Players},
		health:   healthHandlers{check: cfg.Health, metrics: cfg.Metrics},
	}
	h.docs = newDocPages(cfg.Base, &h.pages)
	h.changes = changeHandlers{find, cfg.Changes, cfg.Feed, &h.streams}
	h.friends = friendHandlers{&h.reader, cfg.Friends}
	h.status = statusHandlers{cfg.Catalog, cfg.Boards, cfg.Status, cfg.Build, cfg.Health, cfg.Purge, &h.streams, time.Now()}
	h.streams.reader, h.streams.broadcasts.feed, h.streams.notices.from = &h.reader, cfg.Feed, cfg.Notices
	h.streams.most, h.streams.open = cfg.Limits.MaxStreams, guard.NewPermits(cfg.Limits.MaxStreams, errTooManyStreams())
	return h
}

// nowhere returns a route that answers everything with one problem.
func nowhere(code string) route {
	return route{access: guard.AccessAnyone, ops: true, anyQuery: true, handle: func(*call) error { return wire.Reject(code, "") }}
}

// lost is the route of addresses that no other has: a person is told by a page.
func (h *handlers) lost() route {
	return route{access: guard.AccessAnyone, ops: true, anyQuery: true, handle: func(c *call) error { return h.pages.missing(c, "") }}
}

// common returns the parameters that every reading route has.
func common(more ...string) []string {
	return append([]string{"window", "period", "mode", "min_seq"}, more...)
}

// combined returns those of the routes that are about several boards.
func combined(more ...string) []string {
	return append([]string{"boards", "labels", "window", "period", "mode", "min_seq", "profiles"}, more...)
}

// routes returns the table. Each route has the access that it needs.
func (h *handlers) routes(metrics bool) []route {
	fresh := h.reader.retryOutdated
	rows := bodyRule{limit: anyBody, charge: rowsOf}
	table := []route{
		{pattern: get("/v1/boards"), access: guard.AccessReaders, someBoards: true, params: []string{"labels", "limit", "cursor"}, heavy: 1, handle: h.boards.list},
		{pattern: get("/v1/boards/{board}"), access: guard.AccessReaders, handle: h.boards.get},
		{pattern: put("/v1/boards/{board}"), access: guard.AccessAdmins, body: bodyRule{limit: anyBody}, writes: true, handle: h.boards.put},
		{pattern: patch("/v1/boards/{board}"), access: guard.AccessAdmins, mergePatch: true, body: bodyRule{limit: anyBody}, writes: true, handle: h.boards.patch},
		{pattern: remove("/v1/boards/{board}"), access: guard.AccessAdmins, writes: true, heavy: 10, handle: h.boards.delete},

		{pattern: post("/v1/boards/{board}/scores"), access: guard.AccessWriters, players: playersMaySubmit, params: []string{"standings", "mode", "friends"}, body: rows, admitted: true, writes: true, handle: h.scores.submit},
		{pattern: post("/v1/scores"), access: guard.AccessWriters, someBoards: true, params: []string{"standings", "mode", "friends"}, body: rows, admitted: true, writes: true, handle: h.scores.submitToBoards},
		{pattern: remove("/v1/boards/{board}/members/{member}"), access: guard.AccessAdmins, params: []string{"window", "period", "reopen"}, writes: true, handle: h.scores.remove},

		{pattern: put("/v1/boards/{board}/members/{member}/hidden"), access: guard.AccessAdmins, params: []string{"reopen"}, extraTime: time.Minute, body: bodyRule{limit: anyBody}, writes: true, heavy: 2, handle: h.hidden.hide},
		{pattern: remove("/v1/boards/{board}/members/{member}/hidden"), access: guard.AccessAdmins, params: []string{"reopen", "reason", "actor"}, extraTime: time.Minute, writes: true, heavy: 2, handle: h.hidden.restore},
		{pattern: put("/v1/members/{member}/hidden"), access: guard.AccessAdmins, params: []string{"reopen"}, extraTime: time.Minute, body: bodyRule{limit: anyBody}, writes: true, heavy: 2, handle: h.hidden.hide},
		{pattern: remove("/v1/members/{member}/hidden"), access: guard.AccessAdmins, params: []string{"reopen", "reason", "actor"}, extraTime: time.Minute, writes: true, heavy: 2, handle: h.hidden.restore},
		{pattern: get("/v1/hidden"), access: guard.AccessAdmins, someBoards: true, params: []string{"board", "member", "limit", "cursor"}, handle: h.hidden.list},

		{pattern: get("/v1/boards/{board}/top"), access: guard.AccessReaders, params: common("limit", "offset", "cursor", "profiles", "metadata"), handle: fresh(h.reader.top)},
		{pattern: get("/v1/boards/{board}/stream"), access: guard.AccessReaders, players: playersMayReadOwn, params: []string{"window", "mode", "limit", "member", "before", "after", "passed"}, stream: true, handle: fresh(h.streams.serve)},
		{pattern: get("/v1/boards/{board}/members"), access: guard.AccessReaders, params: common("q", "limit", "cursor", "profiles"), heavy: 5, handle: fresh(h.reader.find)},
		{pattern: get("/v1/boards/{board}/members/{member}"), access: guard.AccessReaders, players: playersMayReadOwn, params: common("profiles", "metadata"), handle: fresh(h.reader.member)},
		{pattern: get("/v1/boards/{board}/members/{member}/around"), access: guard.AccessReaders, players: playersMayReadOwn, params: common("before", "after", "profiles", "metadata"), handle: fresh(h.reader.around)},
		{pattern: get("/v1/boards/{board}/members/{member}/history"), access: guard.AccessReaders, players: playersMayReadOwn, heavy: 1, params: []string{"window", "min_seq", "limit", "cursor", "metadata"}, handle: fresh(h.past.history)},
		{pattern: get("/v1/boards/{board}/members/{member}/submissions"), access: guard.AccessWriters, heavy: 1, params: []string{"limit", "cursor"}, handle: h.records.list},
		{pattern: get("/v1/boards/{board}/members/{member}/friends"), access: guard.AccessHolders, players: playersMayReadFriends, params: common("limit", "offset", "profiles", "metadata"), handle: fresh(h.friends.onBoard)},
		{pattern: post("/v1/boards/{board}/ranks"), access: guard.AccessReaders, params: common("profiles", "metadata"), body: bodyRule{limit: ranksBody, charge: lookUpsOf}, handle: h.reader.ranks},
		{pattern: get("/v1/boards/{board}/scores/{score}/rank"), access: guard.AccessReaders, params: common("tiebreak", "fields"), handle: fresh(h.reader.scoreRank)},
		{pattern: get("/v1/boards/{board}/distribution"), access: guard.AccessReaders, params: common("buckets"), heavy: 1, handle: fresh(h.reader.distribution)},
		{pattern: get("/v1/boards/{board}/periods"), access: guard.AccessReaders, params: []string{"window", "limit", "cursor"}, handle: h.boards.listPeriods},

		{pattern: get("/v1/boards/{board}/race"), access: guard.AccessReaders, heavy: 2, handle: fresh(h.activity.race)},
		{pattern: get("/v1/boards/{board}/activity"), access: guard.AccessWriters, params: []string{"hours"}, heavy: 5, handle: h.activity.activity},
		{pattern: get("/v1/boards/{board}/sources"), access: guard.AccessReaders, heavy: 1, handle: h.runs.sources},
		{pattern: get("/v1/rankings/top"), access: guard.AccessReaders, someBoards: true, params: combined("limit", "offset", "cursor"), heavy: 2, handle: h.combined.top},
		{pattern: get("/v1/rankings/members/{member}"), access: guard.AccessReaders, someBoards: true, params: combined(), heavy: 2, handle: h.combined.member},
		{pattern: get("/v1/rankings/members/{member}/around"), access: guard.AccessReaders, someBoards: true, params: combined("before", "after"), heavy: 2, handle: h.combined.around},

		{pattern: post("/v1/boards/{board}/rebuild"), access: guard.AccessAdmins, params: []string{"wait"}, extraTime: maxWait, body: bodyRule{limit: anyBody}, heavy: 5, handle: h.runs.rebuild},
		{pattern: get("/v1/boards/{board}/verify"), access: guard.AccessAdmins, params: []string{"window", "period", "against"}, extraTime: maxVerifyWait, heavy: 10, handle: h.runs.verify},
		{pattern: get("/v1/boards/{board}/export"), access: guard.AccessAdmins, params: []string{"window", "period", "format", "raw", "metadata"}, extraTime: maxExport, heavy: 10, handle: fresh(h.exports.export)},
		{pattern: get("/v1/boards/{board}/changes"), access: guard.AccessAdmins, params: []string{"window", "after", "limit", "wait"}, extraTime: maxFeedWait, heavy: 1, stream: true, handle: h.changes.serve},
		{pattern: get("/v1/audit"), access: guard.AccessAdmins, params: []string{"board", "member", "actor", "action", "since", "until", "limit", "cursor"}, handle: h.audit.list},
		{pattern: get("/v1/status"), access: guard.AccessAdmins, someBoards: true, params: []string{"limit", "cursor"}, heavy: 1, handle: h.status.get},
		{pattern: get("/v1/runs"), access: guard.AccessAdmins, someBoards: true, params: []string{"board", "limit", "cursor"}, handle: h.runs.list},
		{pattern: get("/v1/runs/{id}"), access: guard.AccessAdmins, someBoards: true, handle: h.runs.get},

		{pattern: get("/v1/members"), access: guard.AccessAdmins, params: []string{"q", "by", "limit", "cursor"}, heavy: 5, handle: h.members.search},
		{pattern: get("/v1/members/{member}"), access: guard.AccessHolders, handle: h.members.get},
		{pattern: put("/v1/members/{member}"), access: guard.AccessWriters, body: bodyRule{limit: anyBody}, writes: true, handle: h.members.put},
		{pattern: patch("/v1/members/{member}"), access: guard.AccessWriters, mergePatch: true, body: bodyRule{limit: anyBody}, writes: true, handle: h.members.patch},
		{pattern: post("/v1/members/{member}/reset-name"), access: guard.AccessAdmins, body: bodyRule{limit: anyBody}, writes: true, handle: h.members.resetName},
		{pattern: remove("/v1/members/{member}"), access: guard.AccessAdmins, writes: true, heavy: 10, handle: h.members.erase},
		{pattern: get("/v1/members/{member}/data"), access: guard.AccessAdmins, extraTime: maxExport, heavy: 10, handle: h.exports.data},
		{pattern: get("/v1/members/{member}/standings"), access: guard.AccessReaders, someBoards: true, players: playersMayReadOwn, params: []string{"boards", "labels", "window", "period", "mode", "min_seq", "metadata"}, heavy: 2, handle: h.combined.standings},
		{pattern: get("/v1/members/{member}/friends"), access: guard.AccessHolders, params: []string{"limit", "cursor"}, handle: h.friends.list},
		{pattern: put("/v1/members/{member}/friends"), access: guard.AccessWriters, body: rows, writes: true, handle: h.friends.put},
		{pattern: post("/v1/members/{member}/friends"), access: guard.AccessWriters, body: rows, writes: true, handle: h.friends.add},
		{pattern: remove("/v1/members/{member}/friends/{friend}"), access: guard.AccessWriters, writes: true, handle: h.friends.remove},

		{pattern: get("/v1/keys"), access: guard.AccessAdmins, params: []string{"limit", "cursor"}, handle: h.keys.list},
		{pattern: post("/v1/keys"), access: guard.AccessAdmins, body: bodyRule{limit: anyBody}, writes: true, handle: h.keys.create},
		{pattern: get("/v1/key"), access: guard.AccessHolders, someBoards: true, handle: h.keys.self},
		{pattern: get("/v1/keys/{id}"), access: guard.AccessAdmins, handle: h.keys.get},
		{pattern: patch("/v1/keys/{id}"), access: guard.AccessAdmins, mergePatch: true, body: bodyRule{limit: anyBody}, writes: true, handle: h.keys.patch},
		{pattern: remove("/v1/keys/{id}"), access: guard.AccessAdmins, writes: true, handle: h.keys.revoke},
		{pattern: post("/v1/keys/{id}/rotate"), access: guard.AccessAdmins, body: bodyRule{limit: anyBody}, writes: true, handle: h.keys.rotate},
	}
	table = slices.Concat(table, h.heldRoutes(), h.signInRoutes(), h.tokenRoutes(), h.endpointRoutes(), h.openRoutes())
	for i := range table {
		if rt := &table[i]; !rt.anyQuery {
			rt.params = append(rt.params, wire.NumbersParam)
		}
	}
	if metrics {
		table = append(table, route{pattern: get("/metrics"), access: guard.AccessAnyone, ops: true, anyQuery: true, handle: h.health.metricsPage})
	}
	return table
}

// openRoutes are those that answer anyone: health, the manual, the pages.
func (h *handlers) openRoutes() []route {
	return []route{
		{pattern: get("/livez"), access: guard.AccessAnyone, ops: true, anyQuery: true, handle: livez},
		{pattern: get("/readyz"), access: guard.AccessAnyone, ops: true, anyQuery: true, handle: h.health.readyz},
		{pattern: get("/openapi.json"), access: guard.AccessAnyone, ops: true, anyQuery: true, handle: h.docs.openAPIJSON},
		{pattern: get("/openapi.yaml"), access: guard.AccessAnyone, ops: true, anyQuery: true, handle: h.docs.openAPIYAML},
		{pattern: get("/docs"), access: guard.AccessAnyone, ops: true, anyQuery: true, handle: h.docs.reference},
		{pattern: get("/docs/{page}"), access: guard.AccessAnyone, ops: true, anyQuery: true, handle: h.docs.document},
		{pattern: get("/problems/{code}"), access: guard.AccessAnyone, ops: true, anyQuery: true, handle: h.docs.problemPage},

		{pattern: get("/"), access: guard.AccessAnyone, params: []string{"labels", "cursor", "lang"}, ops: true, anyQuery: true, handle: h.pages.serve},
		{pattern: get("/boards/{board}"), access: guard.AccessAnyone, params: []string{"window", "period", "mode", "member", "offset", "rank", "limit", "embed", "transparent", "theme", "lang"}, ops: true, anyQuery: true, handle: h.pages.serve},
		{pattern: get("/boards/{board}/picture.png"), access: guard.AccessAnyone, params: []string{"window", "period", "mode", "member", "lang"}, ops: true, anyQuery: true, handle: h.pages.picture},
		{pattern: get("/console"), access: guard.AccessAnyone, ops: true, anyQuery: true, handle: h.pages.serve},
		{pattern: get("/assets/{file}"), access: guard.AccessAnyone, ops: true, anyQuery: true, handle: h.pages.serve},
	}
}

// heldRoutes are the routes about submissions that wait for an admin.
func (h *handlers) heldRoutes() []route {
	return []route{
		{pattern: get("/v1/held"), access: guard.AccessAdmins, someBoards: true, params: []string{"board", "member", "state", "limit", "cursor"}, handle: h.held.list},
		{pattern: get("/v1/held/{id}"), access: guard.AccessAdmins, someBoards: true, handle: h.held.get},
		{pattern: post("/v1/held/{id}/approve"), access: guard.AccessAdmins, someBoards: true, params: []string{"reopen"}, body: bodyRule{limit: anyBody}, writes: true, handle: h.held.approve},
		{pattern: post("/v1/held/{id}/reject"), access: guard.AccessAdmins, someBoards: true, body: bodyRule{limit: anyBody}, writes: true, handle: h.held.reject},
	}
}

// signInRoutes are the routes about people who sign in.
func (h *handlers) signInRoutes() []route {
	return []route{
		{pattern: get("/v1/session"), access: guard.AccessReaders, someBoards: true, handle: h.people.get},
		{pattern: post("/v1/session"), access: guard.AccessHolders, someBoards: true, body: bodyRule{limit: anyBody}, writes: true, handle: h.people.keep},
		{pattern: remove("/v1/session"), access: guard.AccessReaders, someBoards: true, writes: true, handle: h.people.end},
		{pattern: get("/v1/sign-in"), access: guard.AccessAnyone, anyQuery: true, heavy: 1, handle: h.people.begin},
		{pattern: get("/v1/sign-in/callback"), access: guard.AccessAnyone, params: []string{"code", "state", "error"}, anyQuery: true, writes: true, heavy: 5, handle: h.people.finish},
	}
}

// tokenRoutes are the routes about players' tokens: who issues them, which members they are refused, and plays.
func (h *handlers) tokenRoutes() []route {
	return []route{
		{pattern: post("/v1/boards/{board}/plays"), access: guard.AccessPlayers, players: playersMaySubmit, body: bodyRule{limit: anyBody}, writes: true, handle: h.plays.begin},
		{pattern: get("/v1/issuers"), access: guard.AccessAdmins, params: []string{"limit", "cursor"}, handle: h.issuers.list},
		{pattern: get("/v1/issuers/{name}"), access: guard.AccessAdmins, handle: h.issuers.get},
		{pattern: put("/v1/issuers/{name}"), access: guard.AccessAdmins, body: bodyRule{limit: anyBody}, writes: true, handle: h.issuers.put},
		{pattern: remove("/v1/issuers/{name}"), access: guard.AccessAdmins, writes: true, handle: h.issuers.remove},
		{pattern: post("/v1/tokens"), access: guard.AccessWriters, someBoards: true, body: bodyRule{limit: anyBody}, writes: true, handle: h.tokens.create},
		{pattern: post("/v1/tokens/rotate"), access: guard.AccessAdmins, body: bodyRule{limit: anyBody}, writes: true, handle: h.tokens.rotate},
		{pattern: get("/v1/members/{member}/bar"), access: guard.AccessAdmins, handle: h.tokens.getBar},
		{pattern: put("/v1/members/{member}/bar"), access: guard.AccessAdmins, body: bodyRule{limit: anyBody}, writes: true, handle: h.tokens.bar},
		{pattern: remove("/v1/members/{member}/bar"), access: guard.AccessAdmins, writes: true, handle: h.tokens.unbar},
		{pattern: get("/.well-known/jwks.json"), access: guard.AccessAnyone, ops: true, anyQuery: true, handle: h.tokens.keys},
	}
}

// endpointRoutes are the routes about where events are sent.
func (h *handlers) endpointRoutes() []route {
	return []route{
		{pattern: get("/v1/endpoints"), access: guard.AccessAdmins, someBoards: true, params: []string{"limit", "cursor"}, handle: h.hooks.list},
		{pattern: get("/v1/endpoints/{name}"), access: guard.AccessAdmins, someBoards: true, handle: h.hooks.get},
		{pattern: put("/v1/endpoints/{name}"), access: guard.AccessAdmins, someBoards: true, body: bodyRule{limit: anyBody}, writes: true, handle: h.hooks.put},
		{pattern: remove("/v1/endpoints/{name}"), access: guard.AccessAdmins, someBoards: true, writes: true, handle: h.hooks.delete},
		{pattern: post("/v1/endpoints/{name}/rotate"), access: guard.AccessAdmins, someBoards: true, body: bodyRule{limit: anyBody}, writes: true, handle: h.hooks.rotate},
		{pattern: post("/v1/endpoints/{name}/test"), access: guard.AccessAdmins, someBoards: true, extraTime: maxTestWait, body: bodyRule{limit: anyBody}, writes: true, heavy: 5, handle: h.hooks.test},
		{pattern: get("/v1/endpoints/{name}/deliveries"), access: guard.AccessAdmins, someBoards: true, params: []string{"state", "limit", "cursor"}, heavy: 1, handle: h.hooks.deliveries},
		{pattern: post("/v1/endpoints/{name}/replay"), access: guard.AccessAdmins, someBoards: true, extraTime: time.Minute, body: bodyRule{limit: anyBody}, writes: true, heavy: 10, handle: h.hooks.replay},
	}
}

// isRead reports whether answers of the route count as reads, of the board in its path or of several.
func (rt *route) isRead() bool {
	about := rt.has("board") || strings.HasPrefix(rt.path, "/v1/rankings/") || strings.HasSuffix(rt.path, "/standings")
	asks := rt.method == http.MethodGet && (rt.access == guard.AccessReaders || rt.access == guard.AccessHolders) || strings.HasSuffix(rt.path, "/ranks")
	return about && asks && !rt.stream
}

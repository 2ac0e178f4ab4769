package httpapi

import (
	"net/http"
	"time"

	"leaderboard/api"
	"leaderboard/internal/wire"
)

// handlers are all handlers, each with its dependencies.
type handlers struct {
	boards   boardHandlers
	scores   scoreHandlers
	hidden   hiddenHandlers
	moderate moderationHandlers
	reader   reader
	past     pastReader
	combined combinedReader
	runs     runHandlers
	erase    eraseHandlers
	health   healthHandlers
	status   statusHandlers
}

func newHandlers(cfg *Config) *handlers {
	find, reading := Resolver{cfg.Catalog}, Reading{cfg.Rankings, cfg.Feed}
	h := &handlers{
		boards:   boardHandlers{find, cfg.Boards, cfg.Periods, cfg.CheckRules},
		scores:   scoreHandlers{find, cfg.Writer, standingFinder{cfg.Rankings, cfg.Friends, cfg.Observer}, cfg.Plays},
		hidden:   hiddenHandlers{cfg.Hidden},
		moderate: moderationHandlers{find, cfg.Hidden, cfg.Writer},
		reader:   reader{Resolver: find, Reading: reading, hides: cfg.Hidden},
		past:     pastReader{find, cfg.Rankings},
		combined: combinedReader{find, reading, cfg.Hidden},
		runs:     runHandlers{find, cfg.Boards, cfg.Runs, cfg.Derived, cfg.Refresher},
		erase:    eraseHandlers{cfg.Erasures},
		health:   healthHandlers{check: cfg.Health, metrics: cfg.Metrics},
	}
	h.status = statusHandlers{cfg.Catalog, cfg.Boards, cfg.Status, cfg.Build, cfg.Health, cfg.Purge, cfg.Streams, time.Now()}
	return h
}

// open returns a route that anyone may use, outside the table.
func open(handle func(*Call) error) Route {
	return Route{Pattern: Pattern{Operation: api.Operation{Access: api.AccessAnyone}}, Handle: handle}
}

// nowhere returns a route that answers every request with one problem.
func nowhere(code string) Route { return open(func(*Call) error { return wire.Reject(code, "") }) }

// lost is the route of addresses without a route; browsers get a page.
func lost() Route { return open(func(c *Call) error { return Missing(c, "") }) }

// routes returns the table.
func (h *handlers) routes(metrics bool) []Route {
	fresh := h.reader.RetryOutdated
	table := []Route{
		On("listBoards", h.boards.list),
		On("getBoard", h.boards.get),
		On("putBoard", h.boards.put),
		On("patchBoard", h.boards.patch),
		On("deleteBoard", h.boards.delete),

		On("submitScores", h.scores.submit),
		On("submitMultiBoard", h.scores.submitToBoards),
		On("removeMember", h.scores.remove),

		On("hideMember", h.hidden.hide),
		On("restoreMember", h.hidden.restore),
		On("hideMemberEverywhere", h.hidden.hide),
		On("restoreMemberEverywhere", h.hidden.restore),
		On("moderateMembers", h.moderate.moderate),
		On("moderateMembersEverywhere", h.moderate.moderate),
		On("listHidden", h.hidden.list),

		On("getTop", fresh(h.reader.top)),
		On("getMember", fresh(h.reader.member)),
		On("getAround", fresh(h.reader.around)),
		On("getHistory", fresh(h.past.history)),
		On("getRanks", h.reader.ranks),
		On("getScoreRank", fresh(h.reader.scoreRank)),
		On("getDistribution", fresh(h.reader.distribution)),
		On("listPeriods", h.boards.listPeriods),

		On("getMergedTop", h.combined.top),
		On("getMergedMember", h.combined.member),
		On("getMergedAround", h.combined.around),

		On("startRebuild", h.runs.rebuild),
		On("verifyCopy", h.runs.verify),
		On("getStatus", h.status.get),
		On("listRuns", h.runs.list),
		On("getRun", h.runs.get),

		On("forgetMember", h.erase.erase),
		On("getStandings", h.combined.standings),

		On("getLivez", livez),
		On("getReadyz", h.health.readyz),

		On("getHome", showPage),
		On("getBoardPage", showPage),
		On("getBoardPicture", showPicture),
		On("getConsole", showPage),
		On("getAsset", showPage),
	}
	if metrics {
		table = append(table, On("getMetrics", h.health.metricsPage))
	}
	return table
}

// isRead reports whether answers of the route count as reads, of the board in its path or of several.
func (rt *Route) isRead() bool {
	one := rt.Method == http.MethodGet && rt.Has("board") && (rt.Access == api.AccessReaders || rt.Access == api.AccessHolders)
	return rt.Reads || one && !rt.Stream
}

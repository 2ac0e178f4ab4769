package players

import (
	"leaderboard/httpapi"
	"leaderboard/internal/guard"
)

// routes are the routes about players' tokens: who issues them, and which members they are refused.
func routes(issuers issuerHandlers, tokens tokenHandlers) []httpapi.Route {
	body := httpapi.BodyRule{Limit: httpapi.AnyBody}
	return []httpapi.Route{
		{Pattern: httpapi.Get("/v1/issuers"), Access: guard.AccessAdmins, Params: []string{"limit", "cursor"}, Handle: issuers.list},
		{Pattern: httpapi.Get("/v1/issuers/{name}"), Access: guard.AccessAdmins, Handle: issuers.get},
		{Pattern: httpapi.Put("/v1/issuers/{name}"), Access: guard.AccessAdmins, Body: body, Writes: true, Handle: issuers.put},
		{Pattern: httpapi.Delete("/v1/issuers/{name}"), Access: guard.AccessAdmins, Writes: true, Handle: issuers.remove},
		{Pattern: httpapi.Post("/v1/tokens"), Access: guard.AccessWriters, SomeBoards: true, Body: body, Writes: true, Handle: tokens.create},
		{Pattern: httpapi.Post("/v1/tokens/rotate"), Access: guard.AccessAdmins, Body: body, Writes: true, Handle: tokens.rotate},
		{Pattern: httpapi.Get("/v1/members/{member}/bar"), Access: guard.AccessAdmins, Handle: tokens.getBar},
		{Pattern: httpapi.Put("/v1/members/{member}/bar"), Access: guard.AccessAdmins, Body: body, Writes: true, Handle: tokens.bar},
		{Pattern: httpapi.Delete("/v1/members/{member}/bar"), Access: guard.AccessAdmins, Writes: true, Handle: tokens.unbar},
		{Pattern: httpapi.Get("/.well-known/jwks.json"), Access: guard.AccessAnyone, Ops: true, AnyQuery: true, Handle: tokens.keys},
	}
}

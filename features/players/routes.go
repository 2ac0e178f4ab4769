package players

import (
	"leaderboard/httpapi"
)

// routes are the routes about players' tokens: who issues them, and which members they are refused.
func routes(issuers issuerHandlers, tokens tokenHandlers) []httpapi.Route {
	return []httpapi.Route{
		httpapi.On("listIssuers", issuers.list),
		httpapi.On("getIssuer", issuers.get),
		httpapi.On("putIssuer", issuers.put),
		httpapi.On("deleteIssuer", issuers.remove),
		httpapi.On("createToken", tokens.create),
		httpapi.On("rotateTokens", tokens.rotate),
		httpapi.On("getBar", tokens.getBar),
		httpapi.On("barMember", tokens.bar),
		httpapi.On("unbarMember", tokens.unbar),
		httpapi.On("getTokenKeys", tokens.keys),
	}
}

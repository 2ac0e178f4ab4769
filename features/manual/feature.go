// Package manual serves the contract of the API and pages for people about it: the reference, the documents of package docs, and a
// page for each problem.
//
//	documents.go, slugs.go  documents in Markdown as pages
//	static.go, base.go      an answer that stays the same; addresses below a path
//	handlers.go             the routes
//	feature.go              what the folder registers
//
// make generate-docs makes docs.html and readme.txt in the folder web, and openapi.json in package api. Run it when openapi.yaml, README.md, web/style.css
// or web/manual.js change.
package manual

import "leaderboard/features"

// Feature returns the feature of the folder.
func Feature() features.Feature {
	return features.Feature{Name: "manual", Open: func(e *features.Engine) features.Opened {
		return features.Opened{Routes: routes(e.Server.Base)}
	}}
}

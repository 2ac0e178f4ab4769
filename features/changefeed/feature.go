package changefeed

import (
	"leaderboard/features"
	"leaderboard/httpapi"
)

// Feature returns the feature of the folder.
func Feature() features.Feature { return features.Feature{Name: "changefeed", Open: open} }

func open(e *features.Engine) features.Opened {
	return features.Opened{Routes: Routes(httpapi.Resolver{Catalog: e.Catalog}, e.Entries, e.Feed, e.Streams)}
}

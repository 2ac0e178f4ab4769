// Package transfer sends data out of the service: whole periods, and everything that is stored of a member.
//
//	store.go        the reading of a period in MySQL
//	export.go       the route of exports, and its writer
//	row.go          the forms of an export: CSV and JSON lines
//	member_data.go  the route of a member's data, and its writer
//	download.go     an answer of any length, which is sent while it is read
//	feature.go      what the folder registers
package transfer

import (
	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/internal/entries"
)

// Feature returns the feature of the folder.
func Feature() features.Feature { return features.Feature{Name: "transfer", Open: open} }

func open(e *features.Engine) features.Opened {
	s := &Store{db: e.DB, kept: features.Offered[entries.KeptReader](e)}
	atOnce := 2
	if e.DB != nil && e.DB.Config.MaxConns < 32 {
		atOnce = 1 // each holds one of the connections for long work, an eighth of all
	}
	return features.Opened{Routes: newHandlers(httpapi.Resolver{Catalog: e.Catalog}, s, e.Members, atOnce).routes()}
}

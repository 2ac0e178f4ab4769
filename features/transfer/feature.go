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
	conns := 0
	if e.DB != nil {
		conns = e.DB.Config.MaxConns
	}
	return features.Opened{Routes: newHandlers(httpapi.Resolver{Catalog: e.Catalog}, s, e.Members, atOnce(conns)).routes()}
}

// atOnce returns how many exports a server with a number of connections makes at the same time. Each holds one of the
// connections for long work, an eighth of all.
func atOnce(conns int) int {
	if conns < 32 {
		return 1
	}
	return 2
}

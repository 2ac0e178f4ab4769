// Package records keeps submissions, with the decisions about them.
//
//	record.go, part.go, rows.go        a record, in the transaction of submissions, and as a row
//	store.go, sweep.go                 the records of a member, and their deletion
//	count.go, store_activity.go        activity and races of a board: how much is submitted, and who was ahead when
//	handlers.go, activity.go           routes
//	race.go, laps.go                   the route of races, which also has them of boards without records
package records

import (
	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/store"
)

// Feature returns the feature of the folder.
func Feature() features.Feature { return features.Feature{Name: "records", Part: Part{}, Open: open} }

func open(e *features.Engine) features.Opened {
	s := NewStore(e.DB, e.Boards, e.Alone)
	return features.Opened{
		Routes: Routes(httpapi.Resolver{Catalog: e.Catalog}, e.Rankings, s), Sweep: []store.Job{s.sweep(e.Sweeper)}, Purge: []string{purge},
		ForgetAfter: s.forget, Data: []store.Data{store.DataOf("submissions", s.data)}, Offers: []any{s},
	}
}

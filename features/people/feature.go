// Package people keeps the profiles of members, shows them beside entries, and finds members.
//
//	store.go, search.go                profiles in the database, and the search for members
//	show.go                            profiles beside entries
//	handlers.go, find.go               routes
package people

import (
	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// Options adjust the feature.
type Options struct {
	// ByPeople leaves changes of profiles that keys of scope write make out of the audit: those that programs make all day.
	ByPeople bool
}

// Feature returns what the folder registers.
func Feature(o Options) features.Feature {
	return features.Feature{Name: "people", Open: func(e *features.Engine) features.Opened {
		s := NewStore(e.DB, e.Alone, o)
		return features.Opened{
			Routes: Routes(httpapi.Resolver{Catalog: e.Catalog}, httpapi.Reading{Rankings: e.Rankings, Feed: e.Feed}, s),
			Forget: s.forget,
			Data:   []store.Data{{List: leaderboard.DataList{Name: "profile", One: true}, Each: s.data}},
			Offers: []any{s, Show{s}},
		}
	}}
}

// Package people keeps the profiles of members, shows them next to entries, and finds members.
//
//	profile.go, query.go               the nouns and their rules
//	store.go, search.go                profiles in the database, and the search for members
//	show.go                            profiles next to entries
//	handlers.go, find.go               routes
package people

import (
	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// Settings are about profiles, by the tags of package settings.
type Settings struct {
	// AuditProfiles names the callers whose changes of profiles the audit has. people: people who signed in and keys of scope admin, not
	// programs with a key of scope write, which may make changes all day. all or "": every caller.
	AuditProfiles string `setting:"audit-profiles" words:"all,people" old:""`
}

// Feature returns the feature of profiles.
func Feature() features.Feature {
	settings := &Settings{}
	return features.Feature{Name: "people", Settings: settings, Open: func(e *features.Engine) features.Opened {
		s := NewStore(e.DB, e.Alone, settings)
		return features.Opened{
			Routes: Routes(httpapi.Resolver{Catalog: e.Catalog}, httpapi.Reading{Rankings: e.Rankings, Feed: e.Feed}, s),
			Forget: s.forget,
			Data:   []store.Data{{List: leaderboard.DataList{Name: "profile", One: true}, Each: s.data}},
			Offers: []any{s, Show{s}},
		}
	}}
}

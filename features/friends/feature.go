// Package friends keeps the lists of friends of members, and ranks a member among the own friends.
//
//	store.go, kept.go                  the lists in the database, and lists kept for a second
//	handlers.go                        routes
package friends

import (
	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/store"
)

// Feature returns the feature of the folder.
func Feature() features.Feature {
	return features.Feature{Name: "friends", Open: open}
}

func open(e *features.Engine) features.Opened {
	s := NewStore(e.DB)
	return features.Opened{
		Routes: Routes(httpapi.Resolver{Catalog: e.Catalog}, httpapi.Reading{Rankings: e.Rankings, Feed: e.Feed}, s),
		Forget: s.forget,
		Data:   []store.Data{store.DataOf("friends", s.data), store.DataOf("friend_of", s.fanData)},
		Offers: []any{s},
	}
}

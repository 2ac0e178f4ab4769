package plays

import (
	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/store"
)

// Feature returns the feature of the folder.
func Feature() features.Feature { return features.Feature{Name: "plays", Part: Part{}, Open: open} }

func open(e *features.Engine) features.Opened {
	s := NewStore(e.DB)
	h := NewHandlers(httpapi.Resolver{Catalog: e.Catalog}, s, features.Offered[Tokens](e))
	return features.Opened{
		Routes: h.Routes(), Sweep: []store.Job{sweep(e.Sweeper)}, Purge: []string{purge}, Forget: s.forget,
		Data: []store.Data{store.DataOf("plays", s.data)}, Offers: []any{h},
	}
}

// Package keys is the API keys: routes and store that make, show, change and revoke them, and the ring that has all keys in
// memory for requests.
package keys

import (
	"leaderboard/cache"
	"leaderboard/features"
	"leaderboard/store"
)

// Feature returns the feature of the folder. It offers the ring, which is httpapi.Keyring, and the table of keys.
func Feature() features.Feature {
	return features.Feature{Name: "keys", Open: func(e *features.Engine) features.Opened {
		s := NewStore(e.DB)
		ring := NewRing(s, e.Tables, RingOptions{TableOptions: cache.TableOptions{Log: e.Log}})
		if e.Tables != nil {
			s.renew = ring.Renew
		}
		h := handlers{s}
		return features.Opened{Routes: h.routes(), Sweep: []store.Job{sweepSessions(e.DB, e.Sweeper)}, Offers: []any{ring, s}, Run: ring.Run}
	}}
}

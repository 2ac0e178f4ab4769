package quotas

import (
	"leaderboard/features"
	"leaderboard/leaderboard"
)

// Settings are what a server's settings say of quotas.
type Settings struct {
	Keys      leaderboard.Rates // of a key that has none of its own
	Players   leaderboard.Rates // of a player
	Addresses leaderboard.Rates // of an address, for requests without a key
	Servers   int               // that share the quotas when Redis does not answer
}

// Feature returns what the folder registers. It offers the quotas of callers, which is httpapi.Quotas.
func Feature(s Settings) features.Feature {
	return features.Feature{Name: "quotas", Open: func(e *features.Engine) features.Opened {
		m := newMetrics()
		q := New(Options{Redis: e.Redis, Servers: s.Servers, Observer: m})
		return features.Opened{Metrics: m.collectors, Offers: []any{&callers{q, s, m}}, Close: q.Close}
	}}
}

package quotas

import (
	"leaderboard/features"
)

// Feature returns the feature of the folder. It offers the quotas of callers, which is httpapi.Quotas.
func Feature() features.Feature {
	s := &Settings{}
	return features.Feature{Name: "quotas", Settings: s, Open: func(e *features.Engine) features.Opened {
		m, quota := newMetrics(), *s
		if !e.Server.KnowsAddresses { // all clients of a proxy have its address
			quota.Addresses = Rates{}
		}
		q := New(Options{Redis: e.Redis, Servers: e.Server.Servers, Observer: m})
		return features.Opened{Metrics: m.collectors, Offers: []any{&callers{q, quota, m}}, Close: q.Close}
	}}
}

package streams

import (
	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/features"
)

// Feature returns the feature of the folder.
func Feature() features.Feature {
	return features.Feature{Name: "streams", Open: func(e *features.Engine) features.Opened {
		h := newHandlers(e)
		return features.Opened{Routes: h.routes(), Metrics: h.metrics()}
	}}
}

// metrics returns the counts of the events of streams.
func (h *handlers) metrics() []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "leaderboard_stream_events_total", Help: "Pages sent to the clients of streams.",
		}, func() float64 { return float64(h.sent.Load()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "leaderboard_stream_events_skipped_total", Help: "Pages that clients of streams were not sent because they were slow and a newer one was there.",
		}, func() float64 { return float64(h.skipped.Load()) }),
	}
}

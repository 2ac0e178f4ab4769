package events

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func newAttempts() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "leaderboard_event_attempt_duration_seconds", Help: "Attempts of this server to deliver an event, by outcome: delivered, retried, failed (for good).",
		Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
	}, []string{"outcome"})
}

// metrics returns the metrics of a Sender: its attempts, and the waiting deliveries. Only the server that sends knows; the
// others have zeros.
func (s *Sender) metrics() []prometheus.Collector {
	waiting := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_events_waiting", Help: "Deliveries that wait for endpoints that are on, up to 100,000 of each.",
	}, func() float64 { return float64(s.Backlog().Waiting) })
	oldest := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_events_oldest_seconds", Help: "Age of the oldest event that waits for an endpoint that is on.",
	}, func() float64 {
		oldest := s.Backlog().Oldest
		if oldest == 0 {
			return 0
		}
		return max(0, time.Since(oldest.Time()).Seconds())
	})
	return []prometheus.Collector{s.attempts, waiting, oldest}
}

// noteAttempt notes an attempt, with whether it delivered the event and whether it was the last.
func (s *Sender) noteAttempt(delivered, last bool, took time.Duration) {
	outcome := "retried"
	switch {
	case delivered:
		outcome = "delivered"
	case last:
		outcome = "failed"
	}
	s.attempts.WithLabelValues(outcome).Observe(took.Seconds())
}

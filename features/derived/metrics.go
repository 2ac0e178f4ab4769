package derived

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/features"
)

// metrics counts the steps of derived boards.
type metrics struct {
	steps *prometheus.HistogramVec
	rows  prometheus.Counter
}

func newMetrics() *metrics {
	return &metrics{
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "leaderboard_derived_step_duration_seconds", Help: "Steps of derived boards behind their sources, by what the step found and its outcome.",
			Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 30, 120, 600},
		}, []string{"state", "outcome"}),
		rows: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "leaderboard_derived_rows_total", Help: "Entries of derived boards that steps have changed.",
		}),
	}
}

// stepEnded counts a step of a derived board.
func (m *metrics) stepEnded(step *Step, took time.Duration, err error) {
	m.steps.WithLabelValues(string(step.State), features.Outcome(err)).Observe(took.Seconds())
	m.rows.Add(float64(step.Rows))
}

// collectors returns the metrics of the follower: its steps, and the largest lag of the boards that this process leads.
func (d *follower) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		d.metrics.steps, d.metrics.rows,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "leaderboard_derived_lag_changes", Help: "Changes of its sources that the last step of a derived board found, at worst.",
		}, func() float64 { changes, _ := d.lag(); return float64(changes) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "leaderboard_derived_lag_seconds", Help: "Time since the state of its sources that a derived board reflects was the present one, at worst.",
		}, func() float64 { _, behind := d.lag(); return behind.Seconds() }),
	}
}

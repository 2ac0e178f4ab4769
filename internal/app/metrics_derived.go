package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/leaderboard"
)

func (m *metrics) newDerived() {
	m.derivedSteps = m.auto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "leaderboard_derived_step_duration_seconds", Help: "Steps of derived boards behind their sources, by what the step found and its outcome.",
		Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 30, 120, 600},
	}, []string{"state", "outcome"})
	m.derivedRows = m.auto.NewCounter(prometheus.CounterOpts{
		Name: "leaderboard_derived_rows_total", Help: "Entries of derived boards that steps have changed.",
	})
}

// watchDerived publishes the largest lag of the derived boards that this process leads.
func (m *metrics) watchDerived(lag func() (changes int64, behind time.Duration)) {
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_derived_lag_changes", Help: "Changes of its sources that the last step of a derived board found, at worst.",
	}, func() float64 { changes, _ := lag(); return float64(changes) })
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_derived_lag_seconds", Help: "Time since the state of its sources that a derived board reflects was the present one, at worst.",
	}, func() float64 { _, behind := lag(); return behind.Seconds() })
}

// StepEnded implements refresher.Observer.
func (m *metrics) StepEnded(step leaderboard.DeriveStep, took time.Duration, err error) {
	m.derivedSteps.WithLabelValues(string(step.State), outcomeOf(err)).Observe(took.Seconds())
	m.derivedRows.Add(float64(step.Rows))
}

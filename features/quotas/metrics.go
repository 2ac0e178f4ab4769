package quotas

import (
	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/leaderboard"
)

// metrics count what quotas refuse, and how they are leased.
type metrics struct {
	collectors []prometheus.Collector
	refused    [leaderboard.QuotaKinds]prometheus.Counter
	leases     map[bool]prometheus.Counter // by whether it was answered
}

func newMetrics() *metrics {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "leaderboard_quota_refused_total", Help: "Requests refused because a quota was used up.",
	}, []string{"quota"})
	leases := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "leaderboard_quota_leases_total", Help: "Leases of quotas that Redis was asked for, by how that ended.",
	}, []string{"result"})
	m := &metrics{
		collectors: []prometheus.Collector{refused, leases},
		leases:     map[bool]prometheus.Counter{true: leases.WithLabelValues("ok"), false: leases.WithLabelValues("error")},
	}
	for kind := range leaderboard.QuotaKinds {
		m.refused[kind] = refused.WithLabelValues(kind.String())
	}
	return m
}

// LeaseAsked implements Observer.
func (m *metrics) LeaseAsked(err error) { m.leases[err == nil].Inc() }

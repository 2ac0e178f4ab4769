package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/leaderboard"
)

// quotaMetrics count what quotas refuse, and how they are leased.
type quotaMetrics struct {
	refused [leaderboard.QuotaKinds]prometheus.Counter
	leases  map[bool]prometheus.Counter // by whether it was answered
	tokens  map[bool]prometheus.Counter // by whether the signature is right
}

func (m *metrics) newQuotas() {
	refused := m.auto.NewCounterVec(prometheus.CounterOpts{
		Name: "leaderboard_quota_refused_total", Help: "Requests refused because a quota was used up.",
	}, []string{"quota"})
	for kind := range leaderboard.QuotaKinds {
		m.quotas.refused[kind] = refused.WithLabelValues(kind.String())
	}
	leases := m.auto.NewCounterVec(prometheus.CounterOpts{
		Name: "leaderboard_quota_leases_total", Help: "Leases of quotas that Redis was asked for, by how that ended.",
	}, []string{"result"})
	m.quotas.leases = map[bool]prometheus.Counter{true: leases.WithLabelValues("ok"), false: leases.WithLabelValues("error")}
	tokens := m.auto.NewCounterVec(prometheus.CounterOpts{
		Name: "leaderboard_token_verifications_total", Help: "Signatures of players' tokens that were verified, by how that ended. Those that are known are not.",
	}, []string{"result"})
	m.quotas.tokens = map[bool]prometheus.Counter{true: tokens.WithLabelValues("ok"), false: tokens.WithLabelValues("refused")}
}

func (m *metrics) quotaRefused(kind leaderboard.QuotaKind) { m.quotas.refused[kind].Inc() }

// LeaseAsked implements quota.Observer.
func (m *metrics) LeaseAsked(err error) { m.quotas.leases[err == nil].Inc() }

// TokenVerified implements players.Observer.
func (m *metrics) TokenVerified(good bool) { m.quotas.tokens[good].Inc() }

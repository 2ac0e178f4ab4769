package players

import "github.com/prometheus/client_golang/prometheus"

// metrics count the signatures that are verified.
type metrics struct {
	collector prometheus.Collector
	tokens    map[bool]prometheus.Counter // by whether the signature is right
}

func newMetrics() *metrics {
	tokens := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "leaderboard_token_verifications_total", Help: "Signatures of players' tokens that were verified, by how that ended. Known tokens are not verified again.",
	}, []string{"result"})
	return &metrics{tokens, map[bool]prometheus.Counter{true: tokens.WithLabelValues("ok"), false: tokens.WithLabelValues("refused")}}
}

// TokenVerified implements Observer.
func (m *metrics) TokenVerified(good bool) { m.tokens[good].Inc() }

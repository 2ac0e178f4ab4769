package quotas

import (
	"net/netip"

	"leaderboard/httpapi"
	"leaderboard/leaderboard"
)

// callers chooses the quota of a caller: of its key, or of its address.
type callers struct {
	*Quotas
	settings Settings
	metrics  *metrics
}

// Charge implements httpapi.Quotas.
func (q *callers) Charge(by httpapi.Bearer, from netip.Addr, c leaderboard.Charge) (out leaderboard.Allowance) {
	switch {
	case by.Key != nil:
		out = q.Key(by.Key.ID, q.ratesOf(by.Key), c)
	case by.Player != nil:
		out = q.chargePlayer(by.Player, c)
	default:
		out = q.Address(from, q.settings.Addresses, c)
	}
	if out.Refused {
		q.metrics.refused[out.Kind].Inc()
	}
	return out
}

// chargePlayer charges a player, and then all players of the issuer if they have a quota together: one player who does too
// much takes nothing from the others.
func (q *callers) chargePlayer(p *leaderboard.Player, c leaderboard.Charge) leaderboard.Allowance {
	out := q.Player(p.Owner, q.settings.Players, c)
	if out.Refused || p.Quota == (leaderboard.Quota{}) {
		return out
	}
	all := q.Key(p.Via, Rates{Requests: float64(p.Quota.RequestsPerSecond), Rows: float64(p.Quota.RowsPerSecond)}, c)
	if all.Refused {
		return all
	}
	return out
}

// ratesOf returns the quota of a key: its own rates, and the settings' rates in place of missing ones.
func (q *callers) ratesOf(key *leaderboard.Key) Rates {
	rates := q.settings.Keys
	if own := key.Quota.RequestsPerSecond; own != 0 {
		rates.Requests = float64(own)
	}
	if own := key.Quota.RowsPerSecond; own != 0 {
		rates.Rows = float64(own)
	}
	return rates
}

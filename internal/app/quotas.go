package app

import (
	"net/netip"

	"leaderboard/httpapi"
	"leaderboard/leaderboard"
	"leaderboard/quota"
)

// quotas chooses the quota of a caller: of its key, or of its address.
type quotas struct {
	*quota.Quotas
	keys      leaderboard.Rates // of keys that have none of their own
	players   leaderboard.Rates
	addresses leaderboard.Rates
	refused   func(leaderboard.QuotaKind)
}

// Charge implements httpapi.Quotas.
func (q *quotas) Charge(by httpapi.Bearer, from netip.Addr, c leaderboard.Charge) (out leaderboard.Allowance) {
	switch {
	case by.Key != nil:
		out = q.Key(by.Key.ID, q.ratesOf(by.Key), c)
	case by.Player != nil:
		out = q.chargePlayer(by.Player, c)
	default:
		out = q.Address(from, q.addresses, c)
	}
	if out.Refused {
		q.refused(out.Kind)
	}
	return out
}

// chargePlayer charges a player, and then all players of the issuer if they have a quota together: one player who does too
// much takes nothing from the others.
func (q *quotas) chargePlayer(p *leaderboard.Player, c leaderboard.Charge) leaderboard.Allowance {
	out := q.Player(p.Owner, q.players, c)
	if out.Refused || p.Quota == (leaderboard.Quota{}) {
		return out
	}
	all := q.Key(p.Via, leaderboard.Rates{Requests: float64(p.Quota.RequestsPerSecond), Rows: float64(p.Quota.RowsPerSecond)}, c)
	if all.Refused {
		return all
	}
	return out
}

// ratesOf returns the quota of a key: its own rates, and those of the settings in the place of rates that it lacks.
func (q *quotas) ratesOf(key *leaderboard.Key) leaderboard.Rates {
	rates := q.keys
	if own := key.Quota.RequestsPerSecond; own != 0 {
		rates.Requests = float64(own)
	}
	if own := key.Quota.RowsPerSecond; own != 0 {
		rates.Rows = float64(own)
	}
	return rates
}

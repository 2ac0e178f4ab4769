package app

import (
	"net/netip"

	"leaderboard"
	"leaderboard/quota"
)

// quotas chooses the quota of a caller: of its key, or of its address.
type quotas struct {
	*quota.Quotas
	keys      leaderboard.Rates // of keys that have none of their own
	addresses leaderboard.Rates
	refused   func(leaderboard.QuotaKind)
}

// Charge implements httpapi.Quotas.
func (q *quotas) Charge(key *leaderboard.Key, from netip.Addr, c leaderboard.Charge) (out leaderboard.Allowance) {
	if key != nil {
		out = q.Key(key.ID, q.ratesOf(key), c)
	} else {
		out = q.Address(from, q.addresses, c)
	}
	if out.Refused {
		q.refused(out.Kind)
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

package guard

import (
	"cmp"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Quotas bound how much each caller does. All methods cost next to nothing and may be called concurrently. Only Charge may
// block, for a quarter of a second at most, when a charge is large compared with the caller's quota.
type Quotas interface {
	// Charge takes the cost of a request from the quotas of its caller: the holder of a key, a player and then all players
	// of the issuer, or without either the address of the request. It takes all of the cost, or nothing.
	Charge(by Bearer, from netip.Addr, c leaderboard.Charge) leaderboard.Allowance
	// Attempt charges an address for a request with a key or a token that is not good.
	Attempt(from netip.Addr) leaderboard.Allowance
	// Attempts returns the result that Attempt would return, and takes nothing.
	Attempts(from netip.Addr) leaderboard.Allowance
}

// Charge charges the key, the token, or without either the address of a request. The header of w gets the remainder.
func (g *Guard) Charge(w http.ResponseWriter, r *http.Request, by Bearer, c leaderboard.Charge) error {
	if g.quotas == nil || c == (leaderboard.Charge{}) {
		return nil
	}
	var from netip.Addr
	if by == (Bearer{}) {
		if from = g.Client(r); !from.IsValid() {
			return nil
		}
	}
	a := g.quotas.Charge(by, from, c)
	if a.Refused || by != (Bearer{}) {
		setQuotaHeaders(w.Header(), &a)
	}
	if !a.Refused {
		return nil
	}
	return usedUp(&a, by)
}

// usedUp is the error that a quota of a key, of a player or of an address is used up.
func usedUp(a *leaderboard.Allowance, by Bearer) error {
	kind := a.Kind.String()
	detail := "The quota of this address for " + kind + " is used up; with a key there is more."
	switch {
	case by.Key != nil:
		detail = "The quota of this key for " + kind + " is used up."
	case by.Player != nil:
		detail = "The quota of this player for " + kind + ", or the quota of the issuer, is used up."
	}
	return &wire.Rejection{Code: wire.CodeQuota, Detail: detail, Wait: a.Wait, Quotas: []string{kind}}
}

// MayAttempt returns why a request may not try a secret that costs more than a look into memory: its address has no attempts left.
func (g *Guard) MayAttempt(r *http.Request) error {
	if g.quotas == nil {
		return nil
	}
	from := g.Client(r)
	if !from.IsValid() {
		return nil
	}
	if a := g.quotas.Attempts(from); a.Refused {
		return &wire.Rejection{Code: wire.CodeAttempts, Wait: a.Wait, Quotas: []string{policyAttempts}}
	}
	return nil
}

// Attempt charges the address of a request for a key or a token that is not good, and returns what the request is answered
// with: err, or that there were too many attempts. A token that was good once, or is of another time, is no attempt but a
// request of the address: players do not notice when theirs ends, and many may share an address.
func (g *Guard) Attempt(w http.ResponseWriter, r *http.Request, err error) error {
	if b, ok := errors.AsType[*badToken](err); ok && b.signed {
		return cmp.Or(g.Charge(w, r, Bearer{}, leaderboard.Charge{leaderboard.QuotaKindRequests: 1}), err)
	}
	if !wire.IsRejection(err) || wire.IsTooMany(err) {
		return err
	}
	return g.Guessed(w, r, err)
}

// Guessed charges the address of a request for a secret that is not good, and returns what the request is answered with: err, or that
// there were too many attempts.
func (g *Guard) Guessed(w http.ResponseWriter, r *http.Request, err error) error {
	from := g.Client(r)
	if g.quotas == nil || !from.IsValid() {
		return err
	}
	a := g.quotas.Attempt(from)
	return cmp.Or(tooManyAttempts(w, &a), err)
}

// policyAttempts is the name of the quota for keys that are not valid.
const policyAttempts = "attempts"

// tooManyAttempts returns nil while attempts are left, and otherwise the refusal; the header of w then shows how many attempts
// there may be in how many seconds.
func tooManyAttempts(w http.ResponseWriter, a *leaderboard.Allowance) error {
	if !a.Refused {
		return nil
	}
	limit, h := a.Limits[leaderboard.QuotaKindRequests], w.Header()
	policy := strconv.AppendInt(append(appendQuota(nil, policyAttempts, ";q=", limit.Most), ";w="...), int64(leaderboard.AttemptWindow/time.Second), 10)
	left := strconv.AppendInt(append(appendQuota(nil, policyAttempts, ";r=", limit.Left), ";t="...), wholeSeconds(a.Wait), 10)
	h["Ratelimit-Policy"], h["Ratelimit"] = []string{string(policy)}, []string{string(left)}
	return &wire.Rejection{Code: wire.CodeAttempts, Wait: a.Wait, Quotas: []string{policyAttempts}}
}

// Client returns the address that a request comes from, one for a whole /64 of IPv6. It is the address of the connection,
// or the address that the last trusted proxy names. It is not valid for this machine, and when a proxy names no client.
// When a proxy names a text that is not an address, the proxy's own address counts, also on this machine: a client could
// cause such a text.
func (g *Guard) Client(r *http.Request) netip.Addr {
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	from := remote.Addr().Unmap()
	if trusted(g.proxies, from) {
		told, legible := forwarded(r.Header["X-Forwarded-For"], g.proxies)
		if !legible {
			return ClientOf(from)
		}
		from = told
	}
	if !from.IsValid() || from.IsLoopback() {
		return netip.Addr{}
	}
	return ClientOf(from)
}

// setQuotaHeaders sets the fields of draft-ietf-httpapi-ratelimit-headers: for each quota its size, the seconds in which it is
// restored, and the remainder.
func setQuotaHeaders(h http.Header, a *leaderboard.Allowance) {
	var room [256]byte
	b := room[:0]
	for kind, limit := range a.Limits {
		if limit.Most == 0 {
			continue
		}
		b = appendQuota(b, leaderboard.QuotaKind(kind).String(), ";q=", limit.Most)
		b = strconv.AppendInt(append(b, ";w="...), int64(leaderboard.QuotaWindow/time.Second), 10)
		if leaderboard.QuotaKind(kind) != leaderboard.QuotaKindRequests {
			b = append(append(append(b, `;qu="`...), leaderboard.QuotaKind(kind).String()...), '"')
		}
	}
	policy := len(b)
	if policy == 0 {
		return
	}
	for kind, limit := range a.Limits {
		if limit.Most == 0 {
			continue
		}
		rest := b[policy:]
		rest = appendQuota(rest, leaderboard.QuotaKind(kind).String(), ";r=", limit.Left)
		if a.Refused && a.Kind == leaderboard.QuotaKind(kind) {
			rest = strconv.AppendInt(append(rest, ";t="...), wholeSeconds(a.Wait), 10)
		}
		b = append(b[:policy], rest...)
	}
	text := string(b)
	values := [...]string{text[:policy], text[policy:]}
	h["Ratelimit-Policy"] = values[0:1:1]
	h["Ratelimit"] = values[1:2:2]
}

// appendQuota appends an item of a list: a quota and its first parameter.
func appendQuota(b []byte, name, parameter string, value int64) []byte {
	if len(b) > 0 {
		b = append(b, ", "...)
	}
	b = append(append(append(b, '"'), name...), '"')
	return strconv.AppendInt(append(b, parameter...), value, 10)
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

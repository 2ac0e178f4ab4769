// Package quotas bounds how much each caller uses, on all servers together, without a round trip for any request.
//
// A quota is a token bucket: rate tokens a second come in, burst tokens fit. The bucket that counts is in Redis. A process
// takes tokens out of it ahead of need, a block of a twentieth of a second's at a time, in the background: a lease.
// Requests take tokens that the process holds. When those are not enough (a burst, a large request) the process lends
// itself up to half of the bucket's last known content, and the next lease charges that, whatever the bucket holds by then:
// it may be in debt, and then grants nothing until the debt is paid. So
//
//	admitted in T seconds ≤ burst + rate·T + what processes have lent themselves and not charged yet
//
// and that is charged within milliseconds, and is never more than the bucket held. A request for more than burst passes
// when the bucket is full, and leaves the debt.
//
// Failures. A lease is absolute: it has its own number, and Redis remembers the answer, so a command that the client
// repeats changes nothing. When a lease fails, Redis counts as away for a second: leased tokens are forgotten, and the
// process uses its own bucket with rate/servers, which was charged all along. The same applies to a caller without an
// answered lease, and without Redis. Callers that were idle for long are forgotten: here when there are too many, in Redis
// by a TTL after which their bucket would be full.
package quotas

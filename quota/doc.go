// Package quota bounds how much each caller does, on all servers together, without a round trip for any request.
//
// A quota is a token bucket: rate tokens a second come in, burst tokens fit. The bucket that counts is in Redis. A
// process takes tokens out of it ahead of need, a block of a twentieth of a second's at a time, in the background; that is
// a lease. What a request takes comes out of what the process holds. When that is not enough (a burst, a large request)
// the process lends itself up to half of what the bucket was last seen to hold, and the next lease charges it, whatever the
// bucket holds by then: it may be in debt, and then nobody gets anything until it is paid. So
//
//	admitted in T seconds ≤ burst + rate·T + what processes have lent themselves and not charged yet
//
// and that is charged within milliseconds, and by everybody together at most what the bucket held. A request that asks for
// more than burst goes through a full bucket, and leaves the debt.
//
// Failures. A lease is absolute: it has a number of its own, and Redis remembers the answer, so a command that the client
// repeats changes nothing. When a lease fails, Redis counts as away for a second: what was leased is forgotten, and the
// process goes by a bucket of its own with rate/servers, which has been charged all along. The same holds for a caller of
// whom no lease was answered yet, and without Redis. Callers that nobody has seen for long are forgotten, here when there
// are too many, in Redis by a TTL after which their bucket would be full.
package quota

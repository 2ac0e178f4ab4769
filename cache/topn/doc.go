// Package topn keeps copies of periods in Redis, the top N of each. MySQL is the database; every copy may be lost at
// any moment without losing anything. No other package of the engine talks to Redis.
//
// # A copy is a state machine (promise B3)
//
// Three keys of one hash slot hold a period's copy: top, a zset of sort keys in byte order; key, a hash from member to
// sort key; meta, a hash that names the state. Its invariant: for every entry at or above meta.floor, the copy equals
// the database at exactly meta.seq. When n = total the copy is complete and the floor means nothing. Three steps move
// it, each one script and thus atomic:
//
//	publish(S)       nothing or an older state → S     a full build, read in one snapshot of MySQL
//	apply(from, to)  from → to                         absolute changes of the log, never deltas
//	drop             any → nothing
//
// A step that does not fit the state in place changes nothing and reports why: publish refuses a state older than the
// copy (seq is the fencing token, so a slow builder never overwrites a newer copy), apply reports a gap. States are
// named by (incarnation, seq, committed_at): two branches that reach the same seq, because a database was restored from
// a backup, differ in the last; a copy that has diverged is dropped. The incarnation is in the names of the keys: a
// period that got the id of a lost period never reads its copy.
//
// A copy that lost one of its keys (eviction), lost members of one, or has another format is never read: every script
// first checks n against both structures.
//
// # Files
//
// They read in layers; each uses only files above it and on its own line.
//
//	observer.go, redis.go, breaker.go       the observer of metrics; connections, and when a server is left alone
//	servers.go, copies.go, health.go        the servers of a cluster; copies, and their states
//	listings.go, hot.go                     the data that processes leave each other: boards, and which periods were read most
//	lease.go, read.go, apply.go, faults.go  the lease, the questions, the log applied; the faults of a Redis
//	build.go, write_through.go, verify.go   full builds, write-through, comparison with MySQL
package topn

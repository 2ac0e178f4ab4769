package leaderboard

import (
	"context"
	"errors"
	"time"
)

// ErrNeedsBuild: the change log cannot bring a copy up to date; only a full build can.
var ErrNeedsBuild = errors.New("copy needs a full build")

// CopyInfo describes the Redis copy of a period's top N.
type CopyInfo struct {
	Exists                bool  // there is a readable one; the fields below Damaged are 0 otherwise
	Damaged               bool  // there is an unreadable one
	Revision                    // of the entries in the copy
	Total                 int64 // entries of the period at Seq
	N                     int64 // entries in the copy
	Complete              bool  // N = Total
	Short                 bool  // fewer than top_n though the period has more: a build is due
	BuiltAt, BuildStarted Micros
	RedisNow              Micros        // Redis's clock, which BuiltAt and BuildStarted use too
	TTL                   time.Duration // until an unread copy expires
}

// CopyOutcome is the outcome of a build or a catch-up: the seq of the copy before (0: no copy) and after, and the
// number of rows read or changes applied. Refused: the build was older than the copy in place, which stayed.
type CopyOutcome struct {
	FromSeq, ToSeq int64
	Rows           int64
	Refused        bool
}

// Lease is a right to do some work alone, for a term that is renewed until Release. It only saves work: a process that
// was paused may continue after its lease has ended.
type Lease interface {
	// Held renews the lease and returns true, or returns false when it is lost.
	Held(ctx context.Context) (bool, error)
	// Lost is closed when another process may hold the lease.
	Lost() <-chan struct{}
	// Release gives the lease back, and waits no longer than ctx.
	Release(ctx context.Context) error
}

// Verification is the outcome of comparing a period's copy with the database at one seq.
type Verification struct {
	Equal      bool
	Seq        int64       // the state at which both were compared; MySQL's when there is no copy to compare
	Checked    int64       // entries compared
	Total      int64       // entries of the period in that state; a copy may have only the best of them
	Difference *Difference // the first, best rank first; nil when Equal and when the copy as a whole is not usable
	Detail     string      // the difference in words; "" for Equal and NoCopy
}

// NoCopy is the detail of a verification that found no copy.
const NoCopy = "there is no copy"

// Difference is one place where a copy and the database disagree.
type Difference struct {
	Rank     int64  // strict
	Copy     *Entry // nil: the copy ends before it
	Database *Entry // nil: the database ends before it
}

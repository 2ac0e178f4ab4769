package leaderboard

import "time"

// QuotaWindow is how long unused quota is saved up.
const QuotaWindow = 5 * time.Second

// AttemptWindow is how long unused attempts with a bad key are saved up, one a second.
const AttemptWindow = 30 * time.Second

// QuotaKind is a kind of use that has a quota.
type QuotaKind int

// The kinds of quotas.
const (
	QuotaKindRequests QuotaKind = iota
	QuotaKindRows
	QuotaKindHeavy
	QuotaKinds // the number of kinds
)

// String returns the name of the kind, as the header fields show it.
func (k QuotaKind) String() string {
	return [QuotaKinds]string{"requests", "rows", "heavy"}[k]
}

// Charge is the cost of a request, by kind.
type Charge [QuotaKinds]int

// Allowance is the result of a charge.
type Allowance struct {
	Refused bool
	Kind    QuotaKind     // the quota that is used up
	Wait    time.Duration // until the charge would pass
	// Limits are the quotas of the caller and their remainders, as far as this server knows; if Most is 0 there is no
	// quota
	Limits [QuotaKinds]QuotaLimit
}

// QuotaLimit is how much a quota allows at once, and how much of it is left.
type QuotaLimit struct{ Most, Left int64 }

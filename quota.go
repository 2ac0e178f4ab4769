package leaderboard

import "time"

// Rates are how much one caller may do in a second, on all servers together; 0 is any amount. What was not used is saved
// for QuotaWindow.
type Rates struct {
	Requests float64
	Rows     float64 // entries, friends and profiles written
	Heavy    float64 // units of heavy work, see docs/quotas.md
}

// QuotaWindow is for how long what a quota allows can be saved up.
const QuotaWindow = 5 * time.Second

// AttemptWindow is for how long attempts with a key that is not good are saved up, one a second.
const AttemptWindow = 30 * time.Second

// QuotaKind is one of the things that a quota is about.
type QuotaKind int

// The kinds of quotas.
const (
	QuotaKindRequests QuotaKind = iota
	QuotaKindRows
	QuotaKindHeavy
	QuotaKinds // how many there are
)

// String returns the name of the kind, as the header fields show it.
func (k QuotaKind) String() string {
	return [QuotaKinds]string{"requests", "rows", "heavy"}[k]
}

// ByKind returns them by kind.
func (r Rates) ByKind() [QuotaKinds]float64 { return [QuotaKinds]float64{r.Requests, r.Rows, r.Heavy} }

// Charge is what a request counts for, by kind.
type Charge [QuotaKinds]int

// Allowance is what became of a charge.
type Allowance struct {
	Refused bool
	Kind    QuotaKind     // of the quota that is used up
	Wait    time.Duration // until it would do
	// Limits are the quotas of the caller and what is left of them, as far as this server knows; a Most of 0 is none.
	Limits [QuotaKinds]QuotaLimit
}

// QuotaLimit is how much can be done at once by one quota, and how much is left of that.
type QuotaLimit struct{ Most, Left int64 }

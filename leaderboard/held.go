package leaderboard

import (
	"fmt"
	"time"
)

// Holding is the rule and the facts that decide whether an applicable submission waits for an admin.
type Holding struct {
	Next Entry // the member's entry if the submission is applied
	// First reports that Next belongs to the board's first window.
	First bool
	// At returns the entry at a place of HoldRanks before the batch; ok is false when there are fewer.
	At     func(rank int) (e Entry, ok bool)
	Played time.Duration // how long its play took, 0 without one
}

// Hold returns why a submission of a caller waits, a RuleError with CodeHeld; nil when it does not.
func (r *Rules) Hold(sub *Submission, by *Caller, h *Holding) error {
	if r.Review == nil || by.Admin && by.Key != "" {
		return nil
	}
	for i := range r.Review.Hold {
		if reason := r.heldBy(&r.Review.Hold[i], sub, by, h); reason != "" {
			return &RuleError{Code: CodeHeld, Detail: "an admin decides: " + reason}
		}
	}
	return nil
}

func (r *Rules) heldBy(rule *HoldRule, sub *Submission, by *Caller, h *Holding) string {
	switch {
	case rule.Above != nil:
		if better := h.Next.Score > *rule.Above; better == (r.Order != OrderAsc) && h.Next.Score != *rule.Above {
			return fmt.Sprintf("the score would be better than %d", *rule.Above)
		}
	case rule.RankWithin > 0 && h.First:
		if at, ok := h.At(rule.RankWithin); !ok || r.Better(h.Next, at) {
			return fmt.Sprintf("the entry would be among the first %d", rule.RankWithin)
		}
	case rule.PerSecond != nil:
		if h.Played > 0 && !withinRate(sub.Score, *rule.PerSecond, h.Played) {
			return fmt.Sprintf("the score is more than %d for each second of the play", *rule.PerSecond)
		}
	case rule.By == HoldByPlayers && by.Player != "":
		return "a player has submitted it"
	}
	return ""
}

// HeldState is the state of a held submission.
type HeldState string

// A held submission waits until an admin approves or rejects it.
const (
	HeldStateWaiting  HeldState = "waiting"
	HeldStateApproved HeldState = "approved"
	HeldStateRejected HeldState = "rejected"
)

// HeldStates lists the states.
func HeldStates() []HeldState {
	return []HeldState{HeldStateWaiting, HeldStateApproved, HeldStateRejected}
}

// Held is a submission that waits for an admin, or did.
type Held struct {
	ID      int64
	BoardID int64
	Board   string
	Member  string
	State   HeldState
	Reason  string // why it was held

	Score       int64   // as submitted; with policy sum, the amount
	NewScore    int64   // the member's score if it had been applied then
	Tiebreak    int64   // and of the tiebreak
	CreatedTime Micros  // of the entry, when it is approved with policy best or latest
	Periods     []int64 // ids of its periods, in the order of the board's windows
	HeldTime    Micros
	Actor       string // id of the key, or the issuer of the player's token
	RequestID   string
	Sub         Submission // as submitted, without its condition and its play

	DecidedTime Micros // 0 while it waits
	DecidedBy   string // id of the key
	Note        string // of the admin
	Outcome     Status // of an approved one: StatusApplied or StatusUnchanged
}

// HeldQuery asks for held submissions, newest first. A field that is "" or 0 does not filter.
type HeldQuery struct {
	BoardID int64 // 0: of all boards
	Member  string
	State   HeldState // required
	Before  int64     // only submissions with a smaller ID; 0: start at the newest
	Limit   int
}

// HeldDecision approves or rejects a held submission.
type HeldDecision struct {
	ID      int64
	Approve bool
	// Reopen enters an approved one also in periods that have closed meanwhile: that corrects them.
	Reopen bool
	Note   string // at most MaxHeldNote characters
}

// Check returns a RuleError when a decision is invalid.
func (d *HeldDecision) Check() error {
	var bad []FieldError
	if len([]rune(d.Note)) > MaxHeldNote {
		bad = append(bad, FieldError{Pointer: "/note", Detail: fmt.Sprintf("want at most %d characters", MaxHeldNote)})
	}
	if d.Reopen && !d.Approve {
		bad = append(bad, FieldError{Pointer: "/reopen", Detail: "a rejection changes no period"})
	}
	if bad == nil {
		return nil
	}
	return &RuleError{Code: CodeInvalidDecision, Detail: "the decision is not valid", Fields: bad}
}

// AsDecided returns the state that a decision leads to.
func (d *HeldDecision) AsDecided() HeldState {
	if d.Approve {
		return HeldStateApproved
	}
	return HeldStateRejected
}

// Approved returns the submission that applies a held one at a time, under the given rules: it may come after the end
// of the board.
func (r *Rules) Approved(h *Held, clock Micros) (Submission, *Rules) {
	sub, rules := h.Sub, *r
	sub.Member, sub.Score = h.Member, h.Score
	rules.StartsAt, rules.EndsAt = nil, nil
	if sub.Edit.policy(r.Policy) != PolicySum {
		at := min(h.CreatedTime, clock) // times of a large commit may be ahead of the clock by its entries
		sub.CreatedTime = &at
	}
	return sub, &rules
}

// Late reports whether an approved submission comes too late for an entry: with policy latest the later one stays.
func (r *Rules) Late(h *Held, cur *Entry) bool {
	return cur != nil && h.Sub.Edit.policy(r.Policy) == PolicyLatest && cur.CreatedTime >= h.CreatedTime
}

// Worst returns the index of the worst of the submissions of a member that wait, which one more takes the place of; -1 when
// there is room for it. The error is a RuleError: all of them are as good or better.
func (r *Rules) Worst(waiting []*Held, next *Held) (worst int, err error) {
	if len(waiting) < MaxHeldPerMember {
		return -1, nil
	}
	for i := range waiting {
		if r.Better(waiting[worst].would(), waiting[i].would()) {
			worst = i
		}
	}
	if !r.Better(next.would(), waiting[worst].would()) {
		return -1, &RuleError{Code: CodeHeldFull, Detail: fmt.Sprintf("%d submissions of the member wait for an admin, all of them as good or better", len(waiting))}
	}
	return worst, nil
}

// would returns the entry that a held submission would have made.
func (h *Held) would() Entry {
	return Entry{Member: h.Member, Score: h.NewScore, Tiebreak: h.Tiebreak, CreatedTime: h.CreatedTime}
}

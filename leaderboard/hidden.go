package leaderboard

import (
	"fmt"
	"unicode/utf8"
)

// Bounds of the recorded texts when a member is hidden or a name is taken away, in bytes of UTF-8.
const (
	MaxHideReason = 200
	MaxHideActor  = 128
)

// HideRequest asks to hide a member, or to show a hidden one again. A hidden member's entries are kept and still take
// submissions, but no answer shows them or counts them.
type HideRequest struct {
	Board  string // name; "" is everywhere, including boards that are made later
	Member string
	Reason string // 1 to MaxHideReason bytes; a restoration may omit it
	Actor  string // the person or key that hides, up to MaxHideActor bytes
	// Reopen corrects closed periods too, which otherwise do not change. Each corrected period is recorded as a run of
	// kind RunKindReopen.
	Reopen bool
}

// Check returns a RuleError when a request to hide is invalid.
func (r *HideRequest) Check() error {
	return CheckReason(CodeInvalidHide, "a member is hidden for a reason", r.Member, r.Reason, r.Actor)
}

// CheckRestore returns a RuleError when a request to restore is invalid.
func (r *HideRequest) CheckRestore() error {
	return CheckReason(CodeInvalidHide, "", r.Member, r.Reason, r.Actor)
}

// CheckReason returns a RuleError with a code when an action of an admin on a member has an invalid member, reason or actor. A reason
// that is missing has the detail why; "" needs none.
func CheckReason(code, why, member, reason, actor string) error {
	if why != "" && reason == "" {
		return &RuleError{Code: code, Detail: why, Fields: []FieldError{{Pointer: "/reason", Detail: "want 1 byte at least"}}}
	}
	if err := CheckMember(member); err != nil {
		return err
	}
	var bad []FieldError
	for _, f := range []struct {
		pointer, value string
		most           int
	}{{"/reason", reason, MaxHideReason}, {"/actor", actor, MaxHideActor}} {
		if len(f.value) > f.most || !utf8.ValidString(f.value) {
			bad = append(bad, FieldError{Pointer: f.pointer, Detail: fmt.Sprintf("want at most %d bytes of UTF-8", f.most)})
		}
	}
	if bad == nil {
		return nil
	}
	return &RuleError{Code: code, Detail: "reason or actor is not valid", Fields: bad}
}

// ModerationAction is an action on many members.
type ModerationAction string

// The actions of a moderation.
const (
	ModerationActionHide    ModerationAction = "hide"
	ModerationActionRestore ModerationAction = "restore"
	ModerationActionRemove  ModerationAction = "remove" // the entries of the current periods, on a board
)

// MaxModerated is the maximum of members of a moderation.
const MaxModerated = 1000

// Moderation is one action on many members.
type Moderation struct {
	Action  ModerationAction `json:"action"`
	Board   string           `json:"-"`               // name; "" is everywhere
	Members []string         `json:"members"`         // 1 to MaxModerated, each once
	Reason  string           `json:"reason,omitzero"` // as in HideRequest; a removal does not keep it
	Actor   string           `json:"actor,omitzero"`
	Reopen  bool             `json:"reopen,omitzero"` // as in HideRequest; not of a removal
}

// Check returns a RuleError when a moderation is invalid.
func (m *Moderation) Check() error {
	var bad []FieldError
	wrong := func(pointer, detail string) { bad = append(bad, FieldError{Pointer: pointer, Detail: detail}) }
	switch {
	case m.Action != ModerationActionHide && m.Action != ModerationActionRestore && m.Action != ModerationActionRemove:
		wrong("/action", "want hide, restore or remove")
	case m.Action == ModerationActionRemove && m.Board == "":
		wrong("/action", "entries are removed from one board at a time")
	case m.Action == ModerationActionRemove && m.Reopen:
		wrong("/reopen", "a removal is from the current periods")
	}
	if n := len(m.Members); n == 0 || n > MaxModerated {
		wrong("/members", fmt.Sprintf("want 1 to %d members", MaxModerated))
	}
	seen := make(map[string]bool, len(m.Members))
	for i, member := range m.Members {
		if err := AsRule(CheckMember(member)); err != nil {
			wrong(fmt.Sprintf("/members/%d", i), err.Detail)
		} else if seen[member] {
			wrong(fmt.Sprintf("/members/%d", i), "is listed twice")
		}
		seen[member] = true
	}
	if bad != nil {
		return &RuleError{Code: CodeInvalidHide, Detail: "the moderation is not valid", Fields: bad[:min(len(bad), 100)]}
	}
	one := HideRequest{Member: m.Members[0], Reason: m.Reason, Actor: m.Actor}
	if m.Action == ModerationActionHide {
		return one.Check()
	}
	return one.CheckRestore()
}

// HiddenMember is a member that is hidden, on one board or everywhere.
type HiddenMember struct {
	BoardID  int64  // 0: everywhere
	Board    string // name, "" everywhere
	Member   string
	Reason   string
	Actor    string
	HiddenAt Micros // database clock; a second request that changes reason or actor does not change it
}

// HiddenQuery asks which members are hidden. The answer is ordered by board id, everywhere first, then member bytes.
type HiddenQuery struct {
	Board  string // name: hidden on this board or everywhere; "": hidden anywhere
	Member string // "": any

	AfterBoard  int64 // continue after this BoardID and Member
	AfterMember string
	Limit       int // 0 to MaxLimit
}

package leaderboard

// Notify is the rule that says which members are notified when somebody passes them, by events of kind
// EventKindMemberPassed; nil: nobody. It is about the first window of the board.
type Notify struct {
	Passed NotifyPassed `json:"passed" flag:"notify" label:"Tell who is passed" words:"friends,top" doc:"Which members are told by an event that another one passed them; without the rule none are. friends: members who have the one that passes on their list of friends. top: those in the first places."`
	Within int          `json:"within,omitzero" flag:"notify-within" label:"How many are told" range:"1,100" default:"10" doc:"How many places, or friends that one change passes. top: how many places. friends: how many at most of those whom one change passes, best first."`
}

// NotifyPassed says which passed members are notified.
type NotifyPassed string

// Who is notified.
const (
	NotifyPassedFriends NotifyPassed = "friends" // members who have the passing member on their list of friends
	NotifyPassedTop     NotifyPassed = "top"     // members in the first places
)

// Bounds of Notify.Within.
const (
	DefaultNotifyWithin = 10
	MaxNotifyWithin     = 100
)

func (n *Notify) withDefaults() *Notify {
	if n == nil || *n == (Notify{}) {
		return nil
	}
	c := *n
	if c.Within == 0 {
		c.Within = DefaultNotifyWithin
	}
	return &c
}

// check reports the faults of the rule, except for the words of its enums.
func (n *Notify) check(fail failFunc, derived bool) {
	if n == nil {
		return
	}
	if derived {
		fail("/notify", "nobody is told of what happens on a derived board; give the rule to its sources")
	}
}

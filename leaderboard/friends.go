package leaderboard

import (
	"fmt"
	"strconv"
)

// CheckFriends returns a RuleError when a list of friends is invalid: more than MaxFriends, a duplicate, or the member
// itself. The pointers of the error are into the body {"members": […]}.
func CheckFriends(member string, friends []string) error {
	if err := CheckMember(member); err != nil {
		return err
	}
	if len(friends) > MaxFriends {
		return tooManyFriends(len(friends))
	}
	seen := make(map[string]bool, len(friends))
	for i, f := range friends {
		pointer, detail := "/members/"+strconv.Itoa(i), ""
		if broken := AsRule(CheckMember(f)); broken != nil {
			detail = broken.Detail
		} else if f == member {
			detail = "a member is no friend of its own"
		} else if seen[f] {
			detail = "is listed twice"
		}
		if detail != "" {
			return &RuleError{Code: CodeInvalidFriends, Detail: "the list of friends is not valid", Fields: []FieldError{{pointer, detail}}}
		}
		seen[f] = true
	}
	return nil
}

// CheckFriendCount returns a RuleError when a member may not have n friends.
func CheckFriendCount(n int) error {
	if n > MaxFriends {
		return tooManyFriends(n)
	}
	return nil
}

func tooManyFriends(n int) *RuleError {
	return &RuleError{Code: CodeTooManyFriends, Detail: fmt.Sprintf("a member has at most %d friends, these would be %d", MaxFriends, n)}
}

package api

import (
	"encoding/json"
	"time"

	"leaderboard/leaderboard"
)

// Profile is the public profile of a member.
type Profile struct {
	Member      string          `json:"member"`
	DisplayName string          `json:"display_name"`
	AvatarURL   string          `json:"avatar_url"`
	Attributes  json.RawMessage `json:"attributes"` // an object of strings, numbers and booleans
	UpdatedTime time.Time       `json:"updated_time"`
	ResetNames  []string        `json:"reset_names,omitempty"` // that were taken away, the newest first; for keys of scope admin
}

// FoundMember is a member that a search found.
type FoundMember struct {
	Member  string   `json:"member"`
	Profile *Profile `json:"profile"` // nil: a member without a profile
}

// FoundMembers is a page of the members that a search found.
type FoundMembers struct {
	Members    []FoundMember `json:"members"`
	Partial    bool          `json:"partial"`              // too many begin so: members may be missing
	NextCursor string        `json:"next_cursor,omitzero"` // "": no more
}

// FriendList is a part of the list of a member's friends, in the order of their ids.
type FriendList struct {
	Member     string   `json:"member"`
	Members    []string `json:"members"`
	NextCursor string   `json:"next_cursor,omitzero"` // "": no more
}

// FriendCount is how many friends a member has after a change of the list.
type FriendCount struct {
	Member string `json:"member"`
	Total  int    `json:"total"`
}

// Erasing is the erasure of a member that is not done yet.
type Erasing struct {
	Member  string `json:"member"`
	State   string `json:"state"`   // running
	Entries int64  `json:"entries"` // that are removed so far
}

// ProfileFields is a whole profile. Attributes nil: without attributes.
type ProfileFields struct {
	DisplayName string         `json:"display_name"`
	AvatarURL   string         `json:"avatar_url"`
	Attributes  map[string]any `json:"attributes,omitempty"`
}

// ProfilePatch is a change of a profile; nil fields stay. A nil attribute is removed.
type ProfilePatch struct {
	DisplayName *string        `json:"display_name,omitzero"`
	AvatarURL   *string        `json:"avatar_url,omitzero"`
	Attributes  map[string]any `json:"attributes,omitempty"`
}

// MemberData is all that is stored of a member.
type MemberData struct {
	Member      string                 `json:"member"`
	Profile     *Profile               `json:"profile"`
	Friends     []string               `json:"friends"`
	FriendOf    []string               `json:"friend_of"` // members on whose lists the member is
	Hidden      []HiddenMember         `json:"hidden"`
	Bars        []Bar                  `json:"bars"` // one at most
	Plays       []MemberDataPlay       `json:"plays"`
	Held        []Held                 `json:"held"`
	Entries     []MemberDataEntry      `json:"entries"`
	Submissions []MemberDataSubmission `json:"submissions"`
	Audit       []AuditEntry           `json:"audit"`
}

// MemberDataEntry is an entry with the period that it is in.
type MemberDataEntry struct {
	Board       string             `json:"board"`
	Window      leaderboard.Window `json:"window"`
	Period      string             `json:"period"`
	Closed      bool               `json:"closed"`
	Hidden      bool               `json:"hidden"` // it is in no answer of the period
	Score       int64              `json:"score"`
	Tiebreak    int64              `json:"tiebreak"`
	CreatedTime time.Time          `json:"created_time"`
	Metadata    json.RawMessage    `json:"metadata,omitzero"` // an object, nil for none
}

// MemberDataPlay is a play that was begun and not used.
type MemberDataPlay struct {
	Board       string    `json:"board"`
	StartedTime time.Time `json:"started_time"`
	Refusals    int       `json:"refusals"` // submissions that it was refused for
}

// MemberDataSubmission is the record of a submission with its board.
type MemberDataSubmission struct {
	Board string `json:"board"`
	SubmissionRecord
}

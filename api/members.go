package api

import (
	"encoding/json"
	"time"

	"leaderboard/leaderboard"
)

// Profile is what people see of a member.
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
	Profile *Profile `json:"profile"` // nil: the member has none
}

// ProfileFields is a whole profile. Attributes nil: without attributes.
type ProfileFields struct {
	DisplayName string         `json:"display_name"`
	AvatarURL   string         `json:"avatar_url"`
	Attributes  map[string]any `json:"attributes,omitempty"`
}

// ProfilePatch is a change of a profile; nil fields stay. A nil attribute is removed.
type ProfilePatch struct {
	DisplayName *string        `json:"display_name,omitempty"`
	AvatarURL   *string        `json:"avatar_url,omitempty"`
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
	Metadata    json.RawMessage    `json:"metadata,omitempty"` // an object, nil for none
}

// MemberDataSubmission is the record of a submission with its board.
type MemberDataSubmission struct {
	Board string `json:"board"`
	SubmissionRecord
}

package leaderboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a profile.
const (
	MaxDisplayName   = 100  // bytes
	MaxAvatarURL     = 500  // bytes
	MaxAttributes    = 20   // of one profile
	MaxAttributeName = 64   // bytes
	MaxAttributeText = 2048 // bytes of all attributes, as JSON
	MaxResetNames    = 10   // that were taken away and are remembered
)

// Profile is the name and the attributes that answers show next to a member's entries. It does not affect ranks.
type Profile struct {
	Member      string
	DisplayName string     // at most MaxDisplayName bytes of UTF-8, "" for none
	AvatarURL   string     // http or https, "" for none
	Attributes  Attributes // "{}" for none
	UpdatedTime Micros     // when it was last changed
	// ResetNames are the display names that were taken away, the newest first, a line each, MaxResetNames at most.
	ResetNames string
}

// Attributes are the members of a JSON object in one canonical form: names in byte order, no spaces, numbers as written. So
// equal attributes are equal strings.
type Attributes string

// NoAttributes is an empty object.
const NoAttributes Attributes = "{}"

// ParseAttributes parses a JSON object whose values are strings, numbers and booleans; nil is an empty object. The pointers
// of the error are into a profile.
func ParseAttributes(object []byte) (Attributes, error) {
	if len(object) == 0 {
		return NoAttributes, nil
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(object, &values); err != nil || values == nil {
		return "", invalidProfile(FieldError{"/attributes", "want an object"})
	}
	if len(values) > MaxAttributes {
		return "", invalidProfile(FieldError{"/attributes", fmt.Sprintf("want at most %d, these are %d", MaxAttributes, len(values))})
	}
	var bad []FieldError
	out := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			out = append(out, ',')
		}
		value, problem := canonical(values[name])
		if problem == "" && (name == "" || len(name) > MaxAttributeName || !utf8.ValidString(name)) {
			problem = fmt.Sprintf("want a name of 1 to %d bytes", MaxAttributeName)
		}
		if problem != "" {
			bad = append(bad, FieldError{"/attributes/" + pointerEscape(name), problem})
		}
		out = append(append(appendText(out, name), ':'), value...)
	}
	if out = append(out, '}'); len(out) > MaxAttributeText && bad == nil {
		bad = append(bad, FieldError{"/attributes", fmt.Sprintf("want at most %d bytes of JSON, these are %d", MaxAttributeText, len(out))})
	}
	if bad != nil {
		return "", invalidProfile(bad...)
	}
	return Attributes(out), nil
}

// ProfilePatch is a change of a profile; nil fields stay.
type ProfilePatch struct {
	DisplayName *string
	AvatarURL   *string
	// Attributes is merged into the present ones (RFC 7396): members of an object replace members of the same name, null
	// removes one; null instead of the object removes all.
	Attributes []byte
}

// Patch returns the profile with the changes, or a RuleError.
func (p Profile) Patch(change ProfilePatch) (Profile, error) {
	if change.DisplayName != nil {
		p.DisplayName = *change.DisplayName
	}
	if change.AvatarURL != nil {
		p.AvatarURL = *change.AvatarURL
	}
	if change.Attributes != nil {
		merged, err := p.Attributes.merge(change.Attributes)
		if err != nil {
			return p, err
		}
		p.Attributes = merged
	}
	return p, p.Check()
}

func (a Attributes) merge(patch []byte) (Attributes, error) {
	if string(patch) == "null" {
		return NoAttributes, nil
	}
	var change map[string]json.RawMessage
	if err := json.Unmarshal(patch, &change); err != nil || change == nil {
		return "", invalidProfile(FieldError{"/attributes", "want an object"})
	}
	values := map[string]json.RawMessage{}
	if a != "" {
		if err := json.Unmarshal([]byte(a), &values); err != nil {
			return "", fmt.Errorf("attributes: %w", err)
		}
	}
	for name, value := range change {
		if values[name] = value; string(value) == "null" {
			delete(values, name)
		}
	}
	object, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("attributes: %w", err)
	}
	return ParseAttributes(object)
}

// canonical returns the canonical form of a string, number or boolean, or an error when value cannot be kept.
func canonical(value json.RawMessage) ([]byte, string) {
	switch value[0] {
	case 't', 'f':
		return value, ""
	case '"':
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return nil, "want valid JSON"
		}
		return appendText(nil, s), ""
	case 'n', '[', '{':
		return nil, "want a string, a number or a boolean"
	default:
		if _, err := strconv.ParseFloat(string(value), 64); err != nil {
			return nil, "want a number that a double can hold"
		}
		return value, ""
	}
}

// appendText appends a JSON string with as few escapes as JSON and JavaScript allow.
func appendText(b []byte, s string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return append(b, `""`...) // no string fails
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte{'\n'})...)
}

// Check returns a RuleError when a profile is invalid. Its attributes must come from ParseAttributes.
func (p *Profile) Check() error {
	if err := CheckMember(p.Member); err != nil {
		return err
	}
	var bad []FieldError
	if len(p.DisplayName) > MaxDisplayName || !utf8.ValidString(p.DisplayName) || strings.ContainsFunc(p.DisplayName, isControl) || isInvisible(p.DisplayName) {
		bad = append(bad, FieldError{"/display_name", fmt.Sprintf("want at most %d bytes of UTF-8 that can be seen, without control characters and those that turn the text", MaxDisplayName)})
	}
	if !validAvatar(p.AvatarURL) {
		bad = append(bad, FieldError{"/avatar_url", fmt.Sprintf("want an http or https URL of at most %d bytes, such as https://example.org/u1.png", MaxAvatarURL)})
	}
	if bad == nil {
		return nil
	}
	return invalidProfile(bad...)
}

// isInvisible reports whether a text has characters, and none of them can be seen: spaces, characters that only shape others, and the
// fillers that fonts draw as nothing.
func isInvisible(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) && r != '\u2800'
	})
}

// NameReset asks to take a member's display name away.
type NameReset struct {
	Member string
	Reason string // as of HideRequest
	Actor  string // as of HideRequest
}

// Check returns a RuleError when a request is invalid.
func (r *NameReset) Check() error {
	return checkReason(CodeInvalidReset, "a name is taken away for a reason", r.Member, r.Reason, r.Actor, true)
}

// ResetName returns the profile without its display name, which it remembers.
func (p Profile) ResetName() Profile {
	names := slices.Insert(p.namesReset(p.DisplayName), 0, p.DisplayName)
	p.DisplayName, p.ResetNames = "", strings.Join(names[:min(len(names), MaxResetNames)], "\n")
	return p
}

// CheckName returns the profile as it may be stored: a RuleError when its display name, in whatever case, was taken away, but
// an admin gives it back.
func (p Profile) CheckName(admin bool) (Profile, error) {
	names := strings.Join(p.namesReset(p.DisplayName), "\n")
	if names != p.ResetNames && !admin {
		return p, &RuleError{
			Code: CodeNameReset, Detail: "an admin has taken this name away from the member",
			Fields: []FieldError{{"/display_name", "want another name"}},
		}
	}
	p.ResetNames = names
	return p, nil
}

// namesReset returns the names that were taken away, without one of them.
func (p *Profile) namesReset(without string) []string {
	names := slices.Collect(strings.Lines(p.ResetNames))
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], "\n")
	}
	return slices.DeleteFunc(names, func(name string) bool { return FoldName(name) == FoldName(without) })
}

func validAvatar(s string) bool {
	if s == "" {
		return true
	}
	u, err := url.Parse(s)
	plain := utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	return err == nil && plain && len(s) <= MaxAvatarURL && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

func invalidProfile(fields ...FieldError) *RuleError {
	return &RuleError{Code: CodeInvalidProfile, Detail: "the profile is not valid", Fields: fields}
}

// MemberQuery asks for members by the beginning of their id or of their display name.
type MemberQuery struct {
	Prefix      string // "": all of them
	ByName      bool   // in the order of FoldName, then of ids; only members with a name
	AfterName   string // folded by FoldName; the search continues after it
	AfterMember string
	Limit       int
}

// FoundMembers are members in order.
type FoundMembers struct {
	Members []FoundMember
	// Partial reports that there were too many open periods to search all of them, so members without a profile may be
	// missing.
	Partial bool
}

// FoundMember is a member with its profile, if any.
type FoundMember struct {
	Member  string
	Profile *Profile
}

// ShownQuery asks for the members with a visible entry in a period by a shown name: the display name of a member, or else
// its id. In a period of at most MaxNamesRead entries it finds the names with a word that begins so, without regard to case
// and accents; in a larger period the names that begin so, display names in any case and ids in the exact case.
type ShownQuery struct {
	Period int64  // its id; a period without a row has no entries
	Prefix string // the beginning of the name, or of a word of it
	Whole  bool   // Prefix is the whole name
	After  ShownName
	Limit  int
}

// ShownName is the place of a member in the order of such a search. In a small period names that begin so come first, then
// names with a later word that does; in both parts, and in a large period, members with a display name come by that name
// and then by id, after them the others by id. The zero value is before all of them.
type ShownName struct {
	Folded string // the display name in the form of FoldName, "" for none
	Member string
}

// ShownMembers are members in the order of their shown names.
type ShownMembers struct {
	Members []ShownName
	// Partial reports that the search ended at MaxShownSearched: too many members whose names begin so have no entry in the period.
	Partial bool
}

// MaxShownSearched is how many names, and how many ids, a search in a large period looks at.
const MaxShownSearched = 5000

// MaxNamesRead is the greatest number of entries of a period in which a search reads all names.
const MaxNamesRead = 10_000

// MaxSearched is how many open periods a search by id reads.
const MaxSearched = 500

// FoldName returns the form of a name for searching and ordering. It replaces letters that differ only in case by the first
// of them in Unicode. It is no longer than name. Marks count: é is not e.
func FoldName(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}

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

// Erasure is the progress of the removal of a member from everywhere.
type Erasure struct {
	Member    string
	Done      bool   // all that is left ages out: the change log, the receipts of idempotency keys
	Entries   int64  // removed so far, in all periods of all boards
	StartedAt Micros // database clock
}

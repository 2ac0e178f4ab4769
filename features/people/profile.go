package people

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

	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/internal/names"
	"leaderboard/leaderboard"
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
	DisplayName string             // at most MaxDisplayName bytes of UTF-8, "" for none
	AvatarURL   string             // http or https, "" for none
	Attributes  Attributes         // "{}" for none
	UpdatedTime leaderboard.Micros // when it was last changed
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
		return "", invalidProfile(leaderboard.FieldError{Pointer: "/attributes", Detail: "want an object"})
	}
	if len(values) > MaxAttributes {
		return "", invalidProfile(leaderboard.FieldError{Pointer: "/attributes", Detail: fmt.Sprintf("want at most %d, these are %d", MaxAttributes, len(values))})
	}
	var bad []leaderboard.FieldError
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
			bad = append(bad, leaderboard.FieldError{Pointer: string(jsontext.Pointer("/attributes").AppendToken(name)), Detail: problem})
		}
		out = append(append(appendText(out, name), ':'), value...)
	}
	if out = append(out, '}'); len(out) > MaxAttributeText && bad == nil {
		bad = append(bad, leaderboard.FieldError{Pointer: "/attributes", Detail: fmt.Sprintf("want at most %d bytes of JSON, these are %d", MaxAttributeText, len(out))})
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

// Patch returns the profile with the changes, or a leaderboard.RuleError.
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
		return "", invalidProfile(leaderboard.FieldError{Pointer: "/attributes", Detail: "want an object"})
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

// Check returns a *leaderboard.RuleError when a profile is invalid. Its attributes must come from ParseAttributes.
func (p *Profile) Check() error {
	if err := leaderboard.CheckMember(p.Member); err != nil {
		return err
	}
	var bad []leaderboard.FieldError
	if len(p.DisplayName) > MaxDisplayName || !utf8.ValidString(p.DisplayName) || strings.ContainsFunc(p.DisplayName, leaderboard.IsControl) || isInvisible(p.DisplayName) {
		bad = append(bad, leaderboard.FieldError{Pointer: "/display_name", Detail: fmt.Sprintf("want at most %d bytes of UTF-8 that can be seen, without control characters and those that turn the text", MaxDisplayName)})
	}
	if !validAvatar(p.AvatarURL) {
		bad = append(bad, leaderboard.FieldError{Pointer: "/avatar_url", Detail: fmt.Sprintf("want an http or https URL of at most %d bytes, such as https://example.org/u1.png", MaxAvatarURL)})
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
	Reason string // as of leaderboard.HideRequest
	Actor  string // likewise
}

// Check returns a *leaderboard.RuleError when a request is invalid.
func (r *NameReset) Check() error {
	return leaderboard.CheckReason(leaderboard.CodeInvalidReset, "a name is taken away for a reason", r.Member, r.Reason, r.Actor)
}

// ResetName returns the profile without its display name, which it remembers.
func (p Profile) ResetName() Profile {
	taken := slices.Insert(p.namesReset(p.DisplayName), 0, p.DisplayName)
	p.DisplayName, p.ResetNames = "", strings.Join(taken[:min(len(taken), MaxResetNames)], "\n")
	return p
}

// CheckName returns the profile as it may be stored: a leaderboard.RuleError when its display name, in whatever case, was taken away, but
// an admin gives it back.
func (p Profile) CheckName(admin bool) (Profile, error) {
	taken := strings.Join(p.namesReset(p.DisplayName), "\n")
	if taken != p.ResetNames && !admin {
		return p, &leaderboard.RuleError{
			Code: leaderboard.CodeNameReset, Detail: "an admin has taken this name away from the member",
			Fields: []leaderboard.FieldError{{Pointer: "/display_name", Detail: "want another name"}},
		}
	}
	p.ResetNames = taken
	return p, nil
}

// namesReset returns the names that were taken away, without one of them.
func (p *Profile) namesReset(without string) []string {
	taken := slices.Collect(strings.Lines(p.ResetNames))
	for i := range taken {
		taken[i] = strings.TrimSuffix(taken[i], "\n")
	}
	return slices.DeleteFunc(taken, func(name string) bool { return names.Fold(name) == names.Fold(without) })
}

func validAvatar(s string) bool {
	if s == "" {
		return true
	}
	u, err := url.Parse(s)
	plain := utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	return err == nil && plain && len(s) <= MaxAvatarURL && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

func invalidProfile(fields ...leaderboard.FieldError) *leaderboard.RuleError {
	return &leaderboard.RuleError{Code: leaderboard.CodeInvalidProfile, Detail: "the profile is not valid", Fields: fields}
}

package people

import (
	"context"
	"time"

	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Loader finds profiles.
type Loader interface {
	// ProfilesOf returns the profiles of members in their order, nil for a member without one. They may be half a minute old,
	// unless they were changed here. With an error they are the cached ones, of any age.
	ProfilesOf(ctx context.Context, members []string) ([]*Profile, error)
}

// Show shows the profiles of members next to entries.
type Show struct{ Profiles Loader }

// Param implements httpapi.Show.
func (Show) Param() string { return "profiles" }

// On implements httpapi.Show.
func (Show) On(*leaderboard.Rules) bool { return true }

// Find finds the profiles of an answer's members, in one query. When they cannot be looked up, those cached are shown and the
// state is marked stale: there may be something newer. So it is when the look-up took so long that the answer is no longer the
// newest.
func (s Show) Find(ctx context.Context, a *httpapi.Shown) (httpapi.Extra, error) {
	members := make([]string, len(a.Entries))
	for i := range members {
		members[i] = a.Entries[i].Member
	}
	began := time.Now()
	profiles, err := s.Profiles.ProfilesOf(ctx, members)
	if err != nil || time.Since(began) > httpapi.SlowLookUp && !a.Fresh() {
		a.State.Stale = true
	}
	return shownProfiles(profiles), nil
}

// shownProfiles are the profiles of an answer's entries, nil for a member without one.
type shownProfiles []*Profile

// AddTo implements httpapi.Extra: a profile can change when the entries do not.
func (list shownProfiles) AddTo(etag wire.ETag) wire.ETag {
	etag = etag.Text("profiles")
	for _, p := range list {
		if p == nil {
			etag = etag.Int(0)
		} else {
			etag = etag.Int(1).Text(p.DisplayName).Text(p.AvatarURL).Text(string(p.Attributes))
		}
	}
	return etag
}

// AppendTo implements httpapi.Extra.
func (list shownProfiles) AppendTo(b []byte, i int) []byte {
	p := list[i]
	if p == nil {
		return b
	}
	b = wire.AppendString(append(b, `,"profile":{"display_name":`...), p.DisplayName)
	b = wire.AppendString(append(b, `,"avatar_url":`...), p.AvatarURL)
	b = append(append(b, `,"attributes":`...), p.Attributes...)
	return append(b, '}')
}

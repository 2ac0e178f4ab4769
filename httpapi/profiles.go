package httpapi

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard"
)

// profileBody is the body of PUT /v1/members/{member}; what is left out is empty.
type profileBody struct {
	DisplayName string         `json:"display_name"`
	AvatarURL   string         `json:"avatar_url"`
	Attributes  jsontext.Value `json:"attributes"`
}

// profileJSON is a profile as it is shown.
type profileJSON struct {
	Member      string             `json:"member"`
	DisplayName string             `json:"display_name"`
	AvatarURL   string             `json:"avatar_url"`
	Attributes  jsontext.Value     `json:"attributes"`
	UpdatedTime leaderboard.Micros `json:"updated_time"`
}

func showProfile(p *leaderboard.Profile) profileJSON {
	return profileJSON{p.Member, p.DisplayName, p.AvatarURL, jsontext.Value(p.Attributes), p.UpdatedTime}
}

// getProfile answers GET /v1/members/{member}.
func getProfile(c *call) error {
	id := c.member()
	if err := c.badInput(); err != nil {
		return err
	}
	p, err := c.api.cfg.Profiles.Profile(c.ctx, id)
	if err != nil {
		return err
	}
	return c.sendJSON(http.StatusOK, showProfile(&p))
}

// putProfile answers PUT /v1/members/{member}: 201 when the member had no profile.
func putProfile(c *call) error {
	p := leaderboard.Profile{Member: c.member()}
	if err := c.badInput(); err != nil {
		return err
	}
	var body profileBody
	if err := c.decode(&body, false, &hollow{free: "attributes"}); err != nil {
		return err
	}
	p.DisplayName, p.AvatarURL = body.DisplayName, body.AvatarURL
	var err error
	if p.Attributes, err = leaderboard.ParseAttributes(body.Attributes); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	p, created, err := c.api.cfg.Profiles.PutProfile(c.ctx, p)
	if err != nil {
		return writeError(err)
	}
	return c.sendProfile(&p, created)
}

// profilePatch is the body of PATCH /v1/members/{member}, a merge patch (RFC 7396): what is left out stays, null is empty.
type profilePatch struct {
	DisplayName patchedText    `json:"display_name"`
	AvatarURL   patchedText    `json:"avatar_url"`
	Attributes  jsontext.Value `json:"attributes"`
}

// patchedText is a string in a merge patch, nil when it is not given.
type patchedText struct{ given *string }

// UnmarshalJSONFrom reads a string or null.
func (p *patchedText) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	p.given = new(string)
	if dec.PeekKind() == 'n' {
		return dec.SkipValue()
	}
	return json.UnmarshalDecode(dec, p.given)
}

// patchProfile answers PATCH /v1/members/{member}: 201 when the member had no profile.
func patchProfile(c *call) error {
	id := c.member()
	if err := c.badInput(); err != nil {
		return err
	}
	var body profilePatch
	if err := c.decode(&body, false, nil); err != nil {
		return err
	}
	p, created, err := c.api.cfg.Profiles.PatchProfile(c.ctx, id, leaderboard.ProfilePatch{
		DisplayName: body.DisplayName.given, AvatarURL: body.AvatarURL.given, Attributes: body.Attributes,
	})
	if err != nil {
		return writeError(err)
	}
	return c.sendProfile(&p, created)
}

func (c *call) sendProfile(p *leaderboard.Profile, created bool) error {
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return c.sendJSON(status, showProfile(p))
}

// beside is what an answer shows beside its entries. The zero value is nothing.
type beside struct {
	asked    bool
	profiles []*leaderboard.Profile // by the index of the entry, nil for a member without one
}

// profiles finds the profiles of an answer's members, in one question, when the request has ?profiles=true. When they
// cannot be looked up, those at hand are shown and the state is marked stale: there may be something newer.
func (c *call) profiles(asked bool, st *leaderboard.State, n int, member func(i int) string) beside {
	if !asked {
		return beside{}
	}
	members := make([]string, n)
	for i := range members {
		members[i] = member(i)
	}
	profiles, err := c.api.cfg.Profiles.ProfilesOf(c.ctx, members)
	if err != nil {
		st.Stale = true
	}
	return beside{asked: true, profiles: profiles}
}

// profilesOf is profiles for a run of entries.
func (c *call) profilesOf(asked bool, st *leaderboard.State, entries []leaderboard.Ranked) beside {
	return c.profiles(asked, st, len(entries), func(i int) string { return entries[i].Member })
}

// mark makes what is shown part of an answer's identity: a profile can change when the entries do not.
func (s *beside) mark(t tag) tag {
	if !s.asked {
		return t
	}
	t = t.text("profiles")
	for _, p := range s.profiles {
		if p == nil {
			t = t.int(0)
		} else {
			t = t.int(1).text(p.DisplayName).text(p.AvatarURL).text(string(p.Attributes))
		}
	}
	return t
}

// appendTo appends the member profile to the object of entry i, when it has one.
func (s *beside) appendTo(b []byte, i int) []byte {
	if !s.asked || s.profiles[i] == nil {
		return b
	}
	p := s.profiles[i]
	b = appendString(append(b, `,"profile":{"display_name":`...), p.DisplayName)
	b = appendString(append(b, `,"avatar_url":`...), p.AvatarURL)
	b = append(append(b, `,"attributes":`...), p.Attributes...)
	return append(b, '}')
}

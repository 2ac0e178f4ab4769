package people

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/internal/names"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// People keeps the profiles of members, and finds members.
type People interface {
	// Profile returns the profile of a member. Errors: ErrProfileNotFound.
	Profile(ctx context.Context, member string) (Profile, error)
	// PutProfile sets the whole profile of a member and returns the stored profile; created reports whether the member had no
	// profile. Errors: *leaderboard.RuleError.
	PutProfile(ctx context.Context, p Profile) (out Profile, created bool, err error)
	// PatchProfile changes a part of a member's profile, or of an empty profile, in one step. Errors as of PutProfile.
	PatchProfile(ctx context.Context, member string, change ProfilePatch) (out Profile, created bool, err error)
	// ResetName takes a display name away, which PutProfile and PatchProfile then give again for admins only. Errors:
	// ErrProfileNotFound, *leaderboard.RuleError.
	ResetName(ctx context.Context, r NameReset) (Profile, error)
	// SearchMembers finds members, whether they have entries or not; the work is bounded.
	SearchMembers(ctx context.Context, q MemberQuery) (FoundMembers, error)
	// FindMembers finds members with an entry in a period by their shown names; the work is bounded.
	FindMembers(ctx context.Context, q ShownQuery) (ShownMembers, error)
}

// handlers serve the profiles of members, and find members.
type handlers struct {
	httpapi.Resolver
	httpapi.Reading
	people People
}

// Routes returns the routes of profiles and of searches for members.
func Routes(find httpapi.Resolver, reading httpapi.Reading, people People) []httpapi.Route {
	h := &handlers{find, reading, people}
	return []httpapi.Route{
		httpapi.On("findMembers", find.RetryOutdated(h.find)),
		httpapi.On("searchMembers", h.search),
		httpapi.On("getProfile", h.get),
		httpapi.On("putProfile", h.put),
		httpapi.On("patchProfile", h.patch),
		httpapi.On("resetName", h.resetName),
	}
}

// profileBody is the body of PUT /v1/members/{member}. An omitted member is empty.
type profileBody struct {
	DisplayName string         `json:"display_name"`
	AvatarURL   string         `json:"avatar_url"`
	Attributes  jsontext.Value `json:"attributes"`
}

// showProfile shows all of a profile, which is for admins.
func showProfile(p *Profile) api.Profile {
	out := api.Profile{Member: p.Member, DisplayName: p.DisplayName, AvatarURL: p.AvatarURL, Attributes: []byte(p.Attributes), UpdatedTime: p.UpdatedTime.Time()}
	if p.ResetNames != "" {
		out.ResetNames = strings.Split(p.ResetNames, "\n")
	}
	return out
}

// search answers GET /v1/members: the members whose id or name begins with q.
func (h *handlers) search(c *httpapi.Call) error {
	q := MemberQuery{Limit: int(c.Params.Integer("limit")) + 1}
	if q.Prefix, _ = c.Params.Query.Get("q"); len(q.Prefix) > MaxDisplayName {
		c.Params.BadParam("q", fmt.Sprintf("want at most %d bytes", MaxDisplayName))
	}
	switch by, given := c.Params.Query.Get("by"); {
	case by == "name":
		q.ByName = true
	case given && by != "id":
		c.Params.BadParam("by", "want id or name")
	}
	of := wire.List{Name: "members " + strconv.FormatBool(q.ByName) + " " + q.Prefix}
	if cursor := c.Params.Text("cursor"); cursor != "" {
		after, ok := of.After(cursor)
		if q.AfterMember = after; q.ByName {
			q.AfterName, q.AfterMember, _ = strings.Cut(after, "\x00")
		}
		if !ok || q.AfterMember == "" || q.ByName == (q.AfterName == "") {
			c.Params.BadCursor()
		}
	}
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	found, err := h.people.SearchMembers(c.Ctx, q)
	if err != nil {
		return err
	}
	out := api.FoundMembers{Members: []api.FoundMember{}, Partial: found.Partial}
	for i := range found.Members {
		m := &found.Members[i]
		if i == q.Limit-1 {
			last := &found.Members[i-1]
			after := last.Member
			if q.ByName {
				after = names.Fold(last.Profile.DisplayName) + "\x00" + after
			}
			out.NextCursor = of.Cursor(after)
			break
		}
		shown := api.FoundMember{Member: m.Member}
		if m.Profile != nil {
			p := showProfile(m.Profile)
			shown.Profile = &p
		}
		out.Members = append(out.Members, shown)
	}
	return c.SendJSON(http.StatusOK, out)
}

// get answers GET /v1/members/{member}.
func (h *handlers) get(c *httpapi.Call) error {
	id := c.Params.Member()
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	p, err := h.people.Profile(c.Ctx, id)
	if err != nil {
		return err
	}
	return sendProfile(c, &p, false)
}

// reasonBody has an admin's reason for taking a name away.
type reasonBody struct {
	Reason string `json:"reason"`
	Actor  string `json:"actor"`
}

// resetName answers POST /v1/members/{member}/reset-name.
func (h *handlers) resetName(c *httpapi.Call) error {
	r := NameReset{Member: c.Params.Member()}
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	var body reasonBody
	if err := c.Decode(&body, false, &wire.Emptiness{NonEmpty: []string{"actor"}}); err != nil {
		return err
	}
	r.Reason, r.Actor = body.Reason, cmp.Or(body.Actor, c.Caller.Key)
	p, err := h.people.ResetName(c.Ctx, r)
	if err != nil {
		return wire.WriteError(err)
	}
	return sendProfile(c, &p, false)
}

// put answers PUT /v1/members/{member}: 201 when the member had no profile.
func (h *handlers) put(c *httpapi.Call) error {
	p := Profile{Member: c.Params.Member()}
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	var body profileBody
	if err := c.Decode(&body, false, &wire.Emptiness{Opaque: "attributes"}); err != nil {
		return err
	}
	p.DisplayName, p.AvatarURL = body.DisplayName, body.AvatarURL
	var err error
	if p.Attributes, err = ParseAttributes(body.Attributes); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	p, created, err := h.people.PutProfile(c.Ctx, p)
	if err != nil {
		return wire.WriteError(err)
	}
	return sendProfile(c, &p, created)
}

// patchBody is the body of PATCH /v1/members/{member}, a merge patch (RFC 7396): an omitted member stays, null is empty.
type patchBody struct {
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

// patch answers PATCH /v1/members/{member}: 201 when the member had no profile.
func (h *handlers) patch(c *httpapi.Call) error {
	id := c.Params.Member()
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	var body patchBody
	if err := c.Decode(&body, false, nil); err != nil {
		return err
	}
	p, created, err := h.people.PatchProfile(c.Ctx, id, ProfilePatch{
		DisplayName: body.DisplayName.given, AvatarURL: body.AvatarURL.given, Attributes: body.Attributes,
	})
	if err != nil {
		return wire.WriteError(err)
	}
	return sendProfile(c, &p, created)
}

func sendProfile(c *httpapi.Call, p *Profile, created bool) error {
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	shown := showProfile(p)
	if c.Scope != leaderboard.ScopeAdmin {
		shown.ResetNames = nil
	}
	return c.SendJSON(status, shown)
}

package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Profiles keeps the profiles of members.
type Profiles interface {
	// Profile is the profile of a member as it is now; ErrProfileNotFound.
	Profile(ctx context.Context, member string) (leaderboard.Profile, error)
	// ProfilesOf returns the profiles of members in their order, nil for a member without one. They may be half a minute old,
	// unless they were changed here. With an error they are the cached ones, of any age.
	ProfilesOf(ctx context.Context, members []string) ([]*leaderboard.Profile, error)
	// PutProfile sets the whole profile of a member and returns what is stored; created reports whether there was none.
	// Errors: *leaderboard.RuleError.
	PutProfile(ctx context.Context, p leaderboard.Profile) (out leaderboard.Profile, created bool, err error)
	// PatchProfile changes a part of it, of an empty profile when there is none, in one step. Errors as of PutProfile.
	PatchProfile(ctx context.Context, member string, change leaderboard.ProfilePatch) (out leaderboard.Profile, created bool, err error)
	// ResetName takes a display name away, which PutProfile and PatchProfile then give again for admins only. Errors:
	// ErrProfileNotFound, *leaderboard.RuleError.
	ResetName(ctx context.Context, r leaderboard.NameReset) (leaderboard.Profile, error)
}

// Members finds members, whether they have entries or not.
type Members interface {
	// SearchMembers finds members; the work is bounded.
	SearchMembers(ctx context.Context, q leaderboard.MemberQuery) (leaderboard.FoundMembers, error)
}

// Erasures erases members.
type Erasures interface {
	// Forget removes everything about a member, and records the actor. It works until it is done, or ctx ends, or a board cannot
	// be written to, which are no errors; the housekeeping then does the rest, and the same call again goes on and returns how far it
	// is.
	Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error)
}

// memberHandlers serve what is known of members: their profiles, and the erasure of all of it.
type memberHandlers struct {
	profiles Profiles
	members  Members
	erasures Erasures
}

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
	ResetNames  []string           `json:"reset_names,omitempty"`
}

// showProfile shows all of a profile, which is for admins.
func showProfile(p *leaderboard.Profile) profileJSON {
	out := profileJSON{Member: p.Member, DisplayName: p.DisplayName, AvatarURL: p.AvatarURL, Attributes: jsontext.Value(p.Attributes), UpdatedTime: p.UpdatedTime}
	if p.ResetNames != "" {
		out.ResetNames = strings.Split(p.ResetNames, "\n")
	}
	return out
}

// foundMemberJSON is a member of a search; the profile is null when there is none.
type foundMemberJSON struct {
	Member  string       `json:"member"`
	Profile *profileJSON `json:"profile"`
}

// search answers GET /v1/members: those whose id or name begins with q.
func (h *memberHandlers) search(c *Call) error {
	q := leaderboard.MemberQuery{Limit: int(c.Params.Integer("limit", DefaultFound, 1, MaxFound)) + 1}
	if q.Prefix, _ = c.Params.Query.Get("q"); len(q.Prefix) > leaderboard.MaxDisplayName {
		c.Params.BadParam("q", fmt.Sprintf("want at most %d bytes", leaderboard.MaxDisplayName))
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
	found, err := h.members.SearchMembers(c.Ctx, q)
	if err != nil {
		return err
	}
	out := struct {
		Members []foundMemberJSON `json:"members"`
		Partial bool              `json:"partial"`
		Next    string            `json:"next_cursor,omitempty"`
	}{Members: []foundMemberJSON{}, Partial: found.Partial}
	for i := range found.Members {
		m := &found.Members[i]
		if i == q.Limit-1 {
			last := &found.Members[i-1]
			after := last.Member
			if q.ByName {
				after = leaderboard.FoldName(last.Profile.DisplayName) + "\x00" + after
			}
			out.Next = of.Cursor(after)
			break
		}
		shown := foundMemberJSON{Member: m.Member}
		if m.Profile != nil {
			p := showProfile(m.Profile)
			shown.Profile = &p
		}
		out.Members = append(out.Members, shown)
	}
	return c.SendJSON(http.StatusOK, out)
}

// get answers GET /v1/members/{member}.
func (h *memberHandlers) get(c *Call) error {
	id := c.Params.Member()
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	p, err := h.profiles.Profile(c.Ctx, id)
	if err != nil {
		return err
	}
	return sendProfile(c, &p, false)
}

// resetName answers POST /v1/members/{member}/reset-name.
func (h *memberHandlers) resetName(c *Call) error {
	r := leaderboard.NameReset{Member: c.Params.Member()}
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	var body reasonBody
	if err := c.Decode(&body, false, &wire.Emptiness{NonEmpty: []string{"actor"}}); err != nil {
		return err
	}
	r.Reason, r.Actor = body.Reason, cmp.Or(body.Actor, c.Caller.Key)
	p, err := h.profiles.ResetName(c.Ctx, r)
	if err != nil {
		return wire.WriteError(err)
	}
	return sendProfile(c, &p, false)
}

// put answers PUT /v1/members/{member}: 201 when the member had no profile.
func (h *memberHandlers) put(c *Call) error {
	p := leaderboard.Profile{Member: c.Params.Member()}
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	var body profileBody
	if err := c.Decode(&body, false, &wire.Emptiness{Opaque: "attributes"}); err != nil {
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
	p, created, err := h.profiles.PutProfile(c.Ctx, p)
	if err != nil {
		return wire.WriteError(err)
	}
	return sendProfile(c, &p, created)
}

// profilePatch is the body of PATCH /v1/members/{member}, a merge patch (RFC 7396): what is left out stays, null is
// empty.
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

// patch answers PATCH /v1/members/{member}: 201 when the member had no profile.
func (h *memberHandlers) patch(c *Call) error {
	id := c.Params.Member()
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	var body profilePatch
	if err := c.Decode(&body, false, nil); err != nil {
		return err
	}
	p, created, err := h.profiles.PatchProfile(c.Ctx, id, leaderboard.ProfilePatch{
		DisplayName: body.DisplayName.given, AvatarURL: body.AvatarURL.given, Attributes: body.Attributes,
	})
	if err != nil {
		return wire.WriteError(err)
	}
	return sendProfile(c, &p, created)
}

func sendProfile(c *Call, p *leaderboard.Profile, created bool) error {
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

// erasureJSON is an erasure that is not done yet.
type erasureJSON struct {
	Member  string `json:"member"`
	State   string `json:"state"`
	Entries int64  `json:"entries"`
}

// erase answers DELETE /v1/members/{member}: 204 when nothing of the member is left, 202 when the work is larger
// than a request has time for; it goes on without the request.
func (h *memberHandlers) erase(c *Call) error {
	id := c.Params.Member()
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	// The rest of the time is for the answer.
	ctx, cancel := context.WithTimeout(c.Ctx, c.RequestTimeout()*4/5)
	defer cancel()
	f, err := h.erasures.Forget(ctx, id, c.Caller.Key)
	if err != nil {
		return err
	}
	if !f.Done {
		return c.SendJSON(http.StatusAccepted, erasureJSON{id, "running", f.Entries})
	}
	c.SendNothing(http.StatusNoContent)
	return nil
}

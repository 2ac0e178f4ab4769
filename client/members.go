package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"

	"leaderboard/api"
)

// Profile returns a member's profile. Errors: leaderboard.ErrProfileNotFound. Needs scope read.
func (c *Client) Profile(ctx context.Context, member string) (Profile, error) {
	return get[Profile](ctx, c, Path("members", member), nil)
}

// SearchMembers finds the members whose id, or with byName whose display name in whatever case, begins with q; "" finds
// all. By id it finds members that have a profile, are hidden, or have an entry in one of 500 open periods. Needs scope
// admin.
func (c *Client) SearchMembers(ctx context.Context, q string, byName bool) iter.Seq2[FoundMember, error] {
	query := api.SearchQuery{Prefix: q, Limit: 100}
	if byName {
		query.By = "name"
	}
	return Items[FoundMember](ctx, c, Path("members"), api.Values(query), "members")
}

// PutProfile sets a member's whole profile; created reports whether there was none before. Needs scope write.
func (c *Client) PutProfile(ctx context.Context, member string, fields ProfileFields) (p Profile, created bool, err error) {
	answer, err := c.Do(ctx, Request{Method: http.MethodPut, Path: Path("members", member), Body: fields})
	if err != nil {
		return p, false, err
	}
	return p, answer.Status == http.StatusCreated, answer.Decode(&p)
}

// PatchProfile changes a part of a member's profile; created reports whether there was none before. Needs scope write.
func (c *Client) PatchProfile(ctx context.Context, member string, change ProfilePatch) (p Profile, created bool, err error) {
	answer, err := c.Do(ctx, Request{Method: http.MethodPatch, Path: Path("members", member), Body: change})
	if err != nil {
		return p, false, err
	}
	return p, answer.Status == http.StatusCreated, answer.Decode(&p)
}

// ResetName takes a member's display name away for a reason, which the audit has: people see the id then. A key of scope write cannot
// give the same name to the member again, another one it can. The actor is who decided it, "" for the key. Errors:
// leaderboard.ErrProfileNotFound. Needs scope admin.
func (c *Client) ResetName(ctx context.Context, member, reason, actor string) (Profile, error) {
	return call[Profile](ctx, c, Request{Method: http.MethodPost, Path: Path("members", member, "reset-name"), Body: reasonBody{reason, actor}})
}

// Erasure is the progress of the removal of a member.
type Erasure struct {
	Done    bool
	Entries int64 // removed so far
}

// ForgetMember removes a member everywhere, for good. A large removal continues after the answer; repeat the call to see its
// progress. Needs scope admin.
func (c *Client) ForgetMember(ctx context.Context, member string) (Erasure, error) {
	answer, err := c.Do(ctx, Request{Method: http.MethodDelete, Path: Path("members", member)})
	if err != nil {
		return Erasure{}, err
	}
	if answer.Status == http.StatusNoContent {
		return Erasure{Done: true}, nil
	}
	var under api.Erasing
	err = answer.Decode(&under)
	return Erasure{Entries: under.Entries}, err
}

// MemberData returns all that is stored of a member, all of it in memory. Needs scope admin.
func (c *Client) MemberData(ctx context.Context, member string) (out MemberData, err error) {
	body, err := c.MemberDataJSON(ctx, member)
	if err != nil {
		return out, err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(&out); err != nil {
		return out, fmt.Errorf("read the data of a member: %w", err)
	}
	return out, nil
}

// MemberDataJSON is MemberData as it arrives, a JSON object. It ends with an error, not with io.EOF, when a part is missing;
// the caller closes it.
func (c *Client) MemberDataJSON(ctx context.Context, member string) (io.ReadCloser, error) {
	resp, err := c.Stream(ctx, Request{Method: http.MethodGet, Path: Path("members", member, "data")})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// Friends lists a member's friends in the order of the bytes of their ids. Needs scope read.
func (c *Client) Friends(ctx context.Context, member string) iter.Seq2[string, error] {
	return Items[string](ctx, c, Path("members", member, "friends"), nil, "members")
}

// PutFriends replaces a member's list of friends and returns its length. Needs scope write.
func (c *Client) PutFriends(ctx context.Context, member string, friends []string) (int, error) {
	return c.changeFriends(ctx, http.MethodPut, member, friends)
}

// AddFriends adds to a member's list of friends and returns its length. Needs scope write.
func (c *Client) AddFriends(ctx context.Context, member string, friends []string) (int, error) {
	return c.changeFriends(ctx, http.MethodPost, member, friends)
}

func (c *Client) changeFriends(ctx context.Context, method, member string, friends []string) (int, error) {
	if friends == nil {
		friends = []string{}
	}
	list, err := call[api.FriendCount](ctx, c, Request{Method: method, Path: Path("members", member, "friends"), Body: memberList{friends}})
	return list.Total, err
}

// RemoveFriend takes a friend off a member's list. Needs scope write.
func (c *Client) RemoveFriend(ctx context.Context, member, friend string) error {
	return c.drop(ctx, Request{Method: http.MethodDelete, Path: Path("members", member, "friends", friend)})
}

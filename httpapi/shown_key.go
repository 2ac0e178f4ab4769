package httpapi

import "leaderboard/leaderboard"

// ShownKey is a key as its holder and admins see it.
type ShownKey struct {
	ID            string              `json:"id"`
	Secret        string              `json:"secret,omitempty"` // the whole text of the key, once
	Name          string              `json:"name"`
	Scope         leaderboard.Scope   `json:"scope"`
	Boards        *[]string           `json:"boards"` // null: all
	ExpiresAt     *leaderboard.Micros `json:"expires_at"`
	Quota         *quotaJSON          `json:"quota"`
	CreatedTime   *leaderboard.Micros `json:"created_time"`
	UpdatedTime   *leaderboard.Micros `json:"updated_time"`
	LastUsedAt    *leaderboard.Micros `json:"last_used_at"`
	RevokedAt     *leaderboard.Micros `json:"revoked_at"`
	PreviousUntil *leaderboard.Micros `json:"previous_secret_until"`
	Person        string              `json:"person,omitempty"`
	Role          string              `json:"role,omitempty"`
}

// quotaJSON is a quota; what is null is what the server's settings say.
type quotaJSON struct {
	RequestsPerSecond *int64 `json:"requests_per_second"`
	RowsPerSecond     *int64 `json:"rows_per_second"`
}

// ShowKey returns a key as it is shown, without its secret.
func ShowKey(k *leaderboard.Key) ShownKey {
	out := ShownKey{
		ID: k.ID, Name: k.Name, Scope: k.Scope, ExpiresAt: Given(k.ExpiresAt), CreatedTime: Given(k.CreatedTime), UpdatedTime: Given(k.UpdatedTime),
		LastUsedAt: Given(k.LastUsed), RevokedAt: Given(k.RevokedAt), PreviousUntil: Given(k.PreviousUntil),
		Person: k.Person, Role: k.Role,
	}
	if k.Limited() {
		out.Boards = &k.Boards
	}
	if k.Quota != (leaderboard.Quota{}) {
		out.Quota = &quotaJSON{Given(k.Quota.RequestsPerSecond), Given(k.Quota.RowsPerSecond)}
	}
	return out
}

package httpapi

import (
	"leaderboard/api"
	"leaderboard/leaderboard"
)

// ShowKey returns a key as its holder and admins see it, without its secret.
func ShowKey(k *leaderboard.Key) api.Key {
	out := api.Key{
		ID: k.ID, Name: k.Name, Scope: k.Scope, ExpiresAt: GivenMoment(k.ExpiresAt), CreatedTime: GivenMoment(k.CreatedTime),
		UpdatedTime: GivenMoment(k.UpdatedTime), LastUsedAt: GivenMoment(k.LastUsed), RevokedAt: GivenMoment(k.RevokedAt),
		PreviousSecretUntil: GivenMoment(k.PreviousUntil), Person: k.Person, Role: k.Role,
	}
	if k.Limited() {
		out.Boards = append([]string{}, k.Boards...)
	}
	if k.Quota != (leaderboard.Quota{}) {
		out.Quota = &api.Quota{RequestsPerSecond: Given(k.Quota.RequestsPerSecond), RowsPerSecond: Given(k.Quota.RowsPerSecond)}
	}
	return out
}

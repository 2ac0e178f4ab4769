package app

import (
	"log/slog"
	"slices"

	"leaderboard/cache/mirror"
	"leaderboard/cache/players"
	"leaderboard/httpapi"
	"leaderboard/signin"
)

// SignInCallback is the path to which the provider sends people back.
const SignInCallback = "/v1/sign-in/callback"

// newSignIn returns what signs people in, nil when there is no provider.
func newSignIn(cfg *Config, log *slog.Logger) httpapi.SignIn {
	in := &cfg.SignIn
	if in.Issuer == "" {
		return nil
	}
	provider := players.NewProvider(in.Issuer, in.Client, players.Options{Options: mirror.Options{Log: log}})
	return signin.New(provider, signin.Config{
		Client: in.Client, Secret: in.Secret, Callback: cfg.PublicURL + SignInCallback, Scopes: slices.Concat([]string{"openid"}, in.Scopes),
		Claim: in.Claim, Admins: in.Admins, Writers: in.Writers, Readers: in.Readers, Boards: in.Boards, Session: in.Session, Log: log,
	})
}

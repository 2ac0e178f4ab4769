package app

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"leaderboard/httpapi"
	"leaderboard/signin"
)

// SignInCallback is the path to which the provider sends people back.
const SignInCallback = "/v1/sign-in/callback"

// askProvider asks the provider by which people sign in, if there is one.
func askProvider(ctx context.Context, cfg *Config, log *slog.Logger) (look, error) {
	in := &cfg.SignIn
	if in.Issuer == "" {
		return look{}, nil
	}
	if err := identityProvider(cfg, log).Check(ctx, time.Now()); err != nil {
		return look{}, err
	}
	return look{found: in.Issuer + " says where people sign in"}, nil
}

func identityProvider(cfg *Config, log *slog.Logger) *signin.OpenID {
	return signin.NewOpenID(cfg.SignIn.Issuer, cfg.SignIn.Client, log)
}

// newSignIn returns what signs people in, nil when there is no provider.
func newSignIn(cfg *Config, sealer signin.Sealer, log *slog.Logger) httpapi.SignIn {
	in := &cfg.SignIn
	if in.Issuer == "" || sealer == nil {
		return nil
	}
	return signin.New(identityProvider(cfg, log), sealer, signin.Config{
		Client: in.Client, Secret: in.Secret, Callback: cfg.PublicURL + cfg.BasePath + SignInCallback, Scopes: slices.Concat([]string{"openid"}, in.Scopes),
		Claim: in.Claim, Admins: in.Admins, Writers: in.Writers, Readers: in.Readers, Boards: in.Boards, Session: in.Session, Log: log,
	})
}

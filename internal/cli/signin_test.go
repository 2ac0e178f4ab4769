package cli

import "testing"

// TestSignInSettings: incomplete settings of sign-ins are refused with the missing setting, by dev too.
func TestSignInSettings(t *testing.T) {
	t.Parallel()
	site, issuer, client := "--public-url=https://scores.example", "--oidc-issuer=https://login.example", "--oidc-client-id=scores"
	for want, flags := range map[string][]string{
		"go with --oidc-issuer":              {client},
		"needs --public-url":                 {issuer, client, "--oidc-admins=ops"},
		"needs --oidc-client-id":             {issuer, site, "--oidc-admins=ops"},
		"needs --oidc-admins":                {issuer, site, client},
		"want https; http only at localhost": {"--oidc-issuer=http://login.example"},
		"without a path":                     {"--public-url=https://scores.example/x"},
		"from 1m to 12h":                     {"--oidc-session=13h"},
		"value 2 is not one":                 {"--oidc-admins=ops,"},
	} {
		wantUsage(t, nil, want, append([]string{"serve", "--check", "--mysql-dsn=root@tcp(127.0.0.1:1)/lb"}, flags...)...)
	}
	wantUsage(t, nil, "needs --public-url", "dev", issuer, client, "--oidc-admins=ops")
}

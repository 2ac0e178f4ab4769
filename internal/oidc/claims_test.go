package oidc

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestClaimsInside: a name with dots leads into objects, unless a claim has that name itself.
func TestClaimsInside(t *testing.T) {
	var claims Claims
	const token = `{"groups":["ops"],"hd":"example.com","realm_access":{"roles":["admin","staff"],"deep":{"er":"x"}},"a.b":"flat","a":{"b":"deep","c":7},"https://x.example/roles":["r"],"list":[{"roles":["no"]}]}`
	if err := json.Unmarshal([]byte(token), &claims); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"groups": "ops", "hd": "example.com", "realm_access.roles": "admin staff", "realm_access.deep.er": "x", "a.b": "flat", "https://x.example/roles": "r",
		"realm_access": "none", "realm_access.": "none", "realm_access.none": "none", "a.c": "none", "a.b.c": "none", ".roles": "none", "": "none", "list.roles": "none", "groups.0": "none",
	} {
		got, ok := claims.Texts(name)
		if is := strings.Join(got, " "); ok != (want != "none") || ok && is != want {
			t.Errorf("%q is %q, %t, want %s", name, got, ok, want)
		}
	}
}

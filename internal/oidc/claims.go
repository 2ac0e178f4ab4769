package oidc

import "strings"

// Claims are the claims of a token, as JSON has them.
type Claims map[string]any

// at returns the claim of a name. A claim that is not found may be nested: realm_access.roles is roles of the object
// realm_access.
func (c Claims) at(name string) any {
	if claim, ok := c[name]; ok {
		return claim
	}
	outer, inner, _ := strings.Cut(name, ".")
	object, _ := c[outer].(map[string]any)
	if object == nil || inner == "" {
		return nil
	}
	return Claims(object).at(inner)
}

// Texts returns a claim that is a text or a list of them, by a name as --oidc-claim has it; ok is false for any other.
func (c Claims) Texts(name string) (all []string, ok bool) {
	switch claim := c.at(name).(type) {
	case string:
		return []string{claim}, true
	case []any:
		for _, one := range claim {
			text, ok := one.(string)
			if !ok {
				return nil, false
			}
			all = append(all, text)
		}
		return all, true
	}
	return nil, false
}

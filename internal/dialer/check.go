package dialer

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Rules are the conditions on addresses.
type Rules struct {
	Private bool // of networks and machines that are not public
	Plain   bool // by http
}

// Check returns the fault in a URL that will be dialled, or "", as far as its text shows it: whether a name stands for a
// public address is only known when it is dialled. It dials nothing and resolves nothing.
func Check(address string, may Rules) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return "want a URL such as https://game.example/path"
	case u.User != nil || u.Fragment != "":
		return "want a URL without user, password and fragment"
	case u.Scheme != "https" && (u.Scheme != "http" || !may.Plain):
		return "want https"
	}
	if text := u.Port(); text != "" || strings.HasSuffix(u.Host, ":") {
		if port, err := strconv.ParseUint(text, 10, 16); err != nil || port == 0 {
			return "want a port from 1 to 65535, or none"
		}
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		if !may.Private && !IsPublic(ip.Unmap()) {
			return "want an address that is not private"
		}
		return ""
	}
	return checkName(strings.TrimSuffix(strings.ToLower(host), "."), may.Private)
}

// checkName returns the fault in the name of a host. A name whose last part is a number is an address in some spelling
// (127.1, 0x7f000001) for some resolvers.
func checkName(name string, private bool) string {
	const most, mostOfPart = 253, 63
	parts := strings.Split(name, ".")
	for _, part := range parts {
		bad := strings.ContainsFunc(part, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' })
		if part == "" || len(part) > mostOfPart || bad || strings.HasPrefix(part, "-") || strings.HasSuffix(part, "-") || len(name) > most {
			return "want the name of a host, such as game.example, or an address; names in other letters as xn--"
		}
	}
	last := parts[len(parts)-1]
	_, err := strconv.ParseUint(last, 0, 64)
	_, octal := strconv.ParseUint(last, 10, 64)
	switch {
	case err == nil || octal == nil || strings.HasPrefix(last, "0x"):
		return "want an address such as 192.0.2.1, or a name"
	case !private && (len(parts) == 1 || isLocal(last) || strings.HasSuffix(name, ".home.arpa")):
		return "want a name that is not private"
	}
	return ""
}

// isLocal reports whether names with this ending belong to private networks and machines (RFC 6761, 6762, and the names
// that ICANN has set apart).
func isLocal(last string) bool {
	return last == "localhost" || last == "local" || last == "internal"
}

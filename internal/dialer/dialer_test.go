package dialer

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
)

func TestIsPublic(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"1.1.1.1": true, "93.184.216.34": true, "2606:4700::1111": true, "172.32.0.1": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "0.1.2.3": false,
		"224.0.0.1": false, "255.255.255.255": false, "198.18.0.1": false, "192.0.0.8": false, "240.0.0.1": false, "203.0.113.7": false,
		"::1": false, "::": false, "fe80::1": false, "fc00::1": false, "fd12::1": false, "ff02::1": false, "::ffff:127.0.0.1": false, "::127.0.0.1": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001:0:1::": false, "2001:db8::1": false,
	} {
		if got := IsPublic(netip.MustParseAddr(address).Unmap()); got != want {
			t.Errorf("%s is public: %t", address, got)
		}
	}
}

// changing is a resolver whose answer is another one each time.
type changing struct {
	answers [][]netip.Addr
	asked   int
}

func (c *changing) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	c.asked++
	return c.answers[(c.asked-1)%len(c.answers)], nil
}

// TestDialsWhatItChecked: a name is resolved once, private addresses are not dialled, and the dialled address is a checked
// one (promise G11).
func TestDialsWhatItChecked(t *testing.T) {
	t.Parallel()
	public, private := netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("::ffff:10.0.0.1")
	var dialled []string
	dial := func(_ context.Context, _, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		here, there := net.Pipe()
		_ = there.Close()
		return here, nil
	}
	for name, c := range map[string]struct {
		answers [][]netip.Addr
		private bool
		want    string
	}{
		"public":              {[][]netip.Addr{{public}, {private}}, false, "93.184.216.34:443"},
		"private":             {[][]netip.Addr{{private}, {public}}, false, ""},
		"private and public":  {[][]netip.Addr{{private, public}}, false, "93.184.216.34:443"},
		"private, allowed":    {[][]netip.Addr{{private}}, true, "10.0.0.1:443"},
		"nothing is resolved": {[][]netip.Addr{{}}, true, ""},
	} {
		dialled = nil
		resolver := &changing{answers: c.answers}
		d := &Dialer{Resolver: resolver, Private: c.private, Refusal: errors.New("refused"), Dial: dial}
		conn, err := d.DialContext(t.Context(), "tcp", "game.example:443")
		if conn != nil {
			_ = conn.Close()
		}
		if got := strings.Join(dialled, " "); got != c.want || (err == nil) != (c.want != "") || resolver.asked != 1 {
			t.Errorf("%s: dialled %q after %d questions, %v; want %q", name, got, resolver.asked, err, c.want)
		}
	}
}

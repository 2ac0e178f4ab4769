// Package dialer dials hosts that admins have named: webhooks, and the keys of issuers. Such a name must not lead into the
// network of the server, so the dialler dials the addresses that it has checked, and private addresses only where they are
// allowed.
package dialer

import (
	"context"
	"net"
	"net/netip"
	"time"
)

const timeout = 5 * time.Second

// Resolver finds the addresses of a host; such as *net.Resolver.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer dials the addresses that a name was resolved to once: it dials the checked address.
type Dialer struct {
	Resolver Resolver
	Private  bool  // addresses that are not public are allowed
	Refusal  error // of a name with no address that may be dialled
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

// DialContext implements http.Transport's. Errors: Refusal, the errors of Resolver and Dial.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found, err := d.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	failed := d.Refusal
	for _, ip := range found {
		if ip = ip.Unmap(); !d.Private && !IsPublic(ip) {
			continue
		}
		conn, err := d.Dial(ctx, network, net.JoinHostPort(ip.String(), port))
		if err == nil {
			return conn, nil
		}
		failed = err
	}
	return nil, failed
}

// IsPublic reports whether anyone on the internet can reach an address.
func IsPublic(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Zone() != "" {
		return false // loopback, link-local, multicast, broadcast and unspecified addresses among them
	}
	for _, special := range specialNetworks() {
		if special.Contains(ip) {
			return false
		}
	}
	return true
}

// specialNetworks are the networks for special purposes that have unicast addresses (RFC 6890 and its registries),
// including networks whose addresses contain an IPv4 address, which might be private.
func specialNetworks() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
		netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
		netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
		netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
		netip.MustParsePrefix("5f00::/16"), netip.MustParsePrefix("::/96"),
	}
}

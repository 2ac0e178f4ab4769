package guard

import (
	"net/netip"
	"strings"
)

// sharedBits is the length of the prefix of an IPv6 address that stands for a network, which usually is one client.
const sharedBits = 64

// ClientOf returns the address or network as which an address counts.
func ClientOf(a netip.Addr) netip.Addr {
	if a = a.Unmap().WithZone(""); a.Is4() || a.IsLoopback() {
		return a
	}
	network, err := a.Prefix(sharedBits)
	if err != nil { // it is no address
		return a
	}
	return network.Addr()
}

// trusted reports whether an address belongs to a proxy.
func trusted(proxies []netip.Prefix, a netip.Addr) bool {
	for _, network := range proxies {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// forwardedFor reads an address, which some proxies write with a port, or in brackets; the result is not valid for other text.
func forwardedFor(text string) netip.Addr {
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		with, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}
		}
		a = with.Addr()
	}
	return a.Unmap().WithZone("")
}

// forwarded returns the last address in the fields that is not one of the proxies: each has appended the address of its
// client, and the values before that may be invented. It is not valid when the fields are empty; legible is false when the
// last value is no address.
func forwarded(fields []string, proxies []netip.Prefix) (from netip.Addr, legible bool) {
	for i := len(fields) - 1; i >= 0; i-- {
		for rest := fields[i]; rest != ""; {
			cut := strings.LastIndexByte(rest, ',')
			a := forwardedFor(strings.TrimSpace(rest[cut+1:]))
			if !a.IsValid() || !trusted(proxies, a) {
				return a, a.IsValid()
			}
			rest = rest[:max(0, cut)]
		}
	}
	return netip.Addr{}, true
}

package dialer

import "testing"

// TestCheck: the URLs that are refused at entry, by their text alone (promise G11).
func TestCheck(t *testing.T) {
	t.Parallel()
	const good, malformed = "", "x"
	const port, number, private, name = "want a port from 1 to 65535, or none", "want an address such as 192.0.2.1, or a name", "want an address that is not private", "want a name that is not private"
	for address, want := range map[string]string{
		"https://game.example/hooks?a=b": good, "https://game.example": good, "https://game.example./": good, "https://GAME.example:8443/": good,
		"https://1.1.1.1/": good, "https://[2606:4700::1111]:443/": good, "https://xn--bcher-kva.example/": good, "https://a_b.game.example/": good, "https://3.game.example/": good,
		"http://game.example/": "want https", "ftp://game.example/": "want https", "javascript:alert(1)": malformed, "game.example": malformed, "/hooks": malformed, "": malformed,
		"https://": malformed, "https:///hooks": malformed, "https:game.example": malformed, "https://:443/": malformed, "https://game example/": malformed, "https://%00/": malformed,
		"https://u@game.example/": "want a URL without user, password and fragment", "https://u:p@game.example/": "want a URL without user, password and fragment",
		"https://game.example/#a": "want a URL without user, password and fragment",
		"https://game.example:0/": port, "https://game.example:65536/": port, "https://game.example:99999/": port, "https://game.example:/": port, "https://1.1.1.1:0/": port,
		"https://127.0.0.1/": private, "https://10.0.0.1/": private, "https://172.16.0.1/": private, "https://192.168.1.1/": private, "https://169.254.169.254/": private,
		"https://100.64.0.1/": private, "https://0.0.0.0/": private, "https://255.255.255.255/": private, "https://[::1]/": private, "https://[::]/": private,
		"https://[fc00::1]/": private, "https://[fe80::1]/": private, "https://[fe80::1%25eth0]/": private, "https://[::ffff:10.0.0.1]/": private, "https://[64:ff9b::a00:1]/": private,
		"https://[2002:a00:1::]/": private, "https://127.1/": number, "https://2130706433/": number, "https://0x7f000001/": number, "https://0x7f.1/": number, "https://0177.0.0.1/": number,
		"https://0300.0250.1/": number, "https://1.1.1.1.1/": number, "https://256.1.1.1/": number, "https://game.0x1/": number, "https://127.0.0.09/": number,
		"https://localhost/": name, "https://LOCALHOST./": name, "https://a.localhost/": name, "https://printer.local/": name, "https://metadata.google.internal/": name,
		"https://redis/": name, "https://router.home.arpa/": name,
		"https://a..example/": malformed, "https://.example/": malformed, "https://-a.example/": malformed, "https://a-.example/": malformed, "https://b%C3%BCcher.example/": malformed,
		"https://１２７.0.0.1/": malformed, "https://127。0。0。1/": malformed, "https://game.example\\@10.0.0.1/": malformed,
	} {
		if got := Check(address, Rules{}); got != want && (want != malformed || got == "") {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	for address, want := range map[string]string{
		"http://127.0.0.1:8090/": good, "http://localhost:1/": good, "https://redis/": good, "http://10.0.0.1/": good, "https://[fe80::1%25eth0]/": good, "http://printer.local/": good,
		"http://127.1/": number, "http://game.example:0/": port, "http://u@localhost/": "want a URL without user, password and fragment", "gopher://localhost/": "want https",
	} {
		if got := Check(address, Rules{Private: true, Plain: true}); got != want {
			t.Errorf("%s, private: %q, want %q", address, got, want)
		}
	}
}

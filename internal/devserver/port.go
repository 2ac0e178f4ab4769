package devserver

import (
	"fmt"
	"net"
)

// freePort returns a TCP port of 127.0.0.1 that nobody listens on now. Somebody
// else may take it before our server does: launch then tries another.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

package devserver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// firstPort and lastPort bound the ports of our servers. They are below the range from which kernels take the source ports
// of outgoing connections (32768 and up on Linux): while a killed server's port is free, no client's connection can sit on
// it and keep Restart from having it back.
const firstPort, lastPort = 20000, 32000

// freePort returns a TCP port of 127.0.0.1 that is free now. Another process may
// take it before our server does: launch then tries another.
func freePort() (int, error) {
	var errs []error
	for range 20 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, l.Close()
		}
		errs = append(errs, err)
	}
	return 0, fmt.Errorf("no free port: %w", errors.Join(errs...))
}

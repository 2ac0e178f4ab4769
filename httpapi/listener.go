package httpapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"leaderboard/api"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
)

// ConnLimits bound the connections that are open at once. A connection beyond them gets a problem at once and is closed.
type ConnLimits struct {
	All int // of the process, 0: any number
	// Own is how many more connections this machine may have, so that health checks reach the process when All are taken.
	Own int
	// PerAddress bounds the connections from one IPv4 address or one /64 of IPv6, 0: any number. Loopback and Proxies have
	// no such bound: many clients may be behind them.
	PerAddress int
	Proxies    []netip.Prefix
	// TLS reports that connections are encrypted: a refused connection is closed without an answer, which could not be read.
	TLS      bool
	Observer Observer // hears of connections that are refused; nil: nobody does
	Base     string   // path below which the service is; "": the root
}

// Listener keeps the connections of another listener within limits.
func Listener(l net.Listener, limits ConnLimits) net.Listener {
	if limits.Observer == nil {
		limits.Observer = unobserved{}
	}
	return &listener{Listener: l, count: connCount{limits: limits, from: map[netip.Addr]int{}}}
}

type listener struct {
	net.Listener
	count     connCount
	lingering atomic.Int64 // connections refused and not closed yet
}

// Accept waits for the next connection within the limits.
func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		tcp, ok := accepted.(*net.TCPConn)
		if err != nil || !ok {
			return accepted, err
		}
		from := addressOf(tcp)
		if l.count.enter(from) {
			setBuffers(tcp, connBuffer)
			return &conn{TCPConn: tcp, leave: sync.OnceFunc(func() { l.count.leave(from) })}, nil
		}
		l.refuse(tcp)
	}
}

const (
	// lingerFor is how long a refused client has to read the answer. If the connection were closed at once, with an unread request
	// in it, the answer would be lost.
	lingerFor = 500 * time.Millisecond
	// MaxLingering is how many refused connections of a listener may be open.
	MaxLingering = 128
)

// refuse answers a connection without reading the request. It does not block: the answer fits the connection's
// buffer.
func (l *listener) refuse(tcp *net.TCPConn) {
	l.count.limits.Observer.ConnectionRefused()
	if l.count.limits.TLS {
		_ = tcp.Close()
		return
	}
	k := wire.KindOf(wire.CodeOverloaded)
	_ = tcp.SetDeadline(time.Now().Add(lingerFor))
	_, _ = tcp.Write(rawProblem(
		api.Problem{Type: k.Type(l.count.limits.Base), Title: k.Title, Status: k.Status, Detail: "The server has as many connections as it takes."},
		"Retry-After: "+strconv.Itoa(wire.RetryAfter(k.Wait))+"\r\n",
	))
	if l.lingering.Add(1) > MaxLingering {
		l.lingering.Add(-1)
		_ = tcp.Close()
		return
	}
	go func() {
		defer l.lingering.Add(-1)
		_ = tcp.CloseWrite()
		_, _ = io.Copy(io.Discard, tcp)
		_ = tcp.Close()
	}()
}

// connCount counts the connections that are open. All methods may be called concurrently.
type connCount struct {
	limits ConnLimits

	mu   sync.Mutex
	all  int
	from map[netip.Addr]int // open connections by address, for addresses that PerAddress bounds
}

func (d *connCount) enter(from netip.Addr) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	most := d.limits.All
	if from.IsLoopback() {
		most += d.limits.Own
	}
	if d.limits.All > 0 && d.all >= most {
		return false
	}
	if d.bounded(from) {
		if d.from[from] >= d.limits.PerAddress {
			return false
		}
		d.from[from]++
	}
	d.all++
	return true
}

func (d *connCount) leave(from netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all--
	if !d.bounded(from) {
		return
	}
	if d.from[from]--; d.from[from] == 0 {
		delete(d.from, from)
	}
}

// bounded reports whether PerAddress bounds an address.
func (d *connCount) bounded(from netip.Addr) bool {
	if d.limits.PerAddress <= 0 || from.IsLoopback() {
		return false
	}
	for _, proxies := range d.limits.Proxies {
		if proxies.Contains(from) {
			return false
		}
	}
	return true
}

// addressOf returns the address for which PerAddress counts a connection.
func addressOf(tcp *net.TCPConn) netip.Addr {
	remote, ok := tcp.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return guard.ClientOf(remote.AddrPort().Addr())
}

// The kernel's buffers of a connection in each direction, in bytes: for an unread answer, and for an unanswered request. Linux
// counts its own records too and takes twice as much. By default it would let both grow to megabytes for a fast client, and keep
// them if the client then reads nothing.
const (
	connBuffer   = 32 << 10  // for each round trip to a client: 500 KB a second over 100 ms
	StreamBuffer = 8 << 10   // one event, so that newer ones do not wait behind many
	ExportBuffer = 128 << 10 // there are few at a time; the kernel gives no more by default
)

// setBuffers bounds the kernel's buffers of a connection.
func setBuffers(tcp *net.TCPConn, bytes int) {
	_ = tcp.SetReadBuffer(bytes) // it does not fail on an open connection
	_ = tcp.SetWriteBuffer(bytes)
}

// connKey is the key of the connection in the context of a request.
type connKey struct{}

// connOf returns the connection of a request; false for a request that did not come through a Listener.
func connOf(ctx context.Context) (*conn, bool) {
	under, _ := ctx.Value(connKey{}).(net.Conn)
	if t, ok := under.(*tls.Conn); ok {
		under = t.NetConn()
	}
	of, ok := under.(*conn)
	return of, ok
}

// orphanTimeout is how long the kernel keeps unread bytes after the connection is closed. It counts from the client's last read,
// also before the close, and a slow client reads a window of 64 KiB at once: a shorter time would cut it off.
const orphanTimeout = time.Minute

// httpBuffer is the size of the buffer in which net/http collects an answer's header and the beginning of its body.
const httpBuffer = 4 << 10

// heads are *[]byte of httpBuffer bytes: beginnings of answers that wait for the rest.
var heads = sync.Pool{New: func() any {
	b := make([]byte, 0, httpBuffer)
	return &b
}}

// conn is a connection that was let in. Its writes come from the goroutine that answers.
type conn struct {
	*net.TCPConn
	leave func()

	whole bool        // the next write is the beginning of an answer whose rest is sure to come
	head  *[]byte     // that beginning, until the rest comes; nil without one
	parts [2][]byte   // the beginning and the rest while they are sent
	both  net.Buffers // of parts: a field, since a variable would be allocated at each write
}

// Close closes the connection and makes room for another. The kernel does not keep unread bytes for long, because no limit counts
// them after the close.
func (c *conn) Close() error {
	if raw, err := c.SyscallConn(); err == nil && runtime.GOOS == "linux" {
		const tcpUserTimeout = 18
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(orphanTimeout.Milliseconds()))
		})
	}
	c.leave()
	return c.TCPConn.Close()
}

// Write sends b to the client. If the client does not read it in time, the connection is about to be closed, together with the
// unread bytes, which the kernel would otherwise keep for a minute.
func (c *conn) Write(b []byte) (n int, err error) {
	switch {
	case c.head != nil:
		n, err = c.writeBoth(b)
	case c.whole && len(b) <= httpBuffer:
		c.head = heads.Get().(*[]byte)
		*c.head = append((*c.head)[:0], b...)
		n = len(b)
	default:
		n, err = c.TCPConn.Write(b)
	}
	c.whole = false
	if err != nil {
		_ = c.SetLinger(0)
	}
	return n, err
}

// writeBoth sends the beginning of an answer and then b. n counts the bytes of b.
func (c *conn) writeBoth(b []byte) (n int, err error) {
	head := len(*c.head)
	c.parts = [2][]byte{*c.head, b}
	c.both = c.parts[:]
	sent, err := c.both.WriteTo(c.TCPConn)
	heads.Put(c.head)
	c.head, c.parts, c.both = nil, [2][]byte{}, nil
	return max(0, int(sent)-head), err
}

// rawProblem returns a whole answer that ends the connection. more has further header lines.
func rawProblem(p api.Problem, more string) []byte {
	p.RequestID = wire.NewRequestID()
	body, err := wire.Marshal(p)
	if err != nil { // all strings in it are constants of this package
		body = []byte(`{"status":` + strconv.Itoa(p.Status) + `}`)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\n%s: %s\r\n%s",
		p.Status, http.StatusText(p.Status), len(body), wire.HeaderRequestID, p.RequestID, more)
	out.WriteString("Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n")
	out.Write(body)
	return out.Bytes()
}

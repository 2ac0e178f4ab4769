package dbtest

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Fault is the action of a proxy on a connection because of a request.
type Fault int

// The possible actions of a proxy.
const (
	FaultPass      Fault = iota
	FaultCutBefore       // the request does not reach MySQL; the connection breaks
	FaultCutAfter        // MySQL answers, which proves that it is done; the answer is lost and the connection breaks
	FaultSilence         // MySQL answers; the answer is withheld and the connection stays
	FaultFreeze          // the request stays on the way until MySQL ends the connection
	FaultHold            // the request stays on the way until it is released: see Proxy.Hold
)

// Proxy stands between a store and MySQL and reads the protocol. It passes everything on until a method says otherwise, about the text of statements.
type Proxy struct {
	upstream string
	mu       sync.Mutex
	judge    func(statement string) Fault
	released chan struct{} // closed when held statements continue
	sent     []onWire      // while recording
	recorded bool
}

// onWire is a packet of a connection.
type onWire struct {
	conn      int64
	statement string
}

// NewProxy starts a proxy to the server of a DSN and returns the DSN that goes through it.
func NewProxy(t *testing.T, dsn string) (*Proxy, string) {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{upstream: cfg.Addr, judge: func(string) Fault { return FaultPass }}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); conns.Wait() })
	conns.Go(func() {
		for conn := int64(0); ; conn++ {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { p.serve(conn, client) })
		}
	})
	cfg.Addr = listener.Addr().String()
	return p, cfg.FormatDSN()
}

// On sets what happens to statements that contain text: the first times ones; 0 for all of them.
func (p *Proxy) On(text string, f Fault, times int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	p.judge = func(statement string) Fault {
		if !strings.Contains(statement, text) || (times > 0 && n >= times) {
			return FaultPass
		}
		n++
		return f
	}
}

// FaultBy has judge decide what happens to each statement.
func (p *Proxy) FaultBy(judge func(statement string) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.judge = judge
}

// OnBeginning sets what happens to all statements that begin with text. Connections begin with other words.
func (p *Proxy) OnBeginning(text string, f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.judge = func(statement string) Fault {
		if strings.HasPrefix(statement, text) {
			return f
		}
		return FaultPass
	}
}

// Watch reports the statements that contain text as they pass.
func (p *Proxy) Watch(text string, seen chan<- struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.judge = func(statement string) Fault {
		if strings.Contains(statement, text) {
			seen <- struct{}{}
		}
		return FaultPass
	}
}

// Hold keeps the first n statements that contain text on the way until release is called. Each is reported to held as it comes.
func (p *Proxy) Hold(text string, n int) (held <-chan struct{}, release func()) {
	reports, released := make(chan struct{}, n), make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.released = released
	p.judge = func(statement string) Fault {
		if len(reports) == cap(reports) || !strings.Contains(statement, text) {
			return FaultPass
		}
		reports <- struct{}{}
		return FaultHold
	}
	return reports, sync.OnceFunc(func() { close(released) })
}

// Committed calls do and returns the packets of the one transaction of a writer that it commits, from START TRANSACTION to
// COMMIT. Other statements of a store do not count, and come at any time: looks at the server, connections that are made,
// an attempt that another session had rolled back.
func (p *Proxy) Committed(t *testing.T, do func() error) (packets []string) {
	t.Helper()
	p.mu.Lock()
	p.sent, p.recorded = nil, true
	p.mu.Unlock()
	err := do()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recorded = false
	if err != nil {
		t.Fatal(err)
	}
	begun, commits := map[int64][]string{}, 0
	for _, s := range p.sent {
		switch {
		case strings.HasPrefix(s.statement, "START TRANSACTION;"):
			begun[s.conn] = []string{s.statement}
		case begun[s.conn] == nil:
		case s.statement == "ROLLBACK":
			begun[s.conn] = nil
		default:
			begun[s.conn] = append(begun[s.conn], s.statement)
			if s.statement == "COMMIT" {
				packets, begun[s.conn] = begun[s.conn], nil
				commits++
			}
		}
	}
	if commits != 1 {
		t.Fatalf("%d transactions were committed, want 1: %v", commits, p.sent)
	}
	return packets
}

// About counts the packets that contain text.
func About(packets []string, text string) (n int) {
	for _, packet := range packets {
		if strings.Contains(packet, text) {
			n++
		}
	}
	return n
}

// Heal has the proxy pass everything on.
func (p *Proxy) Heal() { p.On("", FaultPass, 0) }

// faultFor returns the fate of a statement, once it is released if it is held.
func (p *Proxy) faultFor(conn int64, statement string) Fault {
	p.mu.Lock()
	if p.recorded {
		p.sent = append(p.sent, onWire{conn, statement})
	}
	f, released := p.judge(statement), p.released
	p.mu.Unlock()
	if f == FaultHold {
		<-released
		return FaultPass
	}
	return f
}

// serve copies one connection until either end closes it, or a fault does.
func (p *Proxy) serve(conn int64, client net.Conn) {
	server, err := net.Dial("tcp", p.upstream)
	if err != nil {
		_ = client.Close()
		return
	}
	var once sync.Once
	cut := func() { once.Do(func() { _, _ = client.Close(), server.Close() }) }
	defer cut()
	var state sync.Mutex
	doomed, ended := FaultPass, make(chan struct{})
	go func() {
		defer cut()
		defer close(ended)
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			state.Lock()
			now := doomed
			state.Unlock()
			if err != nil || now == FaultCutAfter {
				return
			}
			if now == FaultSilence {
				continue
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	for {
		packet, statement, err := readPacket(client)
		if err != nil {
			return
		}
		f := p.faultFor(conn, statement)
		if f == FaultFreeze {
			<-ended
		}
		if f == FaultCutBefore || f == FaultFreeze {
			return
		}
		state.Lock()
		doomed = max(doomed, f)
		state.Unlock()
		if _, err := server.Write(packet); err != nil {
			return
		}
	}
}

// readPacket reads one packet of a client: 3 bytes of length, a number, and the payload; a query is the byte 3 and its
// text.
func readPacket(r io.Reader) (packet []byte, statement string, err error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, "", err
	}
	payload := make([]byte, binary.LittleEndian.Uint32(append(append([]byte{}, head[:3]...), 0)))
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, "", err
	}
	if len(payload) > 0 && payload[0] == 3 {
		statement = string(payload[1:])
	}
	return append(head, payload...), statement, nil
}

package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/go-sql-driver/mysql"
	"github.com/rs/zerolog"
)

// Faults of COMMITs that pass the proxy.
const (
	lostReply     = `{"type": "commit_reply", "stream": "downstream"}`                                   // the connection breaks behind it
	withheldReply = `{"type": "commit_reply", "stream": "downstream", "attributes": {"withhold": true}}` // the connection goes silent behind it
	lostRequest   = `{"type": "commit_request", "stream": "upstream"}`                                   // the connection breaks ahead of it
)

// registerToxics makes the toxics of this package known to toxiproxy.
func registerToxics() {
	toxics.Register("commit_reply", new(replyToxic))
	toxics.Register("commit_request", new(requestToxic))
}

// proxy stands between servers and MySQL.
type proxy struct{ *toxiproxy.Proxy }

// newProxy makes a proxy to the MySQL of a DSN, and the DSN that goes through it.
func newProxy(t *testing.T, dsn string) (*proxy, string) {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := toxiproxy.NewProxy(api, "mysql", "127.0.0.1:0", cfg.Addr)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	cfg.Addr = p.Listen
	return &proxy{p}, cfg.FormatDSN()
}

// add applies a fault to all COMMITs from now on, until heal.
func (p *proxy) add(t *testing.T, toxic string) {
	t.Helper()
	if _, err := p.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		t.Fatal(fmt.Errorf("%w: %s", err, toxic))
	}
}

func (p *proxy) heal(t *testing.T) { p.Toxics.ResetToxics(t.Context()) }

// replyToxic loses the reply to a COMMIT, which MySQL has carried out. It recognises the reply by its status: the first one
// outside of a transaction after one inside. The servers of these tests roll nothing back.
type replyToxic struct {
	Withhold bool `json:"withhold"`
}

type replyState struct {
	replies packets
	inside  bool // a transaction
	silent  bool
}

// NewState implements toxics.StatefulToxic: one state per connection.
func (r *replyToxic) NewState() any { return new(replyState) }

// Pipe implements toxics.Toxic.
func (r *replyToxic) Pipe(stub *toxics.ToxicStub) {
	state := stub.State.(*replyState)
	forward(stub, func(c *stream.StreamChunk) (pass, goOn bool) {
		if state.silent {
			return false, true
		}
		for _, packet := range state.replies.cut(c.Data) {
			inside, ok := inTransaction(packet)
			if ok && state.inside && !inside {
				state.silent = r.Withhold
				return false, r.Withhold
			}
			state.inside = state.inside && !ok || inside
		}
		return true, true
	})
}

// requestToxic breaks a connection instead of letting a COMMIT through, which MySQL answers with a rollback.
type requestToxic struct{}

// Pipe implements toxics.Toxic.
func (r *requestToxic) Pipe(stub *toxics.ToxicStub) {
	forward(stub, func(c *stream.StreamChunk) (pass, goOn bool) {
		commit := len(c.Data) > 4 && bytes.HasPrefix(c.Data[4:], []byte("\x03COMMIT"))
		return !commit, !commit
	})
}

// forward copies the chunks that pass accepts, until the stream ends, the toxic is removed, or goOn returns false, which breaks
// the connection.
func forward(stub *toxics.ToxicStub, look func(*stream.StreamChunk) (pass, goOn bool)) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if c == nil {
				stub.Close()
				return
			}
			pass, goOn := look(c)
			if pass {
				stub.Output <- c
			}
			if !goOn {
				stub.Close()
				return
			}
		}
	}
}

// packets cuts a stream of the MySQL protocol: length (3 bytes), sequence number, payload.
type packets struct{ rest []byte }

// cut returns the payloads that are complete with these data.
func (p *packets) cut(data []byte) (payloads [][]byte) {
	const head = 4
	p.rest = append(p.rest, data...)
	for len(p.rest) >= head {
		end := head + (int(p.rest[0]) | int(p.rest[1])<<8 | int(p.rest[2])<<16)
		if len(p.rest) < end {
			break
		}
		payloads = append(payloads, p.rest[head:end])
		p.rest = p.rest[end:]
	}
	return payloads
}

// inTransaction reads the status in the end of a reply: an OK packet (0, affected rows, insert id, status), or an end of
// rows (254, warnings, status). ok is false for any other packet.
func inTransaction(payload []byte) (inside, ok bool) {
	const statusInTrans = 1
	if len(payload) == 5 && payload[0] == 0xfe {
		return payload[3]&statusInTrans != 0, true
	}
	if len(payload) < 7 || payload[0] != 0 {
		return false, false
	}
	rest := payload[1:]
	for range 2 { // two length-encoded integers
		size := 1
		switch rest[0] {
		case 0xfc:
			size = 3
		case 0xfd:
			size = 4
		case 0xfe:
			size = 9
		}
		if len(rest) < size+2 {
			return false, false
		}
		rest = rest[size:]
	}
	return rest[0]&statusInTrans != 0, true
}

package app

import (
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// spans is a collector of spans that come by OTLP over HTTP.
type spans struct {
	*httptest.Server
	mu  sync.Mutex
	all []*otlp.Span
}

// newSpans starts a collector.
func newSpans(t *testing.T) *spans {
	s := &spans{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent otlp.TracesData
		if err == nil {
			err = proto.Unmarshal(body, &sent)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s is no OTLP: %v", r.Method, r.URL, err)
			http.Error(w, "no OTLP", http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, resource := range sent.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				s.all = append(s.all, scope.Spans...)
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// of returns the spans of a trace, by when they began.
func (s *spans) of(traceID string) []*otlp.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*otlp.Span
	for _, span := range s.all {
		if hex.EncodeToString(span.TraceId) == traceID {
			out = append(out, span)
		}
	}
	slices.SortFunc(out, func(a, b *otlp.Span) int { return int(a.StartTimeUnixNano) - int(b.StartTimeUnixNano) })
	return out
}

// tree draws spans as lines, each indented under the span that it is inside; spans inside the same one are in the order of their
// beginnings.
func tree(list []*otlp.Span, parent []byte, indent string) string {
	var b strings.Builder
	for _, span := range list {
		if string(span.ParentSpanId) == string(parent) {
			fmt.Fprintf(&b, "%s%s\n%s", indent, span.Name, tree(list, span.SpanId, indent+"  "))
		}
	}
	return b.String()
}

// attribute returns an attribute of a span as text, "" for none.
func attribute(span *otlp.Span, name string) string {
	for _, a := range span.Attributes {
		if a.Key == name {
			if text := a.Value.GetStringValue(); text != "" {
				return text
			}
			if n := a.Value.GetIntValue(); n != 0 {
				return fmt.Sprint(n)
			}
			return fmt.Sprint(a.Value.GetBoolValue())
		}
	}
	return ""
}

// named returns the spans of a name.
func named(list []*otlp.Span, name string) []*otlp.Span {
	return slices.DeleteFunc(slices.Clone(list), func(s *otlp.Span) bool { return s.Name != name })
}

// tracedTo has an app send its spans to a collector soon, by OpenTelemetry's variables and more of them.
func tracedTo(t *testing.T, address string, env map[string]string) func(*Config) {
	t.Helper()
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
	cfg, err := ReadTracing(func(name string) string {
		if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
			return address
		}
		return env[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(c *Config) { c.Tracing = cfg }
}

// The trace that a request of a test comes in.
const (
	parentSpan = "00f067aa0ba902b7"
	sampled    = "01"
	unsampled  = "00"
)

// within returns the header of a trace whose id ends in n.
func within(n int, flags string) (traceID string, h http.Header) {
	traceID = fmt.Sprintf("4bf92f3577b34da6a3ce929d0e0e%04d", n)
	return traceID, http.Header{"Traceparent": {"00-" + traceID + "-" + parentSpan + "-" + flags}, "X-Request-Id": {requestIn(traceID)}}
}

// requestIn returns the id of the request of a trace.
func requestIn(traceID string) string {
	return "asked-" + strings.TrimLeft(traceID[len(traceID)-4:], "0")
}

// awaitTree waits until a trace, as seen from the caller's span, is like this.
func (s *spans) awaitTree(t *testing.T, traceID, want string) {
	t.Helper()
	parent, err := hex.DecodeString(parentSpan)
	if err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, func() string {
		if got := tree(s.of(traceID), parent, ""); got != want {
			return fmt.Sprintf("trace %s is\n%s\nwant\n%s", traceID, got, want)
		}
		return ""
	})
}

// awaitMemory asks for a top until it is answered from memory, and returns the trace of that. It is at once, unless the machine
// is so busy that the feed is late.
func (s *spans) awaitMemory(t *testing.T, a *testApp) (traceID string) {
	t.Helper()
	a.Ask(200, "GET", "/v1/boards/traced/top", "")
	n := 1000
	apptest.Eventually(t, func() string {
		var h http.Header
		n++
		traceID, h = within(n, sampled)
		a.Ask(200, "GET", "/v1/boards/traced/top", "", h)
		if got := s.awaitAny(t, traceID); got != memoryTree {
			return got
		}
		return ""
	})
	return traceID
}

// awaitAny waits until the span of a request has come, which is sent after those inside it, and returns the tree.
func (s *spans) awaitAny(t *testing.T, traceID string) (got string) {
	t.Helper()
	parent, err := hex.DecodeString(parentSpan)
	if err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, func() string {
		if got = tree(s.of(traceID), parent, ""); got == "" {
			return "nothing of trace " + traceID
		}
		return ""
	})
	return got
}

const (
	submitTree = "POST /v1/boards/{board}/scores\n  queue\n  wait for batch\n    batch\n      connection\n      lock board\n      write\n      commit\n"
	memoryTree = "GET /v1/boards/{board}/top\n  read memory\n"
)

// TestTraces: a submission and reads that belong to traces of their callers have spans there, down to the transaction and the
// layers, and their ids are in the log. A request that its caller does not sample is in the log alone.
func TestTraces(t *testing.T) {
	to := newSpans(t)
	a := startReady(t, testenv.MySQL(t), testenv.Redis(t), tracedTo(t, to.URL, nil), func(c *Config) { c.ResidentMemory = 0 })
	a.Ask(201, "PUT", "/v1/boards/traced", `{}`)
	submit, h := within(1, sampled)
	a.Ask(200, "POST", "/v1/boards/traced/scores", `{"entries":[{"member":"the-member","score":5}]}`, h)
	to.awaitTree(t, submit, submitTree)
	a.Ask(200, "POST", "/v1/boards/traced/rebuild?wait=30s", `{}`)
	read, h := within(2, sampled)
	a.Ask(200, "GET", "/v1/boards/traced/members/the-member", "", h)
	to.awaitTree(t, read, "GET /v1/boards/{board}/members/{member}\n  read redis\n")
	deep, h := within(3, sampled)
	a.Ask(200, "GET", "/v1/boards/traced/distribution", "", h)
	to.awaitTree(t, deep, "GET /v1/boards/{board}/distribution\n  read mysql\n")
	again := to.awaitMemory(t, a)
	build, h := within(5, sampled)
	a.Ask(200, "POST", "/v1/boards/traced/rebuild?wait=30s", `{}`, h)
	to.awaitTree(t, build, "POST /v1/boards/{board}/rebuild\n  run full\n    build\n")
	quiet, h := within(6, unsampled)
	a.Ask(200, "POST", "/v1/boards/traced/scores", `{"entries":[{"member":"the-member","score":6}]}`, h)

	root := to.of(submit)[0]
	for name, want := range map[string]string{
		"http.request.method": "POST", "http.route": "/v1/boards/{board}/scores", "http.response.status_code": "200", "url.scheme": "http",
		"leaderboard.board": "traced", "leaderboard.request_id": "asked-1",
	} {
		if got := attribute(root, name); got != want {
			t.Errorf("%s of a request is %q, want %q", name, got, want)
		}
	}
	if root.Kind != otlp.Span_SPAN_KIND_SERVER {
		t.Errorf("a request is of kind %s", root.Kind)
	}
	for _, list := range [][]*otlp.Span{to.of(submit), to.of(read), to.of(deep)} {
		for _, span := range list {
			if client := attribute(span, "db.system.name") != ""; client != (span.Kind == otlp.Span_SPAN_KIND_CLIENT) {
				t.Errorf("%s is of kind %s", span.Name, span.Kind)
			}
			if strings.Contains(span.String(), "the-member") || strings.Contains(span.String(), apptest.AdminKey) {
				t.Errorf("a span names a member or a key: %s", span)
			}
		}
	}
	a.stop() // sends the recorded spans
	if list := to.of(quiet); len(list) > 0 {
		t.Errorf("spans of a trace that is not sampled are sent: %s", tree(list, nil, ""))
	}
	for _, id := range []string{submit, read, deep, again, build, quiet} {
		line := ""
		for l := range strings.Lines(a.log.String()) {
			if strings.Contains(l, "msg=request ") && strings.Contains(l, "request_id="+requestIn(id)+" ") {
				line = l
			}
		}
		if !strings.Contains(line, "trace_id="+id) || !strings.Contains(line, "span_id=") || strings.Contains(line, "span_id="+parentSpan) {
			t.Errorf("the log has this of request %s in trace %s: %q", requestIn(id), id, line)
		}
	}
	for l := range strings.Lines(a.log.String()) {
		if strings.Contains(l, "run ended") && strings.Contains(l, "trace_id="+build) && strings.Contains(l, "request_id=asked-5") {
			return
		}
	}
	t.Errorf("the log does not tell of the run with the ids of who asked:\n%s", a.log)
}

// TestBatchOfTraces: one transaction takes requests of several traces. Its span is in the trace of one of them, and has links to
// the others.
func TestBatchOfTraces(t *testing.T) {
	to := newSpans(t)
	a := startReady(t, testenv.MySQL(t), "", tracedTo(t, to.URL, nil))
	a.Ask(201, "PUT", "/v1/boards/together", `{}`)
	const askers = 40
	var traces []string
	var wg sync.WaitGroup
	for i := range askers {
		id, h := within(100+i, sampled)
		traces = append(traces, id)
		wg.Go(func() {
			a.Ask(200, "POST", "/v1/boards/together/scores", fmt.Sprintf(`{"entries":[{"member":"m%d","score":5}]}`, i), h)
		})
	}
	wg.Wait()
	a.stop()
	batches := map[string]*otlp.Span{} // by span id
	for _, id := range traces {
		for _, b := range named(to.of(id), "batch") {
			batches[string(b.SpanId)] = b
		}
	}
	if len(batches) == 0 || len(batches) == askers {
		t.Fatalf("%d submissions at once were %d batches", askers, len(batches))
	}
	for _, id := range traces {
		waits := named(to.of(id), "wait for batch")
		if len(waits) != 1 || len(waits[0].Links) != 1 {
			t.Fatalf("trace %s: a request waits for one batch, with a link to it: %v", id, waits)
		}
		b := batches[string(waits[0].Links[0].SpanId)]
		if b == nil || !slices.ContainsFunc(b.Links, func(l *otlp.Span_Link) bool { return string(l.SpanId) == string(waits[0].SpanId) }) {
			t.Errorf("trace %s: the batch that its request waits for is not linked with it: %v", id, b)
		}
	}
}

// TestTracesToNobody: a collector that is away, or that never answers, delays and fails no request, and does not keep the
// server from stopping.
func TestTracesToNobody(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and reads nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "64") // less than there will be
	for name, address := range map[string]string{"away": closed.Addr().String(), "silent": silent.Addr().String()} {
		a := startReady(t, testenv.MySQL(t), "", tracedTo(t, "http://"+address, nil))
		a.Ask(201, "PUT", "/v1/boards/unseen", `{}`)
		for range 100 {
			a.Ask(200, "GET", "/v1/boards/unseen/top", "")
		}
		start := time.Now()
		a.stop()
		if took := time.Since(start); took > tracesTimeout+5*time.Second {
			t.Errorf("%s: the server stopped after %s", name, took)
		}
		if log := a.log.String(); !strings.Contains(log, "spans are not sent") {
			t.Errorf("%s: the log does not say that spans are lost:\n%s", name, log)
		}
	}
}

// TestNoStartNoTraces: an app that cannot be made leaves no goroutine that would send spans.
func TestNoStartNoTraces(t *testing.T) {
	cfg := Defaults()
	cfg.MySQLDSN = "user@tcp(127.0.0.1:1)/none"
	cfg.RedisURL = "http://none"
	tracedTo(t, "http://127.0.0.1:1", nil)(&cfg)
	if _, err := New(t.Context(), cfg, NewLogger(&apptest.Buffer{}, &cfg)); err == nil {
		t.Fatal("a Redis over HTTP is taken")
	}
}

// TestTracesOff: without any of OpenTelemetry's variables nothing is recorded.
func TestTracesOff(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"nothing":  {},
		"none":     {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
		"disabled": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
	} {
		if cfg, err := ReadTracing(func(name string) string { return env[name] }); cfg != nil || err != nil {
			t.Errorf("%s: %v, %v", name, cfg, err)
		}
	}
}

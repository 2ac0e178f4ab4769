package telemetry

import (
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"leaderboard/internal/apptest"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// read reads an environment.
func read(t *testing.T, env map[string]string) *Config {
	t.Helper()
	cfg, err := Read(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestRead: the variables mean what OpenTelemetry specifies. A value that is not supported is refused with its variable's name
// and without secrets.
func TestRead(t *testing.T) {
	cfg := read(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b,x=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "api-key=c%2Cd",
		"OTEL_EXPORTER_OTLP_TIMEOUT": "1500", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25",
		"OTEL_SERVICE_NAME": "games", "OTEL_PROPAGATORS": "baggage",
	})
	if cfg.Endpoint != "http://collector:4318/v1/traces" || len(cfg.Headers) != 1 || cfg.Headers["Api-Key"] != "c,d" || cfg.Timeout != 1500*time.Millisecond ||
		!cfg.Gzip || cfg.Service != "games" || cfg.TakeContext || !strings.Contains(cfg.Sampler.Description(), "TraceIDRatioBased{0.25}") {
		t.Errorf("read %+v", *cfg)
	}
	cfg = read(t, map[string]string{"OTEL_TRACES_EXPORTER": "otlp"})
	if cfg.Endpoint != "http://localhost:4318/v1/traces" || cfg.Service != "leaderboard" || !cfg.TakeContext || cfg.Timeout != 10*time.Second {
		t.Errorf("without more words it is %+v", *cfg)
	}
	cfg = read(t, map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_RESOURCE_ATTRIBUTES": "service.name=quizzes,deployment.environment.name=a%20b"})
	if cfg.Service != "quizzes" || len(cfg.Resource) != 1 || cfg.Resource[0].Value.AsString() != "a b" {
		t.Errorf("the process is %s, %v", cfg.Service, cfg.Resource)
	}
	if cfg = read(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://c/x"}); cfg.Endpoint != "https://c/x" {
		t.Errorf("the address of traces is taken for %s", cfg.Endpoint)
	}
	for name, value := range map[string]string{
		"OTEL_TRACES_EXPORTER": "zipkin", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": "s3cret@collector", "OTEL_EXPORTER_OTLP_HEADERS": "s3cret",
		"OTEL_EXPORTER_OTLP_TIMEOUT": "10s", "OTEL_EXPORTER_OTLP_COMPRESSION": "zstd", "OTEL_TRACES_SAMPLER": "sometimes", "OTEL_PROPAGATORS": "b3",
		"OTEL_RESOURCE_ATTRIBUTES": "service.name", "OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere/ca.pem", "OTEL_EXPORTER_OTLP_CLIENT_KEY": "/nowhere/key.pem",
	} {
		_, err := Read(func(asked string) string {
			if asked == name {
				return value
			}
			return map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": map[bool]string{false: "http://c/"}[name == "OTEL_EXPORTER_OTLP_ENDPOINT"]}[asked]
		})
		if err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(name, "_KEY")) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s=%s is answered with %v", name, value, err)
		}
	}
}

// TestVariablesAreDocumented: docs/settings.md has a row for each variable that Read and the tracer look at, and for no other.
func TestVariablesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(OTEL_\\w+)`").FindAllSubmatch(text, -1) {
		documented[string(row[1])] = true
	}
	asked := map[string]bool{}
	cfg, err := Read(func(name string) string {
		asked[name] = true
		return map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}[name]
	})
	if cfg == nil || err != nil {
		t.Fatal(cfg, err)
	}
	for name := range asked {
		if general := strings.Replace(name, "_OTLP_TRACES_", "_OTLP_", 1); !documented[general] {
			t.Errorf("docs/settings.md has no row for %s", general)
		}
	}
	for name := range documented {
		if !asked[name] {
			t.Errorf("docs/settings.md has a row for %s, which is not read", name)
		}
	}
}

// TestSending: spans are sent with the headers and compressed, and again when the collector was busy. Stop sends the rest.
func TestSending(t *testing.T) {
	var attempts atomic.Int64
	got := make(chan *collector.TracesData, 4)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if attempts.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		z, err := gzip.NewReader(r.Body)
		if err != nil || r.Header.Get("Api-Key") != "k" {
			t.Errorf("sent %v, %v", r.Header, err)
			return
		}
		body, err := io.ReadAll(z)
		if err != nil {
			t.Error(err)
		}
		out := &collector.TracesData{}
		if err := proto.Unmarshal(body, out); err != nil {
			t.Error(err)
		}
		got <- out
	}))
	defer server.Close()
	said := &apptest.Buffer{}
	tracer, err := New(read(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL, "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=k",
		"OTEL_RESOURCE_ATTRIBUTES": "service.instance.id=a,service.name=x",
	}), "v1", slog.New(slog.NewTextHandler(said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := trace.Start(trace.With(t.Context(), tracer.Root()), "outer", trace.KindInternal)
	_, inner := trace.Start(ctx, "inner", trace.KindClient)
	inner.Done(leaderboard.ErrOverloaded)
	span.End()
	if err := tracer.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	data := (<-got).String()
	for _, want := range []string{`"outer"`, `"inner"`, `"overloaded"`, "SPAN_KIND_CLIENT", "STATUS_CODE_ERROR", `"service.instance.id"`, `"leaderboard"`, `"v1"`} {
		if !strings.Contains(data, want) {
			t.Errorf("%s is missing in %s", want, data)
		}
	}
	if said.String() != "" {
		t.Errorf("the log says %s", said)
	}
}

// TestCollectorRefuses: spans that a collector refuses are lost, and one log message reports it, without the address.
func TestCollectorRefuses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer server.Close()
	said := &apptest.Buffer{}
	tracer, err := New(read(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": server.URL + "/?key=s3cret"}), "v1", slog.New(slog.NewTextHandler(said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		tracer.Request("GET /x", http.Header{}).End()
		if err := tracer.provider.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	server.Close() // the next failure is a connection error
	tracer.Request("GET /x", http.Header{}).End()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	start := time.Now()
	if err := tracer.Stop(ctx); err == nil {
		t.Error("spans were counted as sent without a collector")
	}
	if took := time.Since(start); took > defaultTimeout/2 {
		t.Errorf("spans were tried to be sent for %s more, in no time", took)
	}
	if log := said.String(); strings.Count(log, "traces are lost") != 1 || strings.Contains(log, "s3cret") || !strings.Contains(log, "401") {
		t.Errorf("the log says:\n%s", log)
	}
}

// TestRequestContext: the span of a request is inside the caller's, and is sampled if the caller's is, unless traces of
// callers are not accepted. Inside a span that is not sampled there are no spans.
func TestRequestContext(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, c := range []struct {
		parent, propagators, sampler string
		in, kept                     bool
	}{
		{"00-" + id + "-00f067aa0ba902b7-01", "", "", true, true},
		{"00-" + id + "-00f067aa0ba902b7-00", "", "", true, false},
		{"00-" + id + "-00f067aa0ba902b7-00", "", "always_on", true, true},
		{"00-" + id + "-00f067aa0ba902b7-01", "none", "", false, true},
		{"00-" + id + "-00f067aa0ba902b7-01", "none", "parentbased_always_off", false, false},
		{"garbage", "", "", false, true},
		{"", "", "always_off", false, false},
	} {
		tracer, err := New(read(t, map[string]string{
			"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_PROPAGATORS": c.propagators, "OTEL_TRACES_SAMPLER": c.sampler,
		}), "v1", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		if c.parent != "" {
			h["Traceparent"] = []string{c.parent}
		}
		span := trace.Of(tracer.Request("GET /x", h))
		traceID, spanID := span.IDs()
		if in := traceID == id; in != c.in || span.On() != c.kept || spanID == "" || spanID == "00f067aa0ba902b7" {
			t.Errorf("%+v: it is in trace %s, kept %t", c, traceID, span.On())
		}
		if _, inner := trace.Start(trace.With(t.Context(), span), "inner", trace.KindInternal); inner.On() != c.kept {
			t.Errorf("%+v: a span inside is kept %t", c, inner.On())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = tracer.Stop(ctx) // no collector is there
	}
}

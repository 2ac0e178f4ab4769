package telemetry

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// Config says where spans go, and which are kept. The SDK itself reads the variables of the queue (OTEL_BSP_…) and of the limits
// of spans (OTEL_SPAN_…).
type Config struct {
	Endpoint    string            // the whole address that spans are posted to
	Headers     map[string]string // secret
	Timeout     time.Duration     // for one batch of spans, with all attempts
	Gzip        bool
	TLS         *tls.Config // nil: the system's certificates
	Sampler     sdk.Sampler
	Service     string
	Resource    []attribute.KeyValue // more of the process
	TakeContext bool                 // requests may come with a trace
}

// String hides the secrets when a configuration is printed.
func (*Config) String() string { return "the configuration of traces" }

// The names of the variables that Read reads. docs/settings.md describes them.
const (
	envDisabled   = "OTEL_SDK_DISABLED"
	envExporter   = "OTEL_TRACES_EXPORTER"
	envPropagator = "OTEL_PROPAGATORS"
	envSampler    = "OTEL_TRACES_SAMPLER"
	envSamplerArg = "OTEL_TRACES_SAMPLER_ARG"
	envService    = "OTEL_SERVICE_NAME"
	envResource   = "OTEL_RESOURCE_ATTRIBUTES"

	envOTLP        = "OTEL_EXPORTER_OTLP_" // OTEL_EXPORTER_OTLP_TRACES_ goes before it
	otlpEndpoint   = "ENDPOINT"
	otlpProtocol   = "PROTOCOL"
	otlpHeaders    = "HEADERS"
	otlpTimeout    = "TIMEOUT"
	otlpGzip       = "COMPRESSION"
	otlpCA         = "CERTIFICATE"
	otlpClientCert = "CLIENT_CERTIFICATE"
	otlpClientKey  = "CLIENT_KEY"
)

const (
	defaultEndpoint = "http://localhost:4318"
	defaultTimeout  = 10 * time.Second
	defaultService  = "leaderboard"
	defaultSampler  = "parentbased_always_on"
	serviceName     = "service.name"
	protocolHTTP    = "http/protobuf"
)

// Read returns the configuration in the environment, nil when traces are off. env is as os.Getenv.
func Read(env func(string) string) (*Config, error) {
	on, err := isOn(env)
	if !on || err != nil {
		return nil, err
	}
	c := &Config{TakeContext: true}
	c.Sampler, err = samplerOf(env(envSampler), env(envSamplerArg))
	errs := []error{err, c.readResource(env), c.readContext(env), c.readEndpoint(env), c.readSending(env), c.readTLS(env)}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

func isOn(env func(string) string) (bool, error) {
	if strings.EqualFold(env(envDisabled), "true") {
		return false, nil
	}
	switch v := env(envExporter); v {
	case "otlp":
		return true, nil
	case "none":
		return false, nil
	case "":
		return otlp(env, otlpEndpoint) != "", nil
	default:
		return false, fmt.Errorf("%s: want otlp or none, not %q", envExporter, v)
	}
}

// otlp returns a variable of the exporter.
func otlp(env func(string) string, name string) string {
	if v := env(envOTLP + "TRACES_" + name); v != "" {
		return v
	}
	return env(envOTLP + name)
}

// readResource reads the name of the service and more attributes of the process. The variable of the name goes before a
// service.name among the attributes.
func (c *Config) readResource(env func(string) string) error {
	c.Service = defaultService
	if text := env(envResource); text != "" {
		for pair := range strings.SplitSeq(text, ",") {
			name, value, ok := strings.Cut(pair, "=")
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if !ok || err != nil {
				return fmt.Errorf("%s: want name=value pairs separated by commas, not %q", envResource, pair)
			}
			if name = strings.TrimSpace(name); name == serviceName {
				c.Service = value
				continue
			}
			c.Resource = append(c.Resource, attribute.String(name, value))
		}
	}
	if name := env(envService); name != "" {
		c.Service = name
	}
	return nil
}

func (c *Config) readContext(env func(string) string) error {
	v := env(envPropagator)
	if v == "" {
		return nil
	}
	c.TakeContext = false
	for name := range strings.SplitSeq(v, ",") {
		switch strings.TrimSpace(name) {
		case "tracecontext":
			c.TakeContext = true
		case "none", "baggage": // nothing reads baggage
		default:
			return fmt.Errorf("%s: want tracecontext or none, not %q", envPropagator, name)
		}
	}
	return nil
}

func (c *Config) readEndpoint(env func(string) string) error {
	if v := otlp(env, otlpProtocol); v != "" && v != protocolHTTP {
		return fmt.Errorf("%s: only %s is built in, not %q; collectors take it on port 4318", envOTLP+otlpProtocol, protocolHTTP, v)
	}
	if c.Endpoint = env(envOTLP + "TRACES_" + otlpEndpoint); c.Endpoint == "" {
		base := env(envOTLP + otlpEndpoint)
		if base == "" {
			base = defaultEndpoint
		}
		c.Endpoint = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	if u, err := url.Parse(c.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%s: want an address such as %s", envOTLP+otlpEndpoint, defaultEndpoint) // which may have a secret in it
	}
	return nil
}

func (c *Config) readSending(env func(string) string) error {
	c.Headers = map[string]string{}
	if text := otlp(env, otlpHeaders); text != "" {
		for pair := range strings.SplitSeq(text, ",") {
			name, value, ok := strings.Cut(pair, "=")
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if !ok || err != nil {
				return fmt.Errorf("%s: want name=value pairs separated by commas, percent-encoded", envOTLP+otlpHeaders)
			}
			c.Headers[http.CanonicalHeaderKey(strings.TrimSpace(name))] = value
		}
	}
	c.Timeout = defaultTimeout
	if text := otlp(env, otlpTimeout); text != "" {
		ms, err := strconv.Atoi(text)
		if err != nil || ms <= 0 {
			return fmt.Errorf("%s: want milliseconds, not %q", envOTLP+otlpTimeout, text)
		}
		c.Timeout = time.Duration(ms) * time.Millisecond
	}
	switch v := otlp(env, otlpGzip); v {
	case "", "none":
	case "gzip":
		c.Gzip = true
	default:
		return fmt.Errorf("%s: want gzip or none, not %q", envOTLP+otlpGzip, v)
	}
	return nil
}

func (c *Config) readTLS(env func(string) string) error {
	ca, cert, key := otlp(env, otlpCA), otlp(env, otlpClientCert), otlp(env, otlpClientKey)
	if ca == "" && cert == "" && key == "" {
		return nil
	}
	c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		content, err := os.ReadFile(ca)
		if err != nil {
			return fmt.Errorf("%s: %w", envOTLP+otlpCA, err)
		}
		c.TLS.RootCAs = x509.NewCertPool()
		if !c.TLS.RootCAs.AppendCertsFromPEM(content) {
			return fmt.Errorf("%s: there is no certificate in %s", envOTLP+otlpCA, ca)
		}
	}
	if cert == "" && key == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("%s and %s: %w", envOTLP+otlpClientCert, envOTLP+otlpClientKey, err)
	}
	c.TLS.Certificates = []tls.Certificate{pair}
	return nil
}

// samplerOf returns the sampler of a name.
func samplerOf(name, arg string) (sdk.Sampler, error) {
	if name == "" {
		name = defaultSampler
	}
	root, byParent := strings.CutPrefix(name, "parentbased_")
	var s sdk.Sampler
	switch root {
	case "always_on":
		s = sdk.AlwaysSample()
	case "always_off":
		s = sdk.NeverSample()
	case "traceidratio":
		ratio := 1.0
		if arg != "" {
			var err error
			if ratio, err = strconv.ParseFloat(arg, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
				return nil, fmt.Errorf("%s: want a number from 0 to 1, not %q", envSamplerArg, arg)
			}
		}
		s = sdk.TraceIDRatioBased(ratio)
	default:
		return nil, fmt.Errorf("%s: want always_on, always_off or traceidratio, each also with parentbased_ before it, not %q", envSampler, name)
	}
	if byParent {
		s = sdk.ParentBased(s)
	}
	return s, nil
}

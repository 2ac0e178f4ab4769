package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const (
	leastPause = 250 * time.Millisecond
	// maxAnswer bounds how much of an answer is read. It is read at all so that the connection is used again.
	maxAnswer = 64 << 10
)

// client posts spans to a collector. It implements otlptrace.Client, since OpenTelemetry's own client links gRPC, even for HTTP.
type client struct {
	cfg  *Config
	http *http.Client
	life context.Context // ends the requests under way
	end  context.CancelFunc
}

func newClient(cfg *Config) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = cfg.TLS
	c := &client{cfg: cfg, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the headers may be secret
	}}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// Start implements otlptrace.Client. Nothing is sent before there are spans.
func (*client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *client) Stop(context.Context) error {
	c.end()
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client: it sends spans, again while the collector is away or busy, within the timeout.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	body, err := c.encode(spans)
	if err != nil {
		return err
	}
	for pause := leastPause; ; pause *= 2 {
		again, after, err := c.post(ctx, body)
		if !again {
			return err
		}
		timer := time.NewTimer(max(after, pause/2+rand.N(pause)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// encode returns the body of a request. TracesData has the same bytes as the ExportTraceServiceRequest of the protocol, whose
// package links gRPC.
func (c *client) encode(spans []*tracepb.ResourceSpans) ([]byte, error) {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil || !c.cfg.Gzip {
		return body, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err = z.Write(body); err == nil {
		err = z.Close()
	}
	return b.Bytes(), err
}

// post sends a message once. again means that it may be sent again, not before after has passed.
func (c *client) post(ctx context.Context, body []byte) (again bool, after time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.Endpoint, bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	for name, value := range c.cfg.Headers {
		r.Header[name] = []string{value}
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	if c.cfg.Gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := c.http.Do(r)
	if err != nil {
		var sent *url.Error // has the address, which may have a key in it
		if errors.As(err, &sent) {
			err = sent.Err
		}
		return ctx.Err() == nil, 0, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
			after = time.Duration(seconds) * time.Second
		}
	}
	return again, after, fmt.Errorf("the collector answered %s", resp.Status)
}

package events

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"leaderboard/internal/dialer"
	"leaderboard/leaderboard"
)

const (
	// answerBytes is how much of an answer's body is read, so that the connection can be used again. The text is dropped.
	answerBytes = 64 << 10
	// headBytes bounds the head of an answer.
	headBytes = 16 << 10
	// idlePerHost is how many connections to an endpoint are kept.
	idlePerHost = laneWidth
	idleTimeout = 30 * time.Second
	// maxRetryAfter bounds what an endpoint may ask for.
	maxRetryAfter = 4 * time.Hour
)

// errPrivate is an endpoint with no address that may be dialled.
var errPrivate = errors.New("the endpoint has no public address, which takes allow_private, and the setting allow-private-addresses of each server")

// poster makes attempts.
type poster struct {
	public, private *http.Client
	timeout         time.Duration
	now             func() time.Time
}

func newPoster(cfg *Config) *poster {
	client := func(private bool) *http.Client {
		d := &dialer.Dialer{Resolver: cfg.Resolver, Private: private, Refusal: errPrivate, Dial: (&net.Dialer{}).DialContext}
		return &http.Client{
			Transport: &http.Transport{
				DialContext: d.DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
				MaxIdleConnsPerHost: idlePerHost, IdleConnTimeout: idleTimeout, MaxResponseHeaderBytes: headBytes, DisableCompression: true,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	p := &poster{public: client(false), timeout: cfg.Timeout, now: cfg.Now}
	if p.private = p.public; cfg.AllowPrivate {
		p.private = client(true)
	}
	return p
}

// close closes the connections that are kept.
func (p *poster) close() {
	p.public.CloseIdleConnections()
	p.private.CloseIdleConnections()
}

// outcome is the result of an attempt.
type outcome struct {
	status     int    // of the answer, 0: no answer
	err        string // "" when the endpoint has taken it
	gone       bool
	retryAfter time.Duration // as the endpoint asked for
}

// post makes an attempt.
func (p *poster) post(ctx context.Context, to *Recipient, e *leaderboard.Event) outcome {
	body, err := e.Body()
	if err != nil {
		return outcome{err: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(body))
	if err != nil {
		return outcome{err: "the URL of the endpoint is not valid"}
	}
	at := p.now().Unix()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "leaderboard")
	req.Header.Set(headerID, e.ID)
	req.Header.Set(headerTimestamp, strconv.FormatInt(at, 10))
	req.Header.Set(headerSignature, signature(to.Secrets, e.ID, at, body))
	client := p.public
	if to.AllowPrivate {
		client = p.private
	}
	resp, err := client.Do(req)
	if err != nil {
		return outcome{err: p.reason(err)}
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, answerBytes) // the head has decided
	return p.outcomeOf(resp)
}

// outcomeOf returns the meaning of an answer.
func (p *poster) outcomeOf(resp *http.Response) outcome {
	out := outcome{status: resp.StatusCode}
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
	case resp.StatusCode == http.StatusGone:
		out.gone, out.err = true, "the answer was 410, which turns the endpoint off"
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		out.err = fmt.Sprintf("the answer was %d: redirects are not followed", resp.StatusCode)
	default:
		out.err = fmt.Sprintf("the answer was %d", resp.StatusCode)
		if seconds, err := strconv.ParseInt(resp.Header.Get("Retry-After"), 10, 32); err == nil && seconds > 0 {
			out.retryAfter = min(time.Duration(seconds)*time.Second, maxRetryAfter)
		}
	}
	return out
}

// reason returns why there was no answer, without the URL, which may have a secret of the receiver in it.
func (p *poster) reason(err error) string {
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the certificate of the endpoint is of an unknown authority"
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer within " + p.timeout.String()
	}
	return err.Error()
}

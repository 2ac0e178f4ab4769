package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errStalled: the server sent nothing for as long as --timeout says.
var errStalled = errors.New("no answer in time; --timeout says how long to wait")

// stream calls the server and returns a 2xx answer, whose body is read as it comes: instead of all of it, each part
// must come within the client's timeout. Any other answer is a *problem. The caller closes the body.
func (c *client) stream(ctx context.Context, r request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	body := &streamBody{ctx: ctx, limit: c.http.Timeout, cancel: cancel}
	body.timer = time.AfterFunc(body.limit, func() { cancel(errStalled) })
	unlimited := &client{base: c.base, key: c.key, http: &http.Client{Transport: c.http.Transport}}
	resp, err := unlimited.send(ctx, r)
	if err != nil {
		body.timer.Stop()
		err = body.cause(err)
		cancel(nil)
		return nil, err
	}
	body.inner, resp.Body = resp.Body, body
	return resp, nil
}

// streamBody is a body that ends with an error when nothing comes for too long.
type streamBody struct {
	inner  io.ReadCloser
	ctx    context.Context
	limit  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

func (b *streamBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.limit) // it runs while the server is waited for, not while the reader is busy
	n, err := b.inner.Read(p)
	b.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.cause(err)
	}
	return n, err
}

// cause is errStalled when that is why err came.
func (b *streamBody) cause(err error) error {
	if cause := context.Cause(b.ctx); errors.Is(cause, errStalled) {
		return cause
	}
	return err
}

func (b *streamBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.inner.Close()
}

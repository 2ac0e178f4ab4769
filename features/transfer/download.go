package transfer

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/klauspost/compress/gzip"

	"leaderboard/httpapi"
	"leaderboard/internal/wire"
)

// minRate is how many entries a second a client must take on average, once the time for a part has passed: the state that is read
// meanwhile is old, and MySQL must keep it, which is expensive where much is written.
const minRate = 1000

// breakOff ends a partly sent answer, so that the client sees that it is not whole.
func breakOff(c *httpapi.Call, err error) {
	k, _, _ := wire.Classify(err)
	if c.R.Context().Err() != nil || errors.Is(err, errClientGone) {
		k = wire.KindOf(wire.CodeClientGone)
	}
	c.Status = k.Status
	if k.Code != wire.CodeClientGone {
		c.Log(slog.LevelError, "an answer was broken off", slog.Any("error", err))
	}
	panic(http.ErrAbortHandler)
}

// errHeadersOnly ends the export that answers a HEAD.
var errHeadersOnly = errors.New("headers only")

// errClientGone: the client does not take the answer.
var errClientGone = errors.New("the client is gone, or too slow")

// download sends an answer of any length while it is read. Its methods are called by one goroutine.
type download struct {
	call  *httpapi.Call
	stall time.Duration // in which the client must take a part
	began time.Time
	check time.Time    // when the key was looked at last
	sent  int          // entries or records
	zip   *gzip.Writer // nil: the answer is not compressed
}

// begin sends the header fields. For a HEAD it returns errHeadersOnly.
func (d *download) begin(contentType, name string) error {
	d.began, d.check = time.Now(), time.Now()
	h := d.call.W.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "no-store")
	d.call.Vary()
	if wire.AcceptsGzip(d.call.R.Header) {
		h.Set("Content-Encoding", "gzip")
		d.zip, _ = gzip.NewWriterLevel(d.call.W, gzip.BestSpeed) // fast enough for the reading; the level is valid
	}
	d.call.Status = http.StatusOK
	d.call.W.WriteHeader(http.StatusOK)
	if d.call.R.Method == http.MethodHead {
		return errHeadersOnly
	}
	return nil
}

// count counts the next part of an answer, or returns why it is not sent: the client is too slow, or its key is no longer good.
func (d *download) count(n int) error {
	if late := time.Since(d.began) - d.stall; late > time.Duration(d.sent)*time.Second/minRate {
		return fmt.Errorf("%w: %d entries in %s", errClientGone, d.sent, late+d.stall)
	}
	if now := time.Now(); now.Sub(d.check) >= httpapi.AccessCheck {
		if err := d.call.MayGoOn(now); err != nil {
			return err
		}
		d.check = now
	}
	d.sent += n
	return nil
}

// send writes b; the client has a while to take it.
func (d *download) send(b []byte) error {
	ctl := http.NewResponseController(d.call.W)
	_ = ctl.SetWriteDeadline(time.Now().Add(d.stall)) // without effect on a connection that has no deadlines (in tests)
	if err := d.write(b); err != nil {
		return errors.Join(errClientGone, err)
	}
	if err := ctl.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errors.Join(errClientGone, err)
	}
	return nil
}

func (d *download) write(b []byte) error {
	if d.zip == nil {
		_, err := d.call.W.Write(b)
		return err
	}
	if _, err := d.zip.Write(b); err != nil {
		return err
	}
	return d.zip.Flush()
}

// end sends the end of a compressed answer if err is nil: it shows that all of the answer came. It returns the result of the
// handler.
func (d *download) end(err error) error {
	if err == nil && d.zip != nil {
		if failed := d.zip.Close(); failed != nil {
			err = errors.Join(errClientGone, failed)
		}
	}
	switch {
	case errors.Is(err, errHeadersOnly):
		return nil
	case err != nil && d.call.Status != 0:
		breakOff(d.call, err)
	}
	return err
}

package httpapi

import (
	"net/http"
	"path"
	"strings"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// showPage lets Config.Pages answer.
func showPage(c *Call) error {
	if c.shared.pages == nil {
		return wire.Reject(wire.CodeNotFound, "")
	}
	c.shared.pages.ServeHTTP(&pageWriter{c.W, c}, c.R)
	if c.Status == 0 {
		c.Status = http.StatusOK // the status of an empty answer
	}
	return nil
}

// pictureWork is how many units of heavy work a picture counts for.
const pictureWork = 5

// showPicture is showPage for a picture, which is charged for the work to draw it.
func showPicture(c *Call) error {
	if err := c.Charge(leaderboard.Charge{leaderboard.QuotaKindHeavy: pictureWork}); err != nil {
		return err
	}
	return showPage(c)
}

// Missing answers 404 for an address at which nothing is: with a page for a browser that shows one, with a problem and a detail for
// all others. A browser whose address ends in a slash is sent to the address without the slash.
func Missing(c *Call, detail string) error {
	at, bare := c.R.URL.Path, strings.TrimSuffix(c.R.URL.EscapedPath(), "/")
	slashed := path.Clean(at)+"/" == at
	isPlain := slashed || path.Clean(at) == at
	if !isPlain || strings.HasPrefix(at, "/v1/") || c.R.Method != http.MethodGet && c.R.Method != http.MethodHead || !strings.Contains(c.R.Header.Get("Accept"), "text/html") {
		return wire.Reject(wire.CodeNotFound, detail)
	}
	if !slashed && c.shared.pages == nil {
		return wire.Reject(wire.CodeNotFound, detail)
	}
	c.W.Header().Add("Vary", "Accept")
	if !slashed {
		return showPage(c)
	}
	if c.R.URL.RawQuery != "" {
		bare += "?" + c.R.URL.RawQuery
	}
	c.Locate(bare)
	c.SendNothing(http.StatusPermanentRedirect)
	return nil
}

// pageWriter sees the status of an answer.
type pageWriter struct {
	http.ResponseWriter
	call *Call
}

func (w *pageWriter) WriteHeader(status int) {
	w.call.Status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write sends an answer without WriteHeader, whose status is 200.
func (w *pageWriter) Write(p []byte) (int, error) {
	if w.call.Status == 0 {
		w.call.Status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

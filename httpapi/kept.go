package httpapi

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Bounds of keptAnswers, in bytes.
const (
	maxKept     = 4 << 20
	keptBesides = 768 // what an answer counts besides its bodies: itself, its place with the page
)

// keptAnswers bounds what is kept of shared answers in their encoded form, with each of them, so that one that is served many
// times is encoded once, and compressed once: to encode a page of 100 entries takes five times as long as all other work on
// it. When there is too much it is all dropped.
type keptAnswers struct {
	mu    sync.Mutex
	bytes int64
	kept  []*keptModes // those with a form since all were dropped, some more than once
}

// keptModes are the encoded forms of one answer in each mode, by modeIndex; then the same with wide numbers as strings; then all of
// these with what is kept with its entries.
type keptModes [16]atomic.Pointer[keptAnswer]

func modeIndex(m leaderboard.Mode) int {
	switch m {
	case leaderboard.ModeTied:
		return 1
	case leaderboard.ModeDense:
		return 2
	case leaderboard.ModeAll:
		return 3
	default:
		return 0
	}
}

// keptAnswer is the encoded form of an answer. Only zipped may change.
type keptAnswer struct {
	envelope
	shown  Besides // beside the entries
	plain  coded
	zipped atomic.Pointer[coded] // made when it is first asked for
}

// envelope is all that an encoded answer in one mode depends on besides the answer itself.
type envelope struct {
	board, period string
	window        leaderboard.Window
	state         leaderboard.State
	etag          wire.ETag // of the question too
}

// coded is a body in one content coding, with the header fields that are its own: each a list of one.
type coded struct {
	body         []byte
	etag, length []string
}

func newCoded(body []byte, etag string) coded {
	return coded{body: body, etag: []string{etag}, length: []string{strconv.Itoa(len(body))}}
}

// formsOf returns the forms that are kept with a shared page.
func formsOf(page *leaderboard.Page) *keptModes {
	forms := page.Encoded.Forms()
	if forms == nil {
		forms = page.Encoded.Keep(&keptModes{})
	}
	return forms.(*keptModes)
}

// slot returns where the form in a mode is.
func (m *keptModes) slot(mode leaderboard.Mode, strings, shows bool) *atomic.Pointer[keptAnswer] {
	form := modeIndex(mode)
	if strings {
		form += len(keptModes{}) / 4
	}
	if shows {
		form += len(keptModes{}) / 2
	}
	return &m[form]
}

// keptBeside returns what a form that is kept shows beside the entries of a page; nil: it has to be looked up.
func (on *Target) keptBeside(page *leaderboard.Page, strings bool) Besides {
	if page.Encoded == nil || len(on.Shows) != 1 || isAbout(on.Shows[0]) {
		return nil
	}
	if kept := formsOf(page).slot(on.Query.Mode, strings, true).Load(); kept != nil {
		return kept.shown
	}
	return nil
}

// put keeps a form of an answer.
func (k *keptAnswers) put(modes *keptModes, slot *atomic.Pointer[keptAnswer], next *keptAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	size := len(next.plain.body)
	if next.shown != nil {
		size *= 2 // it is in the body too
	}
	if size > maxKept {
		return // it has no room
	}
	k.grow(size)
	k.kept = append(k.kept, modes)
	slot.Store(next)
}

// putZipped keeps the compressed form of one that is kept.
func (k *keptAnswers) putZipped(kept *keptAnswer, form *coded) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.grow(len(form.body))
	kept.zipped.Store(form)
}

// grow makes room for so many bytes more.
func (k *keptAnswers) grow(bytes int) {
	size := int64(bytes) + keptBesides
	if k.bytes += size; k.bytes > maxKept {
		k.drop()
		k.bytes = size
	}
}

// drop drops all forms.
func (k *keptAnswers) drop() {
	for _, modes := range k.kept {
		for i := range modes {
			modes[i].Store(nil)
		}
	}
	k.kept = nil
}

// respondShared is answer for a page that many requests share, with what lasts beside its entries.
func (k *keptAnswers) respondShared(
	c *Call, page *leaderboard.Page, on *Target, st *leaderboard.State, shown Besides, etag wire.ETag, body func([]byte) []byte,
) error {
	st = on.marked(st)
	etag = c.form(etag)
	e := envelope{on.Ref.Board, on.Ref.Name, on.Ref.Window, *st, etag}
	modes := formsOf(page)
	slot := modes.slot(on.Query.Mode, c.Strings, shown != nil)
	kept := slot.Load()
	if kept == nil || kept.envelope != e {
		buf := c.shared.buffer()
		*buf = append(body(appendCommon((*buf)[:0], on, st)), "}\n"...)
		kept = &keptAnswer{envelope: e, shown: shown, plain: newCoded(c.copied(*buf), etag.Tag(st.Seq))}
		c.shared.release(buf)
		k.put(modes, slot, kept)
	}
	form := &kept.plain
	if c.notModified(on, st, form.etag) {
		return nil
	}
	h := c.W.Header()
	if len(form.body) >= wire.MinCompressed {
		h["Vary"] = c.shared.values.vary
		if wire.TakesGzip(c.R.Header) {
			form = k.zipped(c, kept)
			h["Content-Encoding"] = c.shared.values.gzip
			h["Etag"] = form.etag
		}
	}
	h["Content-Type"] = c.shared.values.json
	h["Content-Length"] = form.length
	return c.deliver(http.StatusOK, form.body, len(form.body))
}

// zipped returns the compressed form of an answer.
func (k *keptAnswers) zipped(c *Call, kept *keptAnswer) *coded {
	if z := kept.zipped.Load(); z != nil {
		return z
	}
	form := newCoded(bytes.Clone(c.shared.zippers.Zip(nil, kept.plain.body)), wire.GzipTag(kept.plain.etag[0]))
	k.putZipped(kept, &form)
	return &form
}

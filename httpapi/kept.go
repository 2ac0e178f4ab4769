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
	keptBesides = 768 // bytes that count for an answer in addition to its bodies: the struct, its place with the page
)

// keptAnswers bounds the memory of shared answers in their encoded forms. The forms are kept with each answer, so that an answer
// that is served many times is encoded once, and compressed once: to encode a page of 100 entries takes five times as long as all
// other work on it. Beyond the bound all forms are dropped.
type keptAnswers struct {
	mu    sync.Mutex
	bytes int64
	kept  []*keptModes // pages with a form since all forms were dropped, some more than once
}

// keptModes are the encoded forms of one answer in each mode, by modeIndex; then the same with wide numbers as strings; then all
// of these with data kept with entries.
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
	shown  Extras // the data shown with the entries
	plain  coded
	zipped atomic.Pointer[coded] // made when it is first asked for
}

// envelope has all values, except the page, on which an encoded answer in one mode depends.
type envelope struct {
	board, period string
	window        leaderboard.Window
	state         leaderboard.State
	etag          wire.ETag // of the question too
}

// coded is a body in one content coding, with the header fields of this form: each a list of one.
type coded struct {
	body         []byte
	etag, length []string
}

func newCoded(body []byte, etag string) coded {
	return coded{body: body, etag: []string{etag}, length: []string{strconv.Itoa(len(body))}}
}

// formsOf returns the encoded forms of a shared page.
func formsOf(page *leaderboard.Page) *keptModes {
	forms := page.Encoded.Forms()
	if forms == nil {
		forms = page.Encoded.Keep(&keptModes{})
	}
	return forms.(*keptModes)
}

// slot returns the place of the form in a mode.
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

// keptExtras returns the data that a kept form shows with the entries of a page; nil: the data must be looked up.
func (on *Target) keptExtras(page *leaderboard.Page, strings bool) Extras {
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
		return // it is too large to keep
	}
	k.grow(size)
	k.kept = append(k.kept, modes)
	slot.Store(next)
}

// putZipped keeps the compressed form of a kept answer.
func (k *keptAnswers) putZipped(kept *keptAnswer, form *coded) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.grow(len(form.body))
	kept.zipped.Store(form)
}

// grow makes room for that many more bytes.
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

// respondShared is Call.Answer for a page that many requests share; shown are data that last.
func (k *keptAnswers) respondShared(
	c *Call, page *leaderboard.Page, on *Target, st *leaderboard.State, shown Extras, etag wire.ETag, body func([]byte) []byte,
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
		if wire.AcceptsGzip(c.R.Header) {
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

package oidc

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Options adjust how the keys that an issuer publishes are asked for; the zero value is fit for production.
type Options struct {
	Hold    time.Duration // how long they are good without another question, 10 min
	Every   time.Duration // how often they are asked for at most, 1 min
	Log     *slog.Logger
	OnFetch func() // called for each question; for tests
}

func (o Options) withDefaults() Options {
	o.Hold = cmp.Or(o.Hold, 10*time.Minute)
	o.Every = cmp.Or(o.Every, time.Minute)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.OnFetch == nil {
		o.OnFetch = func() {}
	}
	return o
}

// Published are the keys that an issuer publishes. They are valid for Options.Hold, and longer while the issuer is away.
// All methods may be called concurrently.
type Published struct {
	name, url string
	fetcher   *Fetcher
	opts      Options

	held atomic.Pointer[held]

	mu      sync.Mutex // one question at a time
	fetched time.Time  // when the last one began
}

// NewPublished returns the keys at an address, which are not fetched yet. name is the issuer's name in messages.
func NewPublished(name, url string, fetcher *Fetcher, opts Options) *Published {
	return &Published{name: name, url: url, fetcher: fetcher, opts: opts.withDefaults()}
}

// URL returns where the keys are.
func (p *Published) URL() string { return p.url }

// Known returns the last fetched keys, nil before the first fetch. It fetches nothing.
func (p *Published) Known() *KeySet { return p.held.Load().keys() }

// held is keys and when they were asked for. The set is the same one while its text is.
type held struct {
	set  *KeySet
	text []byte
	at   time.Time
}

// has reports whether keys that are valid at a time include a kid.
func (h *held) has(kid string, now time.Time, hold time.Duration) bool {
	if h == nil || now.Sub(h.at) > hold {
		return false
	}
	_, ok := h.set.keys[kid]
	return ok || kid == "" && len(h.set.keys) == 1
}

// Current returns the keys that are valid at a time, or nil. It may fetch them, also if a kid is not among the known ones:
// at most once a minute.
func (p *Published) Current(ctx context.Context, now time.Time, kid string) *KeySet {
	h := p.held.Load()
	if !h.has(kid, now, p.opts.Hold) {
		h = p.renew(ctx, now, kid)
	}
	return h.keys()
}

// keys returns the set, or nil.
func (h *held) keys() *KeySet {
	if h == nil {
		return nil
	}
	return h.set
}

// renew fetches the keys, unless they were fetched within Options.Every, and returns the known keys. During the fetch known
// keys stay valid: an issuer that hangs delays one request, not all of them.
func (p *Published) renew(ctx context.Context, now time.Time, kid string) *held {
	if !p.mu.TryLock() {
		if before := p.held.Load(); before.has(kid, now, math.MaxInt64) {
			return before
		}
		p.mu.Lock()
	}
	defer p.mu.Unlock()
	before := p.held.Load()
	if before.has(kid, now, p.opts.Hold) || !p.fetched.IsZero() && now.Sub(p.fetched) < p.opts.Every {
		return before
	}
	p.fetched = now
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), FetchFor) // others wait for it too
	defer cancel()
	after, err := p.fetch(ctx, before, now)
	if err != nil {
		p.opts.Log.Warn("the keys of an issuer cannot be asked for", "issuer", p.name, "error", err)
		return before
	}
	p.held.Store(after)
	return after
}

func (p *Published) fetch(ctx context.Context, before *held, now time.Time) (*held, error) {
	p.opts.OnFetch()
	text, err := p.fetcher.Fetch(ctx, p.url)
	if err != nil {
		return nil, err
	}
	if before != nil && bytes.Equal(text, before.text) {
		return &held{before.set, text, now}, nil
	}
	set, err := ParseKeys(text)
	if err != nil {
		return nil, err
	}
	for _, k := range set.Passed {
		p.opts.Log.Warn("a key of an issuer is not used", "issuer", p.name, "kid", k.KID, "reason", k.Reason)
	}
	return &held{set, text, now}, nil
}

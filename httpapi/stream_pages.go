package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// streamPages gets the pages that streams send: answers of other routes, for which no request waits.
type streamPages struct {
	reader *reader
	shared *shared
	top    *route // whose answers are sent
	around *route
}

// ask gets the answer of a route that a stream gives. known is what was sent last; nil: there is nothing new.
func (h *streamPages) ask(ctx context.Context, key broadcastKey, known *event, least int64) (*event, error) {
	r := (&http.Request{Method: http.MethodGet, Header: http.Header{}}).WithContext(ctx)
	if known.tag != "" && !known.stale { // that a state is not stale any more is news too
		r.Header["If-None-Match"] = []string{known.tag}
	}
	out := recorded{header: http.Header{}}
	all := leaderboard.Key{Scope: leaderboard.ScopeRead} // every client of the broadcast may read its board; none is an admin here
	c := call{response: response{shared: h.shared, w: &out, r: r, strings: key.strings}, credentials: credentials{key: &all, scope: all.Scope}, ctx: ctx}
	c.follow(h.top)
	if key.member != "" {
		c.follow(h.around)
	}
	c.path = c.pattern.fill(key.board, key.member)
	c.query.Items = key.params(least)
	err := c.route.handle(&c)
	if errors.Is(err, leaderboard.ErrNotRanked) {
		err = h.reader.aroundUnranked(&c)
	}
	if err != nil {
		return nil, err
	}
	tag, stale := out.tag(), c.resolved.stale
	if out.status != http.StatusOK || tag == known.tag && stale == known.stale {
		return nil, nil
	}
	e := &event{tag: tag, stale: stale, period: c.resolved.periodID, revision: c.resolved.revision}
	b := append(e.text, "id: "...)
	b = strconv.AppendInt(append(append(b, c.resolved.period...), '.'), e.revision.Seq, 10)
	b = append(append(b, "\nevent: page\ndata: "...), bytes.TrimSpace(out.body)...)
	e.text = append(b, "\n\n"...)
	return e, nil
}

// params are the parameters of the route that a broadcast asks.
func (k *broadcastKey) params(least int64) []wire.Param {
	params := []wire.Param{{Name: "window", Value: k.window}, {Name: "mode", Value: string(k.mode)}}
	params = slices.DeleteFunc(params, func(p wire.Param) bool { return p.Value == "" })
	if k.member == "" {
		params = append(params, wire.Param{Name: "limit", Value: strconv.Itoa(k.limit)})
	} else {
		params = append(params, wire.Param{Name: "before", Value: strconv.Itoa(k.before)}, wire.Param{Name: "after", Value: strconv.Itoa(k.after)})
	}
	if least > 0 {
		params = append(params, wire.Param{Name: "min_seq", Value: strconv.FormatInt(least, 10)})
	}
	return params
}

// recorded is an answer that is not sent.
type recorded struct {
	header http.Header
	status int
	body   []byte
}

// Header implements http.ResponseWriter.
func (r *recorded) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorded) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *recorded) Write(b []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	r.body = append(r.body, b...)
	return len(b), nil
}

func (r *recorded) tag() string {
	if tag := r.header["Etag"]; len(tag) == 1 {
		return tag[0]
	}
	return ""
}

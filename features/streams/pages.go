package streams

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// streamPages gets the pages that streams send: answers of other routes, in the background.
type streamPages struct {
	find     httpapi.Resolver
	rankings leaderboard.Rankings
	api      func() *httpapi.API

	once        sync.Once
	top, around httpapi.Route // whose answers are sent
}

// begin finds the routes whose answers are sent.
func (h *streamPages) begin() {
	for _, rt := range h.api().Routes() {
		switch rt.Path {
		case "/v1/boards/{board}/top":
			h.top = rt
		case "/v1/boards/{board}/members/{member}/around":
			h.around = rt
		}
	}
}

// fetch gets the answer of a route for a stream. known is the last sent answer; it returns nil if nothing is new.
func (h *streamPages) fetch(ctx context.Context, key broadcastKey, known *event, least int64) (*event, error) {
	h.once.Do(h.begin)
	q := httpapi.Question{Route: &h.top, Path: []string{key.board}, Query: key.params(least), Strings: key.strings}
	if key.member != "" {
		q.Route, q.Path, q.Handle = &h.around, []string{key.board, key.member}, h.aroundOrNothing
	}
	if !known.stale { // the end of a stale state is news too
		q.Known = known.tag
	}
	out, err := h.api().Answer(ctx, q)
	if err != nil {
		return nil, err
	}
	if out.Status != http.StatusOK || out.Tag == known.tag && out.Stale == known.stale {
		return nil, nil
	}
	e := &event{tag: out.Tag, stale: out.Stale, period: out.PeriodID, revision: out.Revision}
	b := append(e.text, "id: "...)
	b = strconv.AppendInt(append(append(b, out.Period...), '.'), e.revision.Seq, 10)
	b = append(append(b, "\nevent: page\ndata: "...), bytes.TrimSpace(out.Body)...)
	e.text = append(b, "\n\n"...)
	return e, nil
}

// aroundOrNothing answers as around does, and without entries for a member without an entry.
func (h *streamPages) aroundOrNothing(c *httpapi.Call) error {
	err := h.around.Handle(c)
	if errors.Is(err, leaderboard.ErrNotRanked) {
		err = httpapi.AroundUnranked(c, h.find, h.rankings)
	}
	return err
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

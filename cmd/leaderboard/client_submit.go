package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// entryBody is an entry of POST …/scores.
type entryBody struct {
	Member   string `json:"member"`
	Score    int64  `json:"score"`
	Tiebreak *int64 `json:"tiebreak,omitempty"`

	Fields map[string]int64 `json:"fields,omitempty"`
}

// submitView is the answer to it.
type submitView struct {
	Results []struct {
		Member   string   `json:"member"`
		Status   string   `json:"status"`
		Score    *int64   `json:"score"`
		Previous *int64   `json:"previous_score"`
		Error    *problem `json:"error"`
	} `json:"results"`
	Seq  int64            `json:"seq"`
	Seqs map[string]int64 `json:"seqs"`
}

// submit sends scores, given as MEMBER=SCORE. It asks again under the same Idempotency-Key while the server says that
// it may be asked again, so that a lost answer never counts a score twice.
func (p *program) submit(ctx context.Context, cfg config, args []string) error {
	if len(args) < 2 {
		return usagef("want a board and scores, as in: leaderboard submit demo alice=90 bob=85")
	}
	entries, err := parseEntries(&cfg, args[1:])
	if err != nil {
		return err
	}
	key := cfg.idempotencyKey
	if key == "" {
		key = rand.Text()
	}
	answer, err := newClient(&cfg).persist(ctx, cfg.timeout, request{
		method: http.MethodPost, path: boardPath(args[0], "scores"),
		body:   map[string]any{"entries": entries},
		header: http.Header{"Idempotency-Key": {key}},
	})
	if err != nil {
		return err
	}
	var result submitView
	if err := json.Unmarshal(answer, &result); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if err := p.showSubmit(&cfg, answer, &result); err != nil {
		return err
	}
	for _, r := range result.Results {
		if r.Status == "rejected" {
			return errQuiet // the answer says why
		}
	}
	return nil
}

// parseEntries reads MEMBER=SCORE; the last = counts, since a member may hold one.
func parseEntries(cfg *config, args []string) ([]entryBody, error) {
	var entries []entryBody
	for _, arg := range args {
		at := strings.LastIndexByte(arg, '=')
		if at < 1 {
			return nil, usagef("want MEMBER=SCORE, not %q", arg)
		}
		score, err := strconv.ParseInt(arg[at+1:], 10, 64)
		if err != nil {
			return nil, usagef("want MEMBER=SCORE with a whole number from %d to %d, not %q", int64(-1<<63), int64(1<<63-1), arg)
		}
		entries = append(entries, entryBody{Member: arg[:at], Score: score, Tiebreak: cfg.tiebreak, Fields: cfg.fields})
	}
	return entries, nil
}

func (p *program) showSubmit(cfg *config, answer []byte, result *submitView) error {
	if cfg.json {
		return passJSON(p.out, answer)
	}
	t := newTable(p.out, "MEMBER", "STATUS", "SCORE", "BEFORE", "NOTE")
	for _, r := range result.Results {
		note := "-"
		if r.Error != nil {
			note = r.Error.Detail
		}
		t.row(r.Member, r.Status, orDash(r.Score), orDash(r.Previous), note)
	}
	if err := t.flush(); err != nil {
		return err
	}
	line := fmt.Sprintf("seq %d", result.Seq)
	for i, w := range slices.Sorted(maps.Keys(result.Seqs)) {
		line += []string{": ", ", "}[min(i, 1)] + fmt.Sprintf("%s %d", w, result.Seqs[w])
	}
	_, err := fmt.Fprintln(p.out, line)
	return err
}

func orDash(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// persist repeats a request that is safe to repeat while the answer is 503, until limit has passed.
func (c *client) persist(ctx context.Context, limit time.Duration, r request) ([]byte, error) {
	deadline := time.Now().Add(limit)
	for {
		answer, _, err := c.do(ctx, r)
		var p *problem
		if err == nil || !errors.As(err, &p) || p.Status != http.StatusServiceUnavailable {
			return answer, err
		}
		wait := max(p.retryAfter, 100*time.Millisecond)
		if time.Until(deadline) < wait {
			return nil, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		case <-timer.C:
		}
	}
}

package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"leaderboard"
	"leaderboard/client"
	"leaderboard/internal/terminal"
)

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
	answer, err := p.do(ctx, &cfg, client.SubmitRequest(args[0], entries, client.SubmitOptions{IdempotencyKey: cfg.idempotencyKey}),
		client.WithMaxWait(cfg.timeout))
	if err != nil {
		return err
	}
	var result client.Receipt
	if err := answer.Decode(&result); err != nil {
		return err
	}
	if err := p.showSubmit(&cfg, answer.Body, &result); err != nil {
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
func parseEntries(cfg *config, args []string) ([]leaderboard.Submission, error) {
	var entries []leaderboard.Submission
	for _, arg := range args {
		at := strings.LastIndexByte(arg, '=')
		if at < 1 {
			return nil, usagef("want MEMBER=SCORE, not %q", arg)
		}
		score, err := strconv.ParseInt(arg[at+1:], 10, 64)
		if err != nil {
			return nil, usagef("want MEMBER=SCORE with a whole number from %d to %d, not %q", int64(-1<<63), int64(1<<63-1), arg)
		}
		entries = append(entries, leaderboard.Submission{Member: arg[:at], Score: score, Tiebreak: cfg.tiebreak, Fields: cfg.fields})
	}
	return entries, nil
}

func (p *program) showSubmit(cfg *config, answer []byte, result *client.Receipt) error {
	if cfg.json {
		return terminal.PassJSON(p.out, answer)
	}
	t := terminal.NewTable(p.out, "MEMBER", "STATUS", "SCORE", "BEFORE", "NOTE")
	for _, r := range result.Results {
		note := "-"
		if r.Error != nil {
			note = r.Error.Detail
		}
		t.Row(r.Member, r.Status, orDash(r.Score), orDash(r.PreviousScore), note)
	}
	if err := t.Flush(); err != nil {
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

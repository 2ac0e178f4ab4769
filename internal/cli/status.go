package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// statusEvery is between two looks of --watch.
const statusEvery = 2 * time.Second

// statusCommand shows how the server and its boards stand, once or again and again.
func (p *program) statusCommand() *cli.Command {
	r, watch := p.remote(), false
	return r.command("status", "show how the server and its boards stand: entries, freshness, copies, lag, rates", "", func(ctx context.Context, _ []string) error {
		c, err := r.connect()
		if err != nil {
			return err
		}
		if watch {
			return r.watchStatus(ctx, c)
		}
		return r.showStatus(ctx, c, r.out)
	}, &cli.BoolFlag{Name: "watch", Usage: "look again every two seconds, until Ctrl-C", Destination: &watch})
}

func (r *remote) watchStatus(ctx context.Context, c *client.Client) (err error) {
	live := terminal.NewLive(r.out)
	defer func() { err = errors.Join(err, live.Close()) }()
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	for {
		if r.json {
			err = r.showStatus(ctx, c, r.out)
		} else {
			err = live.Draw(func(w io.Writer) error { return r.showStatus(ctx, c, w) })
		}
		if ctx.Err() != nil {
			return nil // as asked
		}
		if err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (r *remote) showStatus(ctx context.Context, c *client.Client, w io.Writer) error {
	status, err := c.Status(ctx)
	if err != nil {
		return err
	}
	if r.json {
		return terminal.PrintJSON(w, status)
	}
	t := terminal.NewTable(w, "BOARD", "PERIOD", "ENTRIES", "AS OF", "COPY", "MEMORY", "LAG")
	for i := range status.Boards {
		b := &status.Boards[i]
		t.Inked(boardInk(b), b.Board, periodText(b), b.Entries, freshText(w, b), copyText(b), memoryText(b), lagText(b))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	s := &status.Server
	line := fmt.Sprintf("mysql %s, redis %s; %s requests/s, %s reads/s, %s writes/s, %d streams; %s since %s",
		s.MySQL, s.Redis, rateText(s.RequestsPerSecond), rateText(s.ReadsPerSecond), rateText(s.WritesPerSecond), s.Streams, s.Version, terminal.Time(w, s.StartedAt))
	ink := terminal.InkDim
	if s.MySQL == "away" || s.Redis == "away" {
		ink = terminal.InkRed
	}
	_, err = fmt.Fprintln(w, terminal.Paint(w, ink, line))
	return err
}

func boardInk(b *client.BoardStatus) terminal.Ink {
	if b.Stale {
		return terminal.InkRed
	}
	return terminal.InkNone
}

func periodText(b *client.BoardStatus) string {
	if b.Period == nil {
		return "-"
	}
	return *b.Period
}

func rateText(perSecond float64) string { return strconv.FormatFloat(perSecond, 'f', 1, 64) }

func freshText(w io.Writer, b *client.BoardStatus) string {
	text := "-"
	if b.AsOf != nil {
		text = terminal.Time(w, *b.AsOf)
	}
	if b.Stale {
		text += " stale"
	}
	return text
}

// copyText says how many changes the copy in Redis lacks.
func copyText(b *client.BoardStatus) string {
	switch {
	case b.Copy == nil:
		return "-"
	case b.Copy.Seq < b.Seq:
		return fmt.Sprintf("%d behind", b.Seq-b.Copy.Seq)
	default:
		return "ok"
	}
}

func memoryText(b *client.BoardStatus) string {
	if b.Resident {
		return "whole"
	}
	return "-"
}

func lagText(b *client.BoardStatus) string {
	switch {
	case b.Derived == nil:
		return "-"
	case b.Derived.LagMS == nil:
		return "unknown"
	default:
		return (time.Duration(*b.Derived.LagMS) * time.Millisecond).String()
	}
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

// watchOptions are the options of watch.
type watchOptions struct {
	readOptions
	around  int
	notices bool
}

func (p *program) watchCommand() *cli.Command {
	o := &watchOptions{readOptions: p.readOptions(), around: leaderboard.DefaultAround}
	around := whole(o.option("around", "show that many entries on each side of the member, 0 to 500; with watch to 49"), &o.around, 0, 49)
	around.HideDefault = true
	return o.command("watch", "show the top of a board, or who is around a member, as it changes, until Ctrl-C", "BOARD [MEMBER]", o.run,
		within(o.option("limit", "entries to show, 1 to 1000; with watch to 100"), &o.query.Limit, "streamPage", "limit"),
		around, o.modeFlag(&o.query.Mode, string(leaderboard.ModeAll)), windowFlag(&o.query.Window),
		&cli.BoolFlag{Name: "notices", Usage: "report also when another member passes the MEMBER, as the board's rule notify says", Destination: &o.notices})
}

func (o *watchOptions) run(ctx context.Context, args []string) error {
	q := client.WatchQuery{Window: o.query.Window, Mode: o.query.Mode, Limit: o.query.Limit}
	if len(args) == 2 {
		q.Member, q.Before, q.After = args[1], o.around, o.around
	}
	if o.notices && q.Member == "" {
		return usagef("--notices needs a MEMBER, as in: leaderboard watch demo ada --notices")
	}
	shown := &watched{o: o, member: q.Member, live: terminal.NewLive(o.out)}
	err := o.follow(ctx, args[0], q, shown)
	if ctx.Err() != nil {
		err = nil // as asked
	}
	return errors.Join(err, shown.live.Close())
}

// maxAway is how long a server may be away while its board is watched.
const maxAway = 24 * time.Hour

// watchEvent is a page, a notice, the reason why none came, or the end.
type watchEvent struct {
	page   *client.Page
	passed *client.MemberPassed
	wait   *client.Retry
	err    error
}

// follow shows the pages of a board's stream until it ends.
func (o *watchOptions) follow(ctx context.Context, board string, q client.WatchQuery, shown *watched) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := make(chan watchEvent)
	send := func(e watchEvent) {
		select {
		case events <- e:
		case <-ctx.Done():
		}
	}
	c, err := o.connect(client.WithMaxWait(maxAway), client.WithOnRetry(func(r client.Retry) { send(watchEvent{wait: &r}) }))
	if err != nil {
		return err
	}
	if o.notices {
		q.OnPassed = func(p client.MemberPassed) { send(watchEvent{passed: &p}) }
	}
	go func() {
		defer close(events)
		for page, err := range c.Watch(ctx, board, q) {
			send(watchEvent{page: &page, err: err})
		}
	}()
	resized, stop := terminal.Resized()
	defer stop()
	for {
		select {
		case e := <-events:
			err = shown.handle(e)
		case <-resized:
			err = shown.draw()
		case <-ctx.Done():
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// watched is the state of a board that is watched.
type watched struct {
	o       *watchOptions
	live    *terminal.Live
	member  string          // "": the top
	page    *client.Page    // the last one, or nil
	moves   map[string]move // by member
	passed  string          // the latest notice that the member was passed, "" before the first
	waiting string          // why no pages come; "": they do
}

// move is how many ranks a member has moved up, and the time of its last move.
type move struct {
	by int64
	at time.Time
}

// moveShown is how long a move is shown. Moves within this time of each other are added up.
const moveShown = 5 * time.Second

// note finds the moves from one page to the next.
func (s *watched) note(next *client.Page) {
	moves, ranks := map[string]move{}, map[string]int64{}
	if s.page != nil && s.page.Period == next.Period {
		for i := range s.page.Entries {
			ranks[s.page.Entries[i].Member] = rankOf(&s.page.Entries[i])
		}
	}
	for i := range next.Entries {
		e := &next.Entries[i]
		m := s.moves[e.Member]
		if time.Since(m.at) > moveShown {
			m = move{}
		}
		if before, ok := ranks[e.Member]; ok && before != rankOf(e) {
			m = move{m.by + before - rankOf(e), time.Now()}
		}
		moves[e.Member] = m
	}
	s.moves = moves
}

func rankOf(e *client.Entry) int64 { return cmp.Or(e.Rank, e.StrictRank) }

// handle shows an event. A server that does not answer is an error before the first page; later watch waits for it.
func (s *watched) handle(e watchEvent) error {
	switch {
	case e.err != nil:
		return e.err
	case e.wait != nil:
		if _, answered := errors.AsType[*client.Problem](e.wait.Err); s.page == nil && !answered {
			return e.wait.Err
		}
		s.waiting = waiting(s.o.url, *e.wait)
		if s.page == nil || !terminal.IsTerminal(s.o.out) {
			s.o.say("leaderboard: %s", s.waiting)
			return nil
		}
		return s.draw()
	case e.passed != nil:
		return s.showPassed(e.passed)
	case e.page == nil:
		return io.ErrUnexpectedEOF // the stream says why it ends
	}
	s.note(e.page)
	s.page, s.waiting = e.page, ""
	if s.o.json {
		return terminal.PrintJSON(s.o.out, s.page)
	}
	return s.draw()
}

// showPassed shows that the member was passed.
func (s *watched) showPassed(p *client.MemberPassed) error {
	if s.o.json {
		return terminal.PrintJSON(s.o.out, struct {
			Passed *client.MemberPassed `json:"passed"`
		}{p})
	}
	s.passed = fmt.Sprintf("%s passed %s: from %d to %d, ahead of %d.", terminal.Printable(p.By.Member), terminal.Printable(p.Member), p.By.PreviousScore, p.By.Score, p.Score)
	return s.draw()
}

// draw shows the page, and why no new ones come.
func (s *watched) draw() error {
	if s.page == nil || s.o.json {
		return nil
	}
	return s.live.Draw(func(w io.Writer) error {
		p, columns, more := s.page, terminal.Columns(w), []string(nil)
		if columns > 0 {
			more = append(more, "MOVED")
		}
		t := terminal.NewTable(w, entryHead(p.Mode, fieldsOf(p.Entries), more...)...)
		for i := range p.Entries {
			ink, cells := s.moved(&p.Entries[i])
			t.Inked(ink, entryCells(p.Mode, &p.Entries[i], cells[:len(more)]...)...)
		}
		if err := t.Flush(); err != nil {
			return err
		}
		absent := ""
		if s.member != "" && len(p.Entries) == 0 {
			absent = terminal.Printable(s.member) + " is not ranked."
		}
		for _, line := range []string{absent, s.passed, stateText(w, &p.State), s.waiting} {
			if columns > 0 {
				line = terminal.Cut(line, columns)
			}
			if line == "" {
				continue
			}
			if _, err := fmt.Fprintln(w, terminal.Paint(w, terminal.InkDim, line)); err != nil {
				return err
			}
		}
		return nil
	})
}

// moved returns the cell for the latest move of a member, and the ink of its row.
func (s *watched) moved(e *client.Entry) (terminal.Ink, []any) {
	m := s.moves[e.Member]
	switch shown := time.Since(m.at) <= moveShown; {
	case shown && m.by > 0:
		return terminal.InkGreen, []any{fmt.Sprintf("▲%d", m.by)}
	case shown && m.by < 0:
		return terminal.InkRed, []any{fmt.Sprintf("▼%d", -m.by)}
	case e.Member == s.member:
		return terminal.InkBold, []any{"-"}
	default:
		return terminal.InkNone, []any{"-"}
	}
}

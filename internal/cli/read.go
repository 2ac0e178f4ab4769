package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

// readOptions are the options of reading commands: a page of a period of one board, or of several that are ranked as one.
type readOptions struct {
	remote
	boardSelection
	query client.TopQuery
}

func (p *program) readOptions() readOptions {
	return readOptions{remote: p.remote()}
}

func (o *readOptions) flags() []cli.Flag {
	return []cli.Flag{
		within(o.option("limit", "entries to show, 1 to 1000; with watch to 100"), &o.query.Limit, "getTop", "limit"),
		within(o.option("offset", "entries to leave out from the top"), &o.query.Offset, "getTop", "offset"),
		o.modeFlag(&o.query.Mode, string(leaderboard.ModeAll)), windowFlag(&o.query.Window), periodFlag(&o.query.Period), o.minSeqFlag(&o.query.MinSeq),
		o.boardsFlag(), o.labelsFlag(&o.labels), metadataFlag(&o.query.Metadata),
	}
}

func (p *program) topCommand() *cli.Command {
	o := p.readOptions()
	return o.command("top", "show the best entries of a board, or of several", "BOARD | --boards BOARDS | --labels LABELS", o.top, o.flags()...)
}

func (o *readOptions) top(ctx context.Context, args []string) error {
	switch {
	case o.given() && len(args) > 0:
		return usagef("give one board, or --boards, or --labels")
	case o.given():
		return o.showCombined(func(c *client.Client, q client.BoardsQuery) (client.Combined, error) {
			return c.CombinedTop(ctx, q, o.query.Limit, o.query.Offset, "")
		})
	case len(args) != 1:
		return usagef("want one board, as in: leaderboard top demo; or several, as in: leaderboard top --boards moba,card")
	}
	return o.showPage(func(c *client.Client) (client.Page, error) { return c.Top(ctx, args[0], o.query) })
}

// showCombined shows entries of several boards.
func (o *readOptions) showCombined(ask func(*client.Client, client.BoardsQuery) (client.Combined, error)) error {
	if o.query.MinSeq > 0 {
		return usagef("--min-seq goes with one board: each counts its own changes")
	}
	if o.query.Metadata {
		return usagef("--with-metadata goes with one board")
	}
	query := client.BoardsQuery{Boards: o.boards(), Labels: o.labels, Window: o.query.Window, Period: o.query.Period, Mode: o.query.Mode}
	_, err := show(&o.remote, func(c *client.Client) (client.Combined, error) { return ask(c, query) }, func(page *client.Combined) error {
		var fields client.Fields // all boards that are ranked as one have the same ones
		if len(page.Entries) > 0 {
			fields = page.Entries[0].Fields
		}
		t := terminal.NewTable(o.out, entryHead(page.Mode, fields, "BOARD")...)
		for i := range page.Entries {
			t.Row(entryCells(page.Mode, &page.Entries[i].Entry, page.Entries[i].Board)...)
		}
		if err := t.Flush(); err != nil {
			return err
		}
		_, err := fmt.Fprint(o.out, combinedState(o.out, page))
		return err
	})
	return err
}

// combinedState names the state at which an answer is exact, with a line for each board.
func combinedState(w io.Writer, page *client.Combined) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d ranked on %s, %s, from %s%s\n", page.Total, counted(len(page.Boards), "board"), page.Mode, page.Source, staleText(page.Stale))
	for _, s := range page.Boards {
		fmt.Fprintf(&b, "%s, %s: %d ranked, seq %d as of %s\n", s.Board, s.Period, s.Total, s.Seq, terminal.Time(w, s.AsOf))
	}
	for _, board := range page.Absent {
		fmt.Fprintf(&b, "%s: no such period\n", board)
	}
	return b.String()
}

// rankOptions are the options of rank, which is about members or a score.
type rankOptions struct {
	readOptions
	around   *int
	friends  bool
	name     string
	score    *int64
	tiebreak *int64
	fields   map[string]int64
}

func (p *program) rankCommand() *cli.Command {
	o := &rankOptions{readOptions: p.readOptions()}
	flags := append(o.flags(),
		optional(within(o.option("around", "show that many entries on each side of the member, 0 to 500; with watch to 49"), new(int), "getAround", "before"), &o.around),
		optional(whole(o.option("score", "the score to rank"), new(int64), math.MinInt64, math.MaxInt64), &o.score))
	flags = append(append(flags, o.tiebreakFlags(&o.tiebreak, &o.fields)...),
		&cli.BoolFlag{Name: "friends", Usage: "rank the member among its friends", Destination: &o.friends},
		&cli.StringFlag{Name: "find", Usage: "find members whose shown name begins so, or is one letter", Destination: &o.name})
	return o.command("rank", "show the rank of members, or of a score; status 1 when none of the members is ranked",
		"BOARD MEMBER [MEMBER …] | BOARD --find NAME | BOARD --score SCORE | --boards BOARDS MEMBER | --labels LABELS MEMBER", o.run, flags...)
}

func (o *rankOptions) run(ctx context.Context, args []string) error {
	query := o.query.ReadQuery
	switch {
	case o.given() && (len(args) != 1 || o.score != nil || o.friends):
		return usagef("--boards and --labels go with one member and no board, as in: leaderboard rank --boards moba,card alice")
	case o.given():
		return o.combinedRank(ctx, args[0])
	case len(args) == 0:
		return usagef("want a board and members, as in: leaderboard rank demo alice bob")
	case o.name != "" && (len(args) != 1 || o.given() || o.score != nil || o.friends || o.around != nil):
		return usagef("--find goes with one board and no members, as in: leaderboard rank demo --find ada")
	case o.name != "":
		return o.findMembers(ctx, args[0])
	case o.score != nil && (len(args) > 1 || o.around != nil):
		return usagef("--score asks for the rank of a score: give no members and no --around")
	case o.score != nil:
		return o.scoreRank(ctx, args[0])
	case o.tiebreak != nil || o.fields != nil:
		return usagef("--tiebreak and --field go with --score")
	case len(args) == 1:
		return usagef("want members after the board, or --score, as in: leaderboard rank %s alice bob", args[0])
	case o.friends && (len(args) > 2 || o.around != nil):
		return usagef("--friends goes with one member, and not with --around")
	case o.friends:
		return o.friendsRank(ctx, args[0], args[1])
	case o.around != nil && len(args) > 2:
		return usagef("--around goes with one member")
	case o.around != nil:
		return o.showPage(func(c *client.Client) (client.Page, error) {
			return c.Around(ctx, args[0], args[1], *o.around, *o.around, query)
		})
	case len(args) == 2:
		return o.memberRank(ctx, args[0], args[1])
	default:
		return o.memberRanks(ctx, args[0], args[1:])
	}
}

// findMembers shows the members whose shown name begins with o.name.
func (o *rankOptions) findMembers(ctx context.Context, board string) error {
	q := client.FindQuery{ReadQuery: o.query.ReadQuery, Name: o.name, Limit: min(o.query.Limit, 100)}
	q.Profiles = true
	_, err := show(&o.remote, func(c *client.Client) (client.Found, error) { return c.FindMembers(ctx, board, q) }, func(found *client.Found) error {
		t := terminal.NewTable(o.out, entryHead(found.Mode, fieldsOf(found.Entries), "NAME")...)
		for i := range found.Entries {
			e := &found.Entries[i]
			name := e.Member
			if e.Profile != nil && e.Profile.DisplayName != "" {
				name = e.Profile.DisplayName
			}
			t.Row(entryCells(found.Mode, e, name)...)
		}
		if err := o.endTable(t, &found.State); err != nil || !found.Partial && found.NextCursor == "" {
			return err
		}
		_, err := fmt.Fprintln(o.out, "There may be more: give more letters, or a larger --limit.")
		return err
	})
	return err
}

// combinedRank shows the entries of a member on several boards, or those around the best of them.
func (o *rankOptions) combinedRank(ctx context.Context, member string) error {
	err := o.showCombined(func(c *client.Client, q client.BoardsQuery) (client.Combined, error) {
		if o.around != nil {
			return c.CombinedAround(ctx, member, *o.around, *o.around, q)
		}
		return c.CombinedMember(ctx, member, q)
	})
	if errors.Is(err, leaderboard.ErrNotRanked) {
		return fmt.Errorf("%s is not ranked on any of these boards", terminal.Printable(member))
	}
	return err
}

// memberRanks shows the ranks of several members. It fails when none of them is ranked, as grep does when nothing matches.
func (o *rankOptions) memberRanks(ctx context.Context, board string, members []string) error {
	page, err := show(&o.remote, func(c *client.Client) (client.Ranks, error) { return c.Ranks(ctx, board, members, o.query.ReadQuery) },
		func(page *client.Ranks) error { return o.printEntries(page.Entries, page.NotRanked, &page.State) })
	if err == nil && len(page.Entries) == 0 {
		err = fmt.Errorf("none of these members is ranked on %s", board)
	}
	return err
}

func (o *rankOptions) memberRank(ctx context.Context, board, member string) error {
	_, err := show(&o.remote, func(c *client.Client) (client.MemberEntry, error) {
		return c.Member(ctx, board, member, o.query.ReadQuery)
	},
		func(one *client.MemberEntry) error {
			t := terminal.NewTable(o.out, o.withMetadata(entryHead(one.Mode, one.Fields, "PERCENTILE"))...)
			t.Row(o.metadataCells(entryCells(one.Mode, &one.Entry, one.Percentile), &one.Entry)...)
			return o.endTable(t, &one.State)
		})
	if errors.Is(err, leaderboard.ErrNotRanked) {
		return fmt.Errorf("%s is not ranked on %s", terminal.Printable(member), board)
	}
	return err
}

func (o *rankOptions) scoreRank(ctx context.Context, board string) error {
	q := client.ScoreQuery{Window: o.query.Window, Period: o.query.Period, MinSeq: o.query.MinSeq, Score: *o.score, Tiebreak: o.tiebreak}
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		q.Fields = append(q.Fields, client.Field{Name: name, Value: o.fields[name]})
	}
	_, err := show(&o.remote, func(c *client.Client) (client.ScoreRank, error) { return c.ScoreRank(ctx, board, q) }, func(answer *client.ScoreRank) error {
		t := terminal.NewTable(o.out, "SCORE", "STRICT RANK", "TIED RANK")
		t.Row(*o.score, answer.StrictRank, answer.TiedRank)
		return o.endTable(t, &answer.State)
	})
	return err
}

// friendsRank shows a member among its friends. It fails when none of them is ranked.
func (o *rankOptions) friendsRank(ctx context.Context, board, member string) error {
	answer, err := show(&o.remote, func(c *client.Client) (client.FriendRanks, error) {
		return c.FriendRanks(ctx, board, member, o.query.Limit, int(o.query.Offset), o.query.ReadQuery)
	}, func(answer *client.FriendRanks) error { return o.printFriends(member, answer) })
	if err == nil && answer.Ranked == 0 {
		err = fmt.Errorf("neither %s nor a friend is ranked on %s", terminal.Printable(member), board)
	}
	return err
}

func (o *rankOptions) printFriends(member string, answer *client.FriendRanks) error {
	rows := answer.Entries
	if answer.Self != nil && !slices.ContainsFunc(rows, func(e client.Entry) bool { return e.Member == member }) {
		rows = append(rows, *answer.Self)
	}
	t := terminal.NewTable(o.out, append([]string{"POSITION"}, o.withMetadata(entryHead(answer.Mode, fieldsOf(rows)))...)...)
	for i := range rows {
		t.Row(append([]any{rows[i].Position}, o.metadataCells(entryCells(answer.Mode, &rows[i]), &rows[i])...)...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.out, "%s, %d of all these are ranked\n%s\n", counted(answer.Friends, "friend"), answer.Ranked, stateText(o.out, &answer.State))
	return err
}

// distributionCommand shows a histogram, whose longest bar is 40 wide.
func (p *program) distributionCommand() *cli.Command {
	buckets, q := 0, client.ReadQuery{}
	count := within(p.option("buckets", "ranges of scores to count, 1 to 1000 (default: 40)"), &buckets, "getDistribution", "buckets")
	count.HideDefault = true
	return question(p, "distribution", "show how the scores of a board are distributed", "BOARD", func(ctx context.Context, c *client.Client, args []string) (client.Distribution, error) {
		return c.Distribution(ctx, args[0], buckets, q)
	}, func(r *remote, d *client.Distribution) error {
		var most int64
		for _, b := range d.Buckets {
			most = max(most, b.Count)
		}
		t := terminal.NewTable(r.out, "FROM", "TO", "ENTRIES", "")
		for _, b := range d.Buckets {
			t.Cells(fmt.Sprint(b.From), fmt.Sprint(b.To), fmt.Sprint(b.Count), strings.Repeat("█", int(math.Ceil(40*float64(b.Count)/float64(most)))))
		}
		return r.endTable(t, &d.State)
	}, count, windowFlag(&q.Window), periodFlag(&q.Period), p.minSeqFlag(&q.MinSeq))
}

func (o *readOptions) showPage(ask func(*client.Client) (client.Page, error)) error {
	_, err := show(&o.remote, ask, func(page *client.Page) error { return o.printEntries(page.Entries, nil, &page.State) })
	return err
}

func (o *readOptions) printEntries(entries []client.Entry, notRanked []string, state *client.State) error {
	fields := fieldsOf(entries)
	t := terminal.NewTable(o.out, o.withMetadata(entryHead(state.Mode, fields))...)
	for i := range entries {
		t.Row(o.metadataCells(entryCells(state.Mode, &entries[i]), &entries[i])...)
	}
	for _, member := range notRanked {
		t.Row(o.metadataCells(absentCells(state.Mode, fields, member), &client.Entry{})...)
	}
	return o.endTable(t, state)
}

// withMetadata adds the column of metadata, if it is asked for.
func (o *readOptions) withMetadata(head []string) []string {
	if o.query.Metadata {
		head = append(head, "METADATA")
	}
	return head
}

// metadataCells adds the cell for the column of withMetadata.
func (o *readOptions) metadataCells(cells []any, e *client.Entry) []any {
	if o.query.Metadata {
		cells = append(cells, cmp.Or(string(e.Metadata), "-"))
	}
	return cells
}

// absentCells returns the cells of a member that has no entry.
func absentCells(mode leaderboard.Mode, fields client.Fields, member string) []any {
	cells := entryCells(mode, &client.Entry{Fields: fields})
	for i := range cells {
		cells[i] = "-"
	}
	head := entryHead(mode, fields)
	cells[slices.Index(head, "MEMBER")], cells[len(cells)-1] = member, "not ranked"
	return cells
}

func (r *remote) endTable(t *terminal.Table, state *client.State) error {
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(r.out, stateText(r.out, state))
	return err
}

// stateText names the state at which an answer is exact.
func stateText(w io.Writer, s *client.State) string {
	return fmt.Sprintf("%s, %s: %d ranked, %s, seq %d as of %s, from %s%s",
		s.Board, s.Period, s.Total, s.Mode, s.Seq, terminal.Time(w, s.AsOf), s.Source, staleText(s.Stale))
}

func staleText(stale bool) string {
	if stale {
		return ", stale"
	}
	return ""
}

// fieldsOf returns the tiebreak fields of entries; all entries of a board have the same ones.
func fieldsOf(entries []client.Entry) client.Fields {
	if len(entries) == 0 {
		return nil
	}
	return entries[0].Fields
}

// entryHead returns the columns of a table of entries: ranks in a mode, and a column for each tiebreak field, or TIEBREAK.
func entryHead(mode leaderboard.Mode, fields client.Fields, more ...string) []string {
	head := []string{"RANK"}
	if mode == leaderboard.ModeAll {
		head = []string{"STRICT", "TIED", "DENSE"}
	}
	head = append(head, "MEMBER", "SCORE")
	for _, f := range fields {
		head = append(head, strings.ToUpper(f.Name))
	}
	if len(fields) == 0 {
		head = append(head, "TIEBREAK")
	}
	return append(append(head, "CREATED"), more...)
}

// entryCells returns the cells of an entry for a table with entryHead; more are the cells of its further columns.
func entryCells(mode leaderboard.Mode, e *client.Entry, more ...any) []any {
	cells := []any{e.Rank}
	if mode == leaderboard.ModeAll {
		dense := any(e.DenseRank)
		if e.DenseRank == 0 {
			dense = "-" // not known
		}
		cells = []any{e.StrictRank, e.TiedRank, dense}
	}
	cells = append(cells, e.Member, e.Score)
	for _, f := range e.Fields {
		cells = append(cells, f.Value)
	}
	if len(e.Fields) == 0 {
		cells = append(cells, e.Tiebreak)
	}
	return append(append(cells, e.CreatedTime), more...)
}

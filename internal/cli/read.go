package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard"
	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// readOptions say what is read: a page of a period, numbered in a mode.
type readOptions struct {
	remote
	limit          int
	offset, minSeq int64
	mode           string
	window, period string
}

func (p *program) readOptions() readOptions { return readOptions{remote: p.remote(), limit: 10} }

func (o *readOptions) flags() []cli.Flag {
	minSeq := whole(o.option("min-seq", "answer from a state at least this new, as a submit's answer names it"), &o.minSeq, 0, math.MaxInt64)
	minSeq.HideDefault = true
	return []cli.Flag{
		whole(o.option("limit", "entries to show, 1 to 1000; with watch to 100"), &o.limit, 1, 1000),
		whole(o.option("offset", "entries to leave out from the top"), &o.offset, 0, math.MaxInt64),
		o.modeFlag(&o.mode, string(leaderboard.ModeAll)), windowFlag(&o.window), periodFlag(&o.period), minSeq,
	}
}

// query returns what every read takes.
func (o *readOptions) query() url.Values {
	query := optionalValues("mode", o.mode, "window", o.window, "period", o.period)
	if o.minSeq > 0 {
		query.Set("min_seq", strconv.FormatInt(o.minSeq, 10))
	}
	return query
}

// topOptions are those of top: of one board, or of several that are ranked as one.
type topOptions struct {
	readOptions
	boards string
	labels leaderboard.Labels
}

func (p *program) topCommand() *cli.Command {
	o := &topOptions{readOptions: p.readOptions()}
	return o.command("top", "show the best entries of a board, or of several", "BOARD | --boards BOARDS | --labels LABELS", o.run, append(o.flags(),
		&cli.StringFlag{Name: "boards", Usage: "boards to rank as one, separated by commas: up to 50 that have the same order and tiebreak", Destination: &o.boards},
		o.labelsFlag(&o.labels))...)
}

func (o *topOptions) run(ctx context.Context, args []string) error {
	several := o.boards != "" || o.labels != nil
	switch {
	case several && len(args) > 0:
		return usagef("give one board, or --boards, or --labels")
	case several && o.minSeq > 0:
		return usagef("--min-seq goes with one board: each counts its own changes")
	case !several && len(args) != 1:
		return usagef("want one board, as in: leaderboard top demo; or several, as in: leaderboard top --boards moba,card")
	}
	query := o.query()
	query.Set("limit", strconv.Itoa(o.limit))
	if o.offset > 0 {
		query.Set("offset", strconv.FormatInt(o.offset, 10))
	}
	if several {
		return o.combined(ctx, query)
	}
	return o.showPage(ctx, client.Request{Method: http.MethodGet, Path: client.Path("boards", args[0], "top"), Query: query})
}

// combined shows the best entries of several boards.
func (o *topOptions) combined(ctx context.Context, query url.Values) error {
	if o.boards != "" {
		query.Set("boards", o.boards)
	}
	if o.labels != nil {
		query.Set("labels", o.labels.String())
	}
	var page client.Combined
	if done, err := o.ask(ctx, client.Request{Method: http.MethodGet, Path: "/v1/rankings/top", Query: query}, &page); done || err != nil {
		return err
	}
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
	_, err := fmt.Fprint(o.out, combinedState(&page))
	return err
}

// combinedState says what the answer is exact at, a line for each board.
func combinedState(page *client.Combined) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d ranked on %d boards, %s, from %s%s\n", page.Total, len(page.Boards), page.Mode, page.Source, staleText(page.Stale))
	for _, s := range page.Boards {
		fmt.Fprintf(&b, "%s, %s: %d ranked, seq %d as of %s\n", s.Board, s.Period, s.Total, s.Seq, timeText(s.AsOf))
	}
	for _, board := range page.Absent {
		fmt.Fprintf(&b, "%s: no such period\n", board)
	}
	return b.String()
}

// rankOptions are those of rank: of members, or of a score.
type rankOptions struct {
	readOptions
	around   *int
	friends  bool
	score    *int64
	tiebreak *int64
	fields   map[string]int64
}

func (p *program) rankCommand() *cli.Command {
	o := &rankOptions{readOptions: p.readOptions()}
	flags := append(o.flags(),
		optional(whole(o.option("around", "show that many entries on each side of the member, 0 to 500; with watch to 49"), new(int), 0, 500), &o.around),
		optional(whole(o.option("score", "the score to rank"), new(int64), math.MinInt64, math.MaxInt64), &o.score))
	flags = append(append(flags, o.tiebreakFlags(&o.tiebreak, &o.fields)...),
		&cli.BoolFlag{Name: "friends", Usage: "rank the member among its friends", Destination: &o.friends})
	return o.command("rank", "show the rank of members, or of a score; status 1 when none of the members is ranked",
		"BOARD MEMBER [MEMBER …] | BOARD --score SCORE", o.run, flags...)
}

func (o *rankOptions) run(ctx context.Context, args []string) error {
	query := o.query()
	switch {
	case len(args) == 0:
		return usagef("want a board and members, as in: leaderboard rank demo alice bob")
	case o.score != nil && (len(args) > 1 || o.around != nil):
		return usagef("--score asks for the rank of a score: give no members and no --around")
	case o.score != nil:
		query.Del("mode") // the answer has them all
		return o.scoreRank(ctx, args[0], query)
	case o.tiebreak != nil || o.fields != nil:
		return usagef("--tiebreak and --field go with --score")
	case len(args) == 1:
		return usagef("want members after the board, or --score, as in: leaderboard rank %s alice bob", args[0])
	case o.friends && (len(args) > 2 || o.around != nil):
		return usagef("--friends goes with one member, and not with --around")
	case o.friends:
		query.Set("limit", strconv.Itoa(o.limit))
		query.Set("offset", strconv.FormatInt(o.offset, 10))
		return o.friendsRank(ctx, args[0], args[1], query)
	case o.around != nil && len(args) > 2:
		return usagef("--around goes with one member")
	case o.around != nil:
		query.Set("before", strconv.Itoa(*o.around))
		query.Set("after", strconv.Itoa(*o.around))
		return o.showPage(ctx, client.Request{Method: http.MethodGet, Path: client.Path("boards", args[0], "members", args[1], "around"), Query: query})
	case len(args) == 2:
		return o.memberRank(ctx, args[0], args[1], query)
	default:
		return o.memberRanks(ctx, args[0], args[1:], query)
	}
}

// memberRanks shows the ranks of several members. As grep does, it fails when it finds none of them.
func (o *rankOptions) memberRanks(ctx context.Context, board string, members []string, query url.Values) error {
	var page client.Ranks
	err := o.askAndShow(ctx, client.Request{
		Method: http.MethodPost, Path: client.Path("boards", board, "ranks"), Query: query, Body: map[string]any{"members": members},
	}, &page, func() error { return o.printEntries(page.Entries, page.NotRanked, &page.State) })
	if err == nil && len(page.Entries) == 0 {
		err = fmt.Errorf("none of these members is ranked on %s", board)
	}
	return err
}

func (o *rankOptions) memberRank(ctx context.Context, board, member string, query url.Values) error {
	var one client.MemberEntry
	done, err := o.ask(ctx, client.Request{Method: http.MethodGet, Path: client.Path("boards", board, "members", member), Query: query}, &one)
	if errors.Is(err, leaderboard.ErrNotRanked) {
		return fmt.Errorf("%s is not ranked on %s", terminal.Printable(member), board)
	}
	if done || err != nil {
		return err
	}
	t := terminal.NewTable(o.out, entryHead(one.Mode, one.Fields, "PERCENTILE")...)
	t.Row(entryCells(one.Mode, &one.Entry, one.Percentile)...)
	return o.endTable(t, &one.State)
}

func (o *rankOptions) scoreRank(ctx context.Context, board string, query url.Values) error {
	if o.tiebreak != nil {
		query.Set("tiebreak", strconv.FormatInt(*o.tiebreak, 10))
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		pairs = append(pairs, name+":"+strconv.FormatInt(o.fields[name], 10))
	}
	if pairs != nil {
		query.Set("fields", strings.Join(pairs, ","))
	}
	path := client.Path("boards", board, "scores", strconv.FormatInt(*o.score, 10), "rank")
	var answer client.ScoreRank
	if done, err := o.ask(ctx, client.Request{Method: http.MethodGet, Path: path, Query: query}, &answer); done || err != nil {
		return err
	}
	t := terminal.NewTable(o.out, "SCORE", "STRICT RANK", "TIED RANK")
	t.Row(*o.score, answer.StrictRank, answer.TiedRank)
	return o.endTable(t, &answer.State)
}

// friendsRank shows a member among its friends. It fails when nobody of all these is ranked.
func (o *rankOptions) friendsRank(ctx context.Context, board, member string, query url.Values) error {
	var answer client.FriendRanks
	err := o.askAndShow(ctx, client.Request{
		Method: http.MethodGet, Path: client.Path("boards", board, "members", member, "friends"), Query: query,
	}, &answer, func() error { return o.printFriends(member, &answer) })
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
	var fields client.Fields // all entries of a board have the same ones
	if len(rows) > 0 {
		fields = rows[0].Fields
	}
	t := terminal.NewTable(o.out, append([]string{"POSITION"}, entryHead(answer.Mode, fields)...)...)
	for i := range rows {
		t.Row(append([]any{rows[i].Position}, entryCells(answer.Mode, &rows[i])...)...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.out, "%d friends, %d of all these are ranked\n%s\n", answer.Friends, answer.Ranked, stateText(&answer.State))
	return err
}

func (o *readOptions) showPage(ctx context.Context, r client.Request) error {
	var page client.Page
	if done, err := o.ask(ctx, r, &page); done || err != nil {
		return err
	}
	return o.printEntries(page.Entries, nil, &page.State)
}

func (o *readOptions) printEntries(entries []client.Entry, notRanked []string, state *client.State) error {
	var fields client.Fields // all entries of a board have the same ones
	if len(entries) > 0 {
		fields = entries[0].Fields
	}
	t := terminal.NewTable(o.out, entryHead(state.Mode, fields)...)
	for i := range entries {
		t.Row(entryCells(state.Mode, &entries[i])...)
	}
	for _, member := range notRanked {
		t.Row(absentCells(state.Mode, fields, member)...)
	}
	return o.endTable(t, state)
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

func (o *readOptions) endTable(t *terminal.Table, state *client.State) error {
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.out, "%s\n", stateText(state))
	return err
}

// stateText names the state that an answer is exact at.
func stateText(s *client.State) string {
	return fmt.Sprintf("%s, %s: %d ranked, %s, seq %d as of %s, from %s%s",
		s.Board, s.Period, s.Total, s.Mode, s.Seq, timeText(s.AsOf), s.Source, staleText(s.Stale))
}

func staleText(stale bool) string {
	if stale {
		return ", stale"
	}
	return ""
}

// entryHead returns the columns of a table of entries with ranks in a mode that have these tiebreak fields: one for
// each, or TIEBREAK.
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

// entryCells returns the cells of a table with entryHead, and those of its further columns.
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
	return append(append(cells, timeText(e.CreatedTime)), more...)
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/cache/topn"
	"leaderboard/client"
	"leaderboard/internal/app"
	"leaderboard/internal/settings"
	"leaderboard/internal/terminal"
	"leaderboard/internal/transfer"
	"leaderboard/leaderboard"
)

// submitOptions are the options of submit: to one board, or to several in one transaction.
type submitOptions struct {
	remote
	boardSelection
	tiebreak           *int64
	fields             map[string]int64
	idempotencyKey     string
	standings, friends bool
	mode               leaderboard.Mode
	play               string
	terms              submitTerms
}

func (p *program) submitCommand() *cli.Command {
	o := &submitOptions{remote: p.remote()}
	return o.command("submit", "submit scores to a board, or the same ones to several", "BOARD MEMBER=SCORE [MEMBER=SCORE …] | --boards BOARDS MEMBER=SCORE [MEMBER=SCORE …]", o.run,
		append(append(o.tiebreakFlags(&o.tiebreak, &o.fields), idempotencyKeyFlag(&o.idempotencyKey), o.boardsFlag(),
			&cli.BoolFlag{Name: "standings", Usage: "show which rank each member has, and had before", Destination: &o.standings},
			o.modeFlag(&o.mode),
			&cli.StringFlag{Name: "play", Usage: "`token` of the play that a player submits with", Destination: &o.play},
			&cli.BoolFlag{Name: "passed", Usage: "with --standings: name the friends that each member has passed", Destination: &o.friends}), o.termFlags(&o.terms)...)...)
}

// run sends scores, given as MEMBER=SCORE. It repeats the request with the same Idempotency-Key while the server allows it, so
// that a lost answer never counts a score twice.
func (o *submitOptions) run(ctx context.Context, args []string) (err error) {
	boards := o.boards()
	if boards == nil && len(args) > 0 {
		boards, args = args[:1], args[1:]
	}
	if len(args) == 0 {
		return usagef("want a board and scores, as in: leaderboard submit demo alice=90 bob=85; or several boards, as in: leaderboard submit --boards moba,card alice=90")
	}
	if o.play != "" && (o.given() || len(args) > 1) {
		return usagef("--play is for one score on one board")
	}
	if !o.standings && (o.friends || o.mode != "") {
		return usagef("--passed and --mode go with --standings")
	}
	entries, err := o.entries(args)
	if err != nil {
		return err
	}
	var results []client.Result
	key, again := client.SubmitOptions{
		IdempotencyKey: o.idempotencyKey, Atomic: o.terms.atomic, Standings: o.standings, Mode: o.mode, Friends: o.friends, Play: o.play,
	}, client.WithMaxWait(o.timeout)
	if !o.given() {
		var receipt client.Receipt
		receipt, err = show(&o.remote, func(c *client.Client) (client.Receipt, error) { return c.Submit(ctx, boards[0], entries, key) }, o.printReceipt, again)
		results = receipt.Results
	} else {
		var receipt client.MultiBoardReceipt
		receipt, err = show(&o.remote, func(c *client.Client) (client.MultiBoardReceipt, error) {
			return c.SubmitMultiBoard(ctx, onEach(boards, entries), key)
		}, o.printReceipts, again)
		results = receipt.Results
	}
	if err == nil && slices.ContainsFunc(results, func(r client.Result) bool { return r.Status.Failed() && r.Status != leaderboard.StatusHeld }) {
		return errQuiet // the answer says why
	}
	return err
}

// onEach returns the submission of all entries to each board.
func onEach(boards []string, entries []leaderboard.Submission) (all []leaderboard.BoardSubmission) {
	for _, board := range boards {
		for _, e := range entries {
			all = append(all, leaderboard.BoardSubmission{Board: board, Submission: e})
		}
	}
	return all
}

// entries reads MEMBER=SCORE, split at the last =, since a member may contain one. With --set or --add the score may be left
// out.
func (o *submitOptions) entries(args []string) ([]leaderboard.Submission, error) {
	var entries []leaderboard.Submission
	for _, arg := range args {
		at := strings.LastIndexByte(arg, '=')
		if at < 0 && o.terms.edits() {
			at, arg = len(arg), arg+"="
		}
		if at < 1 {
			return nil, usagef("want MEMBER=SCORE, not %q", arg)
		}
		sub := leaderboard.Submission{Member: arg[:at], Tiebreak: o.tiebreak, Fields: o.fields}
		o.terms.addTo(&sub)
		if arg[at+1:] == "" && o.terms.edits() {
			sub.Edit.NoScore = true
		} else {
			score, ok := settings.WholeNumber(arg[at+1:])
			if !ok {
				return nil, usagef("want MEMBER=SCORE with a whole number from %d to %d, not %q", int64(-1<<63), int64(1<<63-1), arg)
			}
			sub.Score = score
		}
		entries = append(entries, sub)
	}
	return entries, nil
}

// printReceipt shows the results of a submission to one board.
func (o *submitOptions) printReceipt(receipt *client.Receipt) error {
	return o.printResults(receipt.Results, receipt.Replayed, seqText(&receipt.BoardSeqs))
}

// printReceipts shows the results of a submission to several boards.
func (o *submitOptions) printReceipts(receipt *client.MultiBoardReceipt) error {
	var seqs []string
	for _, board := range slices.Sorted(maps.Keys(receipt.Boards)) {
		of := receipt.Boards[board]
		seqs = append(seqs, board+", "+seqText(&of))
	}
	return o.printResults(receipt.Results, receipt.Replayed, strings.Join(seqs, "\n"))
}

func (o *submitOptions) printResults(results []client.Result, replayed bool, seqs string) error {
	head, from := []string{"BOARD", "MEMBER", "STATUS", "SCORE", "BEFORE"}, 0
	if o.standings {
		head = append(head, "RANK", "WAS", "OF")
	}
	if o.friends {
		head = append(head, "PASSED")
	}
	if !o.given() {
		from = 1
	}
	t := terminal.NewTable(o.out, append(head, "NOTE")[from:]...)
	for _, r := range results {
		note := "-"
		if r.Error != nil {
			note = r.Error.Detail
		}
		row := append([]any{r.Board, r.Member, r.Status, orDash(r.Score), orDash(r.PreviousScore)}, o.standingOf(r.Standing)...)
		t.Row(append(row, note)[from:]...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if replayed {
		seqs += "\nthe request was carried out before under its idempotency key: nothing counted again"
	}
	_, err := fmt.Fprintln(o.out, seqs)
	return err
}

// standingOf returns the columns of a standing.
func (o *submitOptions) standingOf(s *client.Moved) (columns []any) {
	if s == nil {
		s = &client.Moved{}
	}
	if o.standings {
		columns = append(columns, dashUnless(s.Rank), orDash(s.PreviousRank), dashUnless(s.Total))
	}
	if o.friends {
		columns = append(columns, cmp.Or(strings.Join(s.Passed, " "), "-"))
	}
	return columns
}

// dashUnless returns a number that is not 0, which no rank is.
func dashUnless(n int64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

// seqText names the seqs that a submission has led to.
func seqText(of *client.BoardSeqs) string {
	line := fmt.Sprintf("seq %d", of.Seq)
	for i, w := range slices.Sorted(maps.Keys(of.Seqs)) {
		line += []string{": ", ", "}[min(i, 1)] + fmt.Sprintf("%s %d", w, of.Seqs[w])
	}
	return line
}

func orDash(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

func (p *program) formatFlag(at *string) cli.Flag {
	return choice(p.option("format", "csv or jsonl; empty: by the name of the file, else csv"), at, client.FormatCSV, client.FormatJSONL)
}

// exportOptions are the options of export.
type exportOptions struct {
	remote
	query          client.ExportQuery
	format, output string
}

func rawFlag(at *bool) cli.Flag {
	return &cli.BoolFlag{Name: "raw", Usage: "in CSV, leave ids that spreadsheets take for formulas (=1) unchanged, without a quote before them ('=1)", Destination: at}
}

func (p *program) exportCommand() *cli.Command {
	o := &exportOptions{remote: p.remote()}
	return o.command("export", "write all entries of a period to a file, with both ranks", "BOARD", o.run,
		windowFlag(&o.query.Window), periodFlag(&o.query.Period), o.formatFlag(&o.format), rawFlag(&o.query.Raw), metadataFlag(&o.query.Metadata),
		&cli.StringFlag{Name: "output", Usage: "`file` to export to, written as FILE.part until it is whole; empty: standard output", Destination: &o.output})
}

// run writes all entries of a period to a file or to standard output.
func (o *exportOptions) run(ctx context.Context, args []string) error {
	if o.json && o.output == "" {
		return usagef("--json describes the file of --output; the form of the entries is --format")
	}
	c, err := o.connect()
	if err != nil {
		return err
	}
	done, err := transfer.Export{
		Client: c, Board: args[0], Query: o.query, Format: o.format, File: o.output, Stdout: o.out, Stderr: o.err,
	}.Run(ctx)
	switch {
	case err != nil || o.output == "":
		return err
	case o.json:
		return terminal.PrintJSON(o.out, done)
	}
	_, err = fmt.Fprintln(o.out, done.Line())
	return err
}

// importOptions are the options of import.
type importOptions struct {
	remote
	format            string
	batch             int
	refused, progress string
	restart, raw      bool
	retryFor          time.Duration
	idempotencyKey    string
	zset              zsetOptions
}

func (p *program) importCommand() *cli.Command {
	o := &importOptions{remote: p.remote(), batch: 1000, retryFor: 5 * time.Minute, zset: zsetOptions{multiply: 1}}
	return o.command("import", "submit the entries of a file, and continue where an earlier run stopped; status 3 when lines were refused", "BOARD [FILE]", o.run, append(o.zsetFlags(),
		idempotencyKeyFlag(&o.idempotencyKey), o.formatFlag(&o.format), rawFlag(&o.raw),
		whole(o.option("batch", "entries per request of an import, 1 to 1000; an import that continues keeps its first value"), &o.batch, 1, 1000),
		&cli.StringFlag{Name: "refused", Usage: "`file` for the lines that an import refuses; empty: FILE.refused, of standard input standard error", Destination: &o.refused},
		&cli.StringFlag{Name: "progress", Usage: "`file` that says how far an import has come; empty: FILE.progress, of standard input none", Destination: &o.progress},
		&cli.BoolFlag{Name: "restart", Usage: "import from the first line, whatever the progress says", Destination: &o.restart},
		duration(o.option("retry-for", "how long an import tries to send a batch while the server is busy or away"), &o.retryFor, 0))...)
}

// zsetOptions say which sorted set of a Redis is imported.
type zsetOptions struct {
	redis, key string
	multiply   int
}

func (o *importOptions) zsetFlags() []cli.Flag {
	return []cli.Flag{
		newChecked(o.option("redis", "import a sorted set of the Redis at this `URL`, as in redis://:password@127.0.0.1:6379/0, read into FILE first; "+
			"empty FILE: BOARD.zset.csv"), &o.zset.redis, app.ParseRedisURL),
		&cli.StringFlag{Name: "zset", Usage: "key of the sorted set in --redis", Destination: &o.zset.key},
		whole(o.option("multiply", "factor for each score of --zset: 100 makes 12.34 the whole number 1234"), &o.zset.multiply, 1, 1_000_000_000),
	}
}

// check fails when the options do not go together.
func (o *zsetOptions) check() error {
	switch {
	case (o.redis == "") != (o.key == ""):
		return usagef("--redis and --zset go together, as in: leaderboard import demo --redis redis://127.0.0.1:6379/0 --zset scores")
	case o.redis == "" && o.multiply != 1:
		return usagef("--multiply is for --zset; the scores of a file are whole numbers")
	}
	return nil
}

// readZset reads the sorted set into a file, unless that was done before, and returns its name.
func (o *importOptions) readZset(ctx context.Context, c *client.Client, board, file string) (_ string, err error) {
	file = cmp.Or(file, board+".zset.csv")
	if file == transfer.Stdin || o.format != "" || o.raw {
		return "", usagef("--redis reads the zset into a separate CSV file: without --format and --raw, and not -")
	}
	zset, err := openZset(o.zset.redis, o.zset.key)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, topn.Close(zset.server)) }()
	return file, transfer.ZsetRead{
		Zset: zset, Client: c, File: file, Restart: o.restart, Stderr: o.err,
		Source: transfer.ZsetSource{Redis: app.PlaceOfURL(o.zset.redis), Key: o.zset.key, Multiply: int64(o.zset.multiply), Board: board},
	}.Run(ctx)
}

// run submits the entries of a file. It continues where an earlier run of the same import stopped.
func (o *importOptions) run(ctx context.Context, args []string) error {
	if err := o.zset.check(); err != nil {
		return err
	}
	if len(args) == 1 && o.zset.key == "" {
		return usagef("want a board and a file, as in: leaderboard import demo scores.csv (- for standard input)")
	}
	c, err := o.connect(client.WithMaxWait(o.retryFor))
	if err != nil {
		return err
	}
	board, file := args[0], strings.Join(args[1:], "")
	if o.zset.key != "" {
		if file, err = o.readZset(ctx, c, board, file); err != nil {
			return err
		}
	}
	done, err := transfer.Import{
		Client: c, Board: board, File: file, Stdin: o.in, Format: o.format, Raw: o.raw, Batch: o.batch, Key: o.idempotencyKey,
		Refused: o.refused, Progress: o.progress, Restart: o.restart, Stderr: o.err,
	}.Run(ctx)
	if stopped, ok := errors.AsType[*transfer.Stopped](err); ok && stopped.Line > 0 {
		o.say("leaderboard: the lines ahead of line %d are dealt with; the same command continues there", stopped.Line)
	}
	if err != nil {
		return err
	}
	if o.json {
		err = terminal.PrintJSON(o.out, done)
	} else {
		_, err = fmt.Fprintln(o.out, done.Line())
	}
	if err == nil && done.Refused > 0 {
		err = errRefused
	}
	return err
}

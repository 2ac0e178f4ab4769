package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard/api"
	"leaderboard/client"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

func (p *program) boardCommand() *cli.Command {
	return group(
		"board", "create, show, list and delete boards",
		p.boardPutCommand(),
		p.boardUpdateCommand(),
		p.boardShowCommand(),
		p.boardListCommand(),
		p.boardPeriodsCommand(),
		p.boardSourcesCommand(),
		p.boardDeleteCommand(),
	)
}

// boardPut are the options of board put and board update.
type boardPut struct {
	remote
	file  string
	given givenRules
	unset []string
	match string
}

func (p *program) boardPutCommand() *cli.Command {
	o := &boardPut{remote: p.remote()}
	return o.command("board put", "create a board, or change what the options name; with --rules, set all its rules", "BOARD", o.put,
		append([]cli.Flag{o.fileFlag()}, p.ruleFlags(&o.given)...)...)
}

func (p *program) boardUpdateCommand() *cli.Command {
	o := &boardPut{remote: p.remote()}
	return o.command("board update", "change some rules of a board that is there", "BOARD", o.update, append([]cli.Flag{
		o.fileFlag(),
		custom(p.option("unset", "rules that get their defaults, separated by commas: title,limits.max_score,labels.region"),
			&o.unset, func(v string) ([]string, error) { return strings.Split(v, ","), nil }),
		&cli.StringFlag{Name: "if-match", Usage: "change the board only if this is its ETag: nobody has changed its rules since", Destination: &o.match},
	}, p.ruleFlags(&o.given)...)...)
}

func (o *boardPut) fileFlag() cli.Flag {
	return &cli.StringFlag{Name: "rules", Usage: "`file` with the rules in JSON, of board update a merge patch, - for standard input; not together with options for rules", Destination: &o.file}
}

// put sets all rules when they come from a file. Otherwise it changes the rules that options name, or creates the board.
func (o *boardPut) put(ctx context.Context, args []string) error {
	body, err := o.rules()
	if err != nil {
		return err
	}
	if o.file != "" {
		return o.change(ctx, http.MethodPut, args[0], body, nil)
	}
	for {
		if err = o.change(ctx, http.MethodPatch, args[0], body, nil); !errors.Is(err, leaderboard.ErrBoardNotFound) {
			return err
		}
		err = o.change(ctx, http.MethodPut, args[0], body, http.Header{"If-None-Match": {"*"}})
		if made, ok := errors.AsType[*client.Problem](err); !ok || made.Status != http.StatusPreconditionFailed {
			return err
		} // another command created it in between
	}
}

// update changes the rules that the options name, or the rules in the file, which is a merge patch.
func (o *boardPut) update(ctx context.Context, args []string) error {
	body, err := o.rules()
	if err == nil && o.unset != nil {
		body, err = withoutRules(body, o.unset)
	}
	if err != nil {
		return err
	}
	header := http.Header{}
	if o.match != "" {
		header.Set("If-Match", o.match)
	}
	return o.change(ctx, http.MethodPatch, args[0], body, header)
}

// withoutRules adds nulls for rules to a merge patch, which set them to their defaults. A dot in a name leads into an object.
func withoutRules(patch json.RawMessage, names []string) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(patch, &members); err != nil {
		return nil, fmt.Errorf("the rules are not an object of JSON: %w", err)
	}
	for _, name := range names {
		first, rest, inner := strings.Cut(name, ".")
		switch {
		case !inner && members[first] == nil:
			members[first] = json.RawMessage("null")
		case !inner:
			return nil, usagef("%s is both given and unset", name)
		default:
			object := cmp.Or(string(members[first]), "{}")
			without, err := withoutRules(json.RawMessage(object), []string{rest})
			if err != nil {
				return nil, err
			}
			members[first] = without
		}
	}
	return json.Marshal(members)
}

// change sends rules and prints whether the board was changed or created.
func (o *boardPut) change(ctx context.Context, method, board string, body json.RawMessage, header http.Header) error {
	_, err := show(&o.remote, func(c *client.Client) (*client.Answer, error) {
		return c.Do(ctx, client.Request{Method: method, Path: client.Path("boards", board), Header: header, Body: body})
	}, func(answer **client.Answer) error {
		done := "has these rules now"
		if (*answer).Status == http.StatusCreated {
			done = "is created"
		}
		_, err := fmt.Fprintf(o.out, "board %s %s\n", board, done)
		return err
	})
	return err
}

// rules returns the body to send: the file unchanged, or the rules of the flags.
func (o *boardPut) rules() (json.RawMessage, error) {
	if o.file == "" {
		return json.Marshal(o.given)
	}
	if len(o.given) > 0 {
		return nil, usagef("give the rules in the file or as options, not both")
	}
	var content []byte
	var err error
	if o.file == "-" {
		content, err = io.ReadAll(o.in)
	} else {
		content, err = os.ReadFile(o.file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	if !json.Valid(content) {
		return nil, fmt.Errorf("the rules in %s are not JSON", o.file)
	}
	return content, nil
}

func (p *program) boardShowCommand() *cli.Command {
	return requestCommand(p, "board show", "show a board and its rules", "getBoard", func(r *remote, _ *client.Board) error {
		indented, err := json.MarshalIndent(json.RawMessage(r.answer.Body), "", "  ")
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		return terminal.PassJSON(r.out, indented)
	})
}

func (p *program) boardListCommand() *cli.Command {
	r, q := p.remote(), api.BoardsListQuery{}
	return r.command("board list", "list the boards", "", func(ctx context.Context, _ []string) error {
		entries, err := r.countEntries(ctx)
		if err != nil {
			return err
		}
		return showList(ctx, &r, list{
			operation: "listBoards", query: q, head: []string{"BOARD", "ORDER", "POLICY", "MODE", "VISIBILITY", "TOP N", "ENTRIES", "CREATED", "TITLE"},
		}, func(t *terminal.Table, b *client.Board) {
			title := ""
			if b.Title != "" {
				title = terminal.Printable(b.Title)
			}
			t.Cells(b.Name, string(b.Order), string(b.Policy), string(b.Mode), string(b.Visibility), fmt.Sprint(b.TopN), cmp.Or(entries[b.Name], "-"),
				t.Second(b.CreatedTime), title)
		})
	}, p.labelsFlag(&q.Labels))
}

// countEntries returns the numbers of entries by the names of boards, for boards whose status the key may read. --json does not
// show them.
func (r *remote) countEntries(ctx context.Context) (map[string]string, error) {
	if r.json {
		return nil, nil
	}
	c, err := r.connect()
	if err != nil {
		return nil, err
	}
	status, err := c.Status(ctx)
	if _, answered := errors.AsType[*client.Problem](err); err != nil && !answered {
		return nil, err
	}
	entries := map[string]string{}
	for i := range status.Boards {
		entries[status.Boards[i].Board] = strconv.FormatInt(status.Boards[i].Entries, 10)
	}
	return entries, nil
}

func (p *program) boardPeriodsCommand() *cli.Command {
	q := api.PeriodsQuery{}
	return listing(p, "board periods", "list a board's periods, newest first", "listPeriods", &q, []string{"WINDOW", "PERIOD", "STATE", "RANKED", "SEQ", "FROM", "TO"},
		func(t *terminal.Table, v *client.Period) {
			t.Row(v.Window, v.Period, v.State, v.Total, v.Seq, v.StartsAt, v.EndsAt)
		}, windowFlag(&q.Window))
}

func (p *program) boardSourcesCommand() *cli.Command {
	return requestCommand(p, "board sources", "show what a derived board reflects of its sources", "getSources", func(r *remote, d *client.Derivation) error {
		t := terminal.NewTable(r.out, "SOURCE", "WINDOW", "PERIOD", "WEIGHT", "STATE", "SEQ", "LAST SEQ")
		for _, s := range d.Sources {
			t.Row(s.Board, cmp.Or(string(s.Window), "-"), cmp.Or(s.Period, "-"), s.Weight, s.Condition, s.Seq, s.LastSeq)
		}
		if err := t.Flush(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(r.out, "%s: %s, %d changes behind, seq %d as of %s\n", d.Board, d.State, d.Lag, d.Seq, terminal.Time(r.out, d.AsOf))
		return err
	})
}

func (p *program) boardDeleteCommand() *cli.Command {
	r, yes := p.remote(), false
	return r.command("board delete", "delete a board with all its entries, for good", "BOARD", func(ctx context.Context, args []string) error {
		if err := r.confirmDelete(ctx, yes, args[0]); err != nil {
			return err
		}
		return r.carryOut(func(c *client.Client) error { return c.DeleteBoard(ctx, args[0]) }, "deleted", args[0], "board "+args[0]+" is deleted")
	}, yesFlag(&yes))
}

// confirmDelete asks whether to delete a board, with the number of its entries. It does not ask when the board does not exist.
func (r *remote) confirmDelete(ctx context.Context, yes bool, board string) error {
	if yes || !terminal.IsTerminal(r.in) {
		return r.confirm(ctx, yes, "")
	}
	c, err := r.connect()
	if err != nil {
		return err
	}
	page, err := c.Top(ctx, board, client.TopQuery{Limit: 1})
	if errors.Is(err, leaderboard.ErrBoardNotFound) {
		return err
	}
	ranked := ""
	if err == nil {
		ranked = fmt.Sprintf("; %s are ranked on it now", terminal.Count(page.Total))
	}
	return r.confirm(ctx, yes, fmt.Sprintf("Delete board %s with all its periods and entries, for good%s?", terminal.Printable(board), ranked))
}

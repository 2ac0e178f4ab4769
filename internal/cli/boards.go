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

// rulesBody is the body of PUT and PATCH /v1/boards/{board}, with the rules that flags gave. The server checks it.
type rulesBody struct {
	Title      string             `json:"title,omitempty"`
	Order      string             `json:"order,omitempty"`
	Policy     string             `json:"policy,omitempty"`
	Mode       leaderboard.Mode   `json:"mode,omitempty"`
	Visibility string             `json:"visibility,omitempty"`
	TopN       *int64             `json:"top_n,omitempty"`
	Windows    []string           `json:"windows,omitempty"`
	TimeZone   string             `json:"time_zone,omitempty"`
	StartsAt   string             `json:"starts_at,omitempty"`
	EndsAt     string             `json:"ends_at,omitempty"`
	Labels     leaderboard.Labels `json:"labels,omitempty"`
	CacheTTL   string             `json:"cache_ttl,omitempty"`
	Resident   string             `json:"resident,omitempty"`
	StrictIDs  *bool              `json:"strict_ids,omitempty"`
	Record     string             `json:"record,omitempty"`
	RecordTTL  string             `json:"record_ttl,omitempty"`
	Overrides  struct {
		Keys     []string `json:"keys,omitempty"`
		Ops      []string `json:"ops,omitempty"`
		KeepTime *bool    `json:"keep_time,omitempty"`
	} `json:"overrides,omitzero"`
	Players struct {
		Read    *bool  `json:"read,omitempty"`
		Submit  string `json:"submit,omitempty"`
		MinTime string `json:"min_time,omitempty"`
		MaxTime string `json:"max_time,omitempty"`
	} `json:"players,omitzero"`
	Notify struct {
		Passed string `json:"passed,omitempty"`
		Within *int64 `json:"within,omitempty"`
	} `json:"notify,omitzero"`
	Metadata struct {
		MaxBytes *int64 `json:"max_bytes,omitempty"`
	} `json:"metadata,omitzero"`
	Review struct {
		Hold   []leaderboard.HoldRule `json:"hold,omitempty"`
		Expire string                 `json:"expire,omitempty"`
	} `json:"review,omitzero"`
	Limits   leaderboard.Limits `json:"limits,omitzero"`
	Tiebreak struct {
		Order  string          `json:"order,omitempty"`
		Fields []tiebreakField `json:"fields,omitempty"`
	} `json:"tiebreak,omitzero"`
	Display struct {
		Kind     string `json:"kind,omitempty"`
		Decimals *int64 `json:"decimals,omitempty"`
		Unit     string `json:"unit,omitempty"`
	} `json:"display,omitzero"`
	Face    leaderboard.Face `json:"face,omitzero"`
	Refresh struct {
		Full        string `json:"full,omitempty"`
		Incremental string `json:"incremental,omitempty"`
		Dynamic     string `json:"dynamic,omitempty"`
	} `json:"refresh,omitzero"`
}

// tiebreakField is a tiebreak field in the rules of a board.
type tiebreakField struct {
	Name  string `json:"name"`
	Bits  int    `json:"bits"`
	Order string `json:"order,omitempty"`
}

// ruleFlags returns a flag for each of the rules.
func (p *program) ruleFlags(b *rulesBody) []cli.Flag {
	word := func(name, usage string, at *string) cli.Flag {
		return &cli.StringFlag{Name: name, Usage: usage, Destination: at}
	}
	number := func(name, usage string, at **int64) cli.Flag {
		return optional(newChecked(p.option(name, usage), new(int64), parseNumber), at)
	}
	return []cli.Flag{
		p.modeFlag(&b.Mode),
		p.labelsFlag(&b.Labels),
		word("title", "name for people", &b.Title),
		oneOf(p.option("order", "desc: higher is better, asc: lower is better (default: desc)"), &b.Order, "desc", "asc"),
		oneOf(p.option("policy", "best, latest or sum (default: best)"), &b.Policy, "best", "latest", "sum"),
		oneOf(p.option("visibility", "public or private (default: public)"), &b.Visibility, "public", "private"),
		number("top-n", "entries in the Redis copy (default: 1000)", &b.TopN),
		oneOf(p.option("tiebreak-order", "desc or asc (default: desc)"), &b.Tiebreak.Order, "desc", "asc"),
		oneOf(p.option("display-kind", "duration or date: what people are shown scores as, seconds or seconds since 1970 (default: numbers)"), &b.Display.Kind, "duration", "date"),
		number("display-decimals", "how many of the last digits of a score people are shown behind the point (default: 0)", &b.Display.Decimals),
		word("display-unit", "unit of the numbers that people are shown, such as km", &b.Display.Unit),
		word("accent", "`colour` of links and marks on its page, as in #3151d3 (default: that of the server)", &b.Face.Accent),
		word("logo", "`name` of a picture in the folder logos of the server's --site, beside the title of its page", &b.Face.Logo),
		word("parts", "`label` by whose values its page leads to the boards labelled part-of:BOARD, as in country", &b.Face.Parts),
		word("footer", "a line of text below its page, in which addresses are links", &b.Face.Footer),
		number("min-score", "least score that is accepted", &b.Limits.MinScore),
		number("max-score", "greatest score that is accepted", &b.Limits.MaxScore),
		number("max-delta", "greatest change of a score by one submission; no first score in a period is one, but for policy sum: --max-score bounds it", &b.Limits.MaxDelta),
		number("max-per-second", "greatest score of a play for each second that it took", &b.Limits.PerSecond),
		word("refresh-full", "when to rebuild the copy, as a `cron` expression in UTC", &b.Refresh.Full),
		word("refresh-incremental", "`interval` of catching up, or off (default: 10s)", &b.Refresh.Incremental),
		word("refresh-dynamic", "pairs of seconds/changes, as in 900/1 300/10", &b.Refresh.Dynamic),
		word("cache-ttl", "how long an unread copy stays in Redis (default: 24h)", &b.CacheTTL),
		oneOf(p.option("resident", "always or never: whether periods are kept whole in memory (default: by how much they are read)"), &b.Resident, "always", "never"),
		optional(newChecked(p.option("strict-ids", "true: submissions for ids that are not printable ASCII are rejected (default: false)"), new(bool), parseSwitch), &b.StrictIDs),
		oneOf(p.option("record", "applied or all: which submissions are recorded, with who sent them (default: none)"), &b.Record, "applied", "all"),
		word("record-ttl", "how long records of submissions are kept (default: 2160h)", &b.RecordTTL),
		custom(p.option("override-keys", "keys besides those of scope admin whose submits may override the policy, separated by commas"),
			&b.Overrides.Keys, func(v string) ([]string, error) { return strings.Split(v, ","), nil }),
		custom(p.option("override-ops", "best, latest, sum: what submits may put in the place of the policy, separated by commas (default: nothing)"),
			&b.Overrides.Ops, func(v string) ([]string, error) { return strings.Split(v, ","), nil }),
		optional(newChecked(p.option("override-keep-time", "true: submits may keep the time of a score that stays (default: false)"), new(bool), parseSwitch), &b.Overrides.KeepTime),
		optional(newChecked(p.option("players-read", "true: players read their own entry and those around it, on a private board too (default: false)"), new(bool), parseSwitch), &b.Players.Read),
		oneOf(p.option("players-submit", "none, own or play: whether players submit their own scores with a token, and each with a play (default: none)"), &b.Players.Submit, "none", "own", "play"),
		word("play-min-time", "how long a play takes at least, as in 10s (default: 0s)", &b.Players.MinTime),
		word("play-max-time", "how long a play takes at most, up to 24h (default: 1h)", &b.Players.MaxTime),
		oneOf(p.option("notify", "friends or top: which members are told by an event that another one passed them (default: none)"), &b.Notify.Passed, "friends", "top"),
		number("notify-within", "how many places, or friends that one change passes (default: 10)", &b.Notify.Within),
		number("metadata-max-bytes", "how long the metadata of one entry may be, as JSON without spaces, up to 4096 (default: entries have none)", &b.Metadata.MaxBytes),
		custom(p.option("review", "which submissions wait for an admin, as above:SCORE, rank_within:N, per_second:N or by:players separated by commas (default: none)"),
			&b.Review.Hold, parseHoldRules),
		word("review-expire", "how long they wait at most, from 1h to 90d (default: 14d)", &b.Review.Expire),
		custom(p.option("windows", "all_time, hour, day, week, month, quarter, year, season: any of them, separated by commas (default: all_time)"),
			&b.Windows, func(v string) ([]string, error) { return strings.Split(v, ","), nil }),
		word("time-zone", "IANA time zone of the periods (default: UTC)", &b.TimeZone),
		word("starts-at", "submissions before this `time` are rejected, RFC 3339", &b.StartsAt),
		word("ends-at", "submissions from this `time` on are rejected, RFC 3339", &b.EndsAt),
		custom(p.option("tiebreak-fields", "fields of the tiebreak, the first decides first, as NAME:BITS or NAME:BITS:ORDER separated by commas: level:20,paid:1,deaths:16:asc"),
			&b.Tiebreak.Fields, parseTiebreakFields),
	}
}

func parseNumber(v string) (int64, error) {
	n, ok := wholeNumber(v)
	if !ok {
		return 0, fmt.Errorf("want a whole number, not %q", v)
	}
	return n, nil
}

// parseTiebreakFields reads NAME:BITS and NAME:BITS:ORDER, separated by commas.
func parseTiebreakFields(v string) ([]tiebreakField, error) {
	var fields []tiebreakField
	for field := range strings.SplitSeq(v, ",") {
		parts := strings.Split(field, ":")
		if len(parts) < 2 || len(parts) > 3 {
			return nil, fmt.Errorf("want NAME:BITS or NAME:BITS:ORDER, as in level:20,deaths:16:asc, not %q", field)
		}
		bits, ok := wholeNumber(parts[1])
		if !ok {
			return nil, fmt.Errorf("want a whole number of bits, as in level:20, not %q", field)
		}
		fields = append(fields, tiebreakField{Name: parts[0], Bits: int(bits), Order: strings.Join(parts[2:], "")})
	}
	return fields, nil
}

// boardPut are the options of board put and board update.
type boardPut struct {
	remote
	file  string
	body  rulesBody
	unset []string
	match string
}

func (p *program) boardPutCommand() *cli.Command {
	o := &boardPut{remote: p.remote()}
	return o.command("board put", "create a board, or change what the options name; with --rules, set all its rules", "BOARD", o.put,
		append([]cli.Flag{o.fileFlag()}, p.ruleFlags(&o.body)...)...)
}

func (p *program) boardUpdateCommand() *cli.Command {
	o := &boardPut{remote: p.remote()}
	return o.command("board update", "change some rules of a board that is there", "BOARD", o.update, append([]cli.Flag{
		o.fileFlag(),
		custom(p.option("unset", "rules that get their defaults, separated by commas: title,limits.max_score,labels.region"),
			&o.unset, func(v string) ([]string, error) { return strings.Split(v, ","), nil }),
		&cli.StringFlag{Name: "if-match", Usage: "change the board only if this is its ETag: the rules are as they were read", Destination: &o.match},
	}, p.ruleFlags(&o.body)...)...)
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
		} // it was created in between
	}
}

// update changes the rules that options or the file, a merge patch, name.
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

// withoutRules adds nulls to a merge patch, which set rules to their defaults. A dot in a name leads into an object.
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

// rules returns the body to send: the file as it is, or the rules of the flags.
func (o *boardPut) rules() (json.RawMessage, error) {
	given, err := json.Marshal(o.body)
	if err != nil || o.file == "" {
		return given, err
	}
	if string(given) != "{}" {
		return nil, usagef("give the rules in the file or as options, not both")
	}
	var content []byte
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
	return question(p, "board show", "show a board and its rules", "BOARD", func(ctx context.Context, c *client.Client, args []string) (client.Board, error) {
		return c.Board(ctx, args[0])
	}, func(r *remote, _ *client.Board) error {
		indented, err := json.MarshalIndent(json.RawMessage(r.answer.Body), "", "  ")
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		return terminal.PassJSON(r.out, indented)
	})
}

func (p *program) boardListCommand() *cli.Command {
	r, labels := p.remote(), leaderboard.Labels(nil)
	return r.command("board list", "list the boards", "", func(ctx context.Context, _ []string) error {
		entries, err := r.countEntries(ctx)
		if err != nil {
			return err
		}
		return showList(ctx, &r, list{
			path: "/v1/boards", query: optionalValues("labels", labels.String()), member: "boards",
			head: []string{"BOARD", "ORDER", "POLICY", "MODE", "VISIBILITY", "TOP N", "ENTRIES", "CREATED", "TITLE"},
		}, func(t *terminal.Table, b *client.Board) {
			title := ""
			if b.Title != "" {
				title = terminal.Printable(b.Title)
			}
			t.Cells(b.Name, string(b.Order), string(b.Policy), string(b.Mode), string(b.Visibility), fmt.Sprint(b.TopN), cmp.Or(entries[b.Name], "-"),
				t.Second(b.CreatedTime), title)
		})
	}, p.labelsFlag(&labels))
}

// countEntries returns by name how many entries boards have now, for boards whose status the key may read. --json does not show
// them.
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
	window := leaderboard.Window("")
	return listing(p, "board periods", "list a board's periods, newest first", "BOARD", func(args []string) list {
		return list{
			path: client.Path("boards", args[0], "periods"), query: optionalValues("window", string(window)), member: "periods",
			head: []string{"WINDOW", "PERIOD", "STATE", "RANKED", "SEQ", "FROM", "TO"},
		}
	}, func(t *terminal.Table, v *client.Period) {
		t.Row(v.Window, v.Period, v.State, v.Total, v.Seq, v.StartsAt, v.EndsAt)
	}, windowFlag(&window))
}

func (p *program) boardSourcesCommand() *cli.Command {
	return question(p, "board sources", "show what a derived board reflects of its sources", "BOARD", func(ctx context.Context, c *client.Client, args []string) (client.Derivation, error) {
		return c.Sources(ctx, args[0])
	}, func(r *remote, d *client.Derivation) error {
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

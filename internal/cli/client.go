package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/api"
	"leaderboard/client"
	"leaderboard/internal/app"
	"leaderboard/internal/settings"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

// defaultTimeout is how long a command waits for the server without --timeout.
const defaultTimeout = 30 * time.Second

// remote is the server that a command asks, and how it answers.
type remote struct {
	*program
	url     string
	key     string         // secret
	roots   *x509.CertPool // nil: the system's
	timeout time.Duration
	json    bool
	answer  *client.Answer // the last one

	context string         // the name of --context, or of the one in use
	place   *serverContext // where url is from; nil: from elsewhere
}

func (p *program) remote() remote {
	return remote{program: p, url: "http://127.0.0.1:8080", timeout: defaultTimeout}
}

// String hides the key when the options of a command are printed.
func (remote) String() string { return "the server" }

// command makes a leaf that asks the server.
func (r *remote) command(name, usage, args string, do action, flags ...cli.Flag) *cli.Command {
	return r.leaf(name, usage, args, func(ctx context.Context, given []string) error {
		err := do(ctx, given)
		board := ""
		if strings.HasPrefix(strings.TrimPrefix(args, "("), "BOARD") && len(given) > 0 {
			board = given[0]
		}
		return explain(ctx, err, r.url, board)
	}, append(slices.Clone(flags), r.flags()...)...)
}

// flags returns the flags of every command that asks a server.
func (r *remote) flags() []cli.Flag {
	return []cli.Flag{
		r.timeoutFlag(&r.timeout),
		jsonFlag(&r.json),
		r.utcFlag(),
		r.orBefore(r.contextFlag(&r.context)), // before the flags that look for it
		r.orBefore(r.orContext(r.urlFlag(&r.url))),
		r.orBefore(r.orContext(r.keyFlag(&r.key))),
		r.orContext(r.caFlag(new(string))),
	}
}

// utcFlag is of each command that shows times.
func (p *program) utcFlag() cli.Flag {
	return &cli.BoolFlag{Name: "utc", Usage: "on a terminal: times in UTC as the API writes them, not by the clock of this machine", Action: p.showUTC}
}

// showUTC makes a terminal show times as other outputs have them.
func (p *program) showUTC(_ context.Context, _ *cli.Command, utc bool) error {
	if screen, ok := p.out.(*terminal.Screen); ok && utc {
		screen.Zone = nil
	}
	return nil
}

// caFlag trusts the certificates of a file, whose name is put into *at.
func (r *remote) caFlag(at *string) *checked[string] {
	return newChecked(r.setting("ca-file", "`file` of certificates, PEM, that are trusted in addition to the system's, for a server with a private one"), at, func(v string) (_ string, err error) {
		r.roots, err = parseCAFile(v)
		return v, err
	})
}

func (p *program) urlFlag(at *string) *checked[string] {
	return newChecked(p.setting("url", "`URL` of the server"), at, parseURL)
}

func (p *program) keyFlag(at *string) *checked[string] {
	return newChecked(p.setting("key", "the bearer `key`"), at, parseKey)
}

// rootFlags returns the flags that may stand before a command.
func (p *program) rootFlags() []cli.Flag {
	url, key, name := p.remote().url, "", ""
	return []cli.Flag{p.beforeCommand(p.urlFlag(&url)), p.beforeCommand(p.keyFlag(&key)), p.beforeCommand(p.contextFlag(&name))}
}

// beforeCommand makes the flag of a command a flag of the program; orBefore passes its value to the command. The command reads the
// environment, not the program: a command without such a flag must not fail over a variable.
func (p *program) beforeCommand(f *checked[string]) cli.Flag {
	f.Local = true
	f.Sources = cli.NewValueSourceChain(&variable{variableName(f.Name), func(string) string { return "" }, nil})
	parse := f.Config.parse
	f.Config.parse = func(v string) (string, error) {
		got, err := parse(v)
		if err == nil && p.before == nil {
			p.before = map[string]string{}
		}
		if err == nil {
			p.before[f.Name] = got
		}
		return got, err
	}
	return f
}

// orBefore makes the flag of a command take the value that was given before the command, as if it were given after it.
func (p *program) orBefore(f *checked[string]) cli.Flag {
	f.Sources.Chain = slices.Insert(f.Sources.Chain, 0, cli.ValueSource(&valueBefore{p, f.Name}))
	parse := f.Config.parse
	f.Config.parse = func(v string) (string, error) {
		got, err := parse(v)
		if was, given := p.before[f.Name]; err == nil && given && was != got {
			return "", errors.New("it is given before the command and behind it, with different values: give it once")
		}
		return got, err
	}
	return f
}

// valueBefore is the value of a flag that was given before the command, as a source of the command's flag.
type valueBefore struct {
	program *program
	flag    string
}

// Lookup returns the value; it is called for a flag that is not given after the command.
func (v *valueBefore) Lookup() (string, bool) {
	value, given := v.program.before[v.flag]
	return value, given
}

func (v *valueBefore) String() string   { return "--" + v.flag + " before the command" }
func (v *valueBefore) GoString() string { return v.String() }

// isMeant reports whether a command that can also work with local settings must ask the server of --url: --url or --context is on the
// command line, or none of the local settings is given.
func (r *remote) isMeant(local ...string) (bool, error) {
	byURL, given := r.typed("url") || r.typed("context"), false
	for _, name := range local {
		if byURL && r.typed(name) {
			return false, usagef("give --url or --%s, not both", name)
		}
		given = given || r.typed(name) || r.env(variableName(name)) != ""
	}
	return byURL || !given, nil
}

func parseURL(v string) (string, error) {
	parsed, err := url.Parse(v)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.User != nil {
		return "", errors.New("want the form http://127.0.0.1:8080")
	}
	return strings.TrimSuffix(v, "/"), nil
}

func parseKey(v string) (string, error) {
	if !app.VisibleASCII(v) {
		return "", errors.New("a key is visible ASCII")
	}
	return v, nil
}

// connect returns a client that asks once for each request unless options say otherwise.
func (r *remote) connect(options ...client.Option) (*client.Client, error) {
	own := []client.Option{
		client.WithKey(r.key), client.WithTimeout(r.timeout), client.WithMaxWait(0), client.WithOnRetry(func(retry client.Retry) {
			terminal.Say(r.err, "leaderboard: "+waiting(r.url, retry))
		}),
		client.WithOnAnswer(func(a *client.Answer) { r.answer = a }),
	}
	if r.roots != nil {
		own = append(own, client.WithHTTPClient(overTLS(&tls.Config{RootCAs: r.roots, MinVersion: tls.VersionTLS12})))
	}
	return client.New(r.url, append(own, options...)...)
}

// overTLS returns an HTTP client like the default one, with another TLS configuration.
func overTLS(config *tls.Config) *http.Client {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true}
	return &http.Client{Transport: transport}
}

// show makes a call and shows the result: with --json the answer as it came, otherwise by print.
func show[T any](r *remote, call func(*client.Client) (T, error), print func(*T) error, options ...client.Option) (out T, err error) {
	c, err := r.connect(options...)
	if err == nil {
		out, err = call(c)
	}
	switch {
	case err != nil:
		return out, err
	case r.json:
		return out, terminal.PassJSON(r.out, r.answer.Body)
	default:
		return out, print(&out)
	}
}

// question makes a leaf that makes a call with the arguments and shows the result.
func question[T any](p *program, name, usage, args string, call func(context.Context, *client.Client, []string) (T, error), print func(*remote, *T) error, flags ...cli.Flag) *cli.Command {
	r := p.remote()
	return r.command(name, usage, args, func(ctx context.Context, given []string) error {
		_, err := show(&r, func(c *client.Client) (T, error) { return call(ctx, c, given) }, func(out *T) error { return print(&r, out) })
		return err
	}, flags...)
}

// request makes a call with a body that the typed client has no method for.
func request[T any](ctx context.Context, c *client.Client, of client.Request) (out T, err error) {
	answer, err := c.Do(ctx, of)
	if err != nil {
		return out, err
	}
	return out, answer.Decode(&out)
}

// carryOut makes a call whose answer has no body, and prints done: with --json as an object with one member.
func (r *remote) carryOut(call func(*client.Client) error, member, value, done string) error {
	c, err := r.connect()
	if err == nil {
		err = call(c)
	}
	if err != nil {
		return err
	}
	if r.json {
		return terminal.PrintJSON(r.out, map[string]string{member: value})
	}
	_, err = fmt.Fprintln(r.out, done)
	return err
}

// list is a list of the API that comes in pages.
type list struct {
	operation string
	args      []string // the values in its path
	query     any      // of package api, without limit and cursor; nil: no query
	head      []string // of the table
	details   int      // how many of the last columns are details
}

// showList walks all pages of a list: row adds an item to the table. With --json it prints a line for each item.
func showList[T any](ctx context.Context, r *remote, l list, row func(t *terminal.Table, item *T)) error {
	c, err := r.connect()
	if err != nil {
		return err
	}
	t := terminal.NewTable(io.Discard)
	if !r.json {
		t = terminal.NewTable(r.out, l.head...)
		t.Details(l.details)
	}
	of := api.OperationOf(l.operation)
	for raw, err := range client.Items[json.RawMessage](ctx, c, of.Fill(l.args...), api.Values(l.query), of.List) {
		if err != nil {
			return err
		}
		if r.json {
			err = terminal.PassJSON(r.out, raw)
		} else {
			err = addRow(t, raw, row)
		}
		if err != nil {
			return err
		}
	}
	return t.Flush()
}

// listing makes a leaf that shows the list of an operation, whose path has the arguments; query may be a pointer that flags fill.
func listing[T any](p *program, name, usage, operation string, query any, head []string, row func(t *terminal.Table, item *T), flags ...cli.Flag) *cli.Command {
	r := p.remote()
	return r.command(name, usage, argsOf(operation), func(ctx context.Context, given []string) error {
		return showList(ctx, &r, list{operation: operation, args: given, query: query, head: head}, row)
	}, flags...)
}

// requestCommand makes a leaf that makes a request without a body, whose path has the arguments, and shows the answer.
func requestCommand[T any](p *program, name, usage, operation string, print func(*remote, *T) error) *cli.Command {
	return question(p, name, usage, argsOf(operation), func(ctx context.Context, c *client.Client, given []string) (T, error) {
		return request[T](ctx, c, requestOf(operation, given))
	}, print)
}

// ending makes a leaf that ends the thing that its argument names, for good. ask, the question before it, and done have %s for the
// name.
func (p *program) ending(name, usage, operation, ask, member, done string) *cli.Command {
	r, yes := p.remote(), false
	return r.command(name, usage, argsOf(operation), func(ctx context.Context, given []string) error {
		named := terminal.Printable(given[0])
		if err := r.confirm(ctx, yes, fmt.Sprintf(ask, named)); err != nil {
			return err
		}
		return r.carryOut(func(c *client.Client) error {
			_, err := c.Do(ctx, requestOf(operation, given))
			return err
		}, member, given[0], fmt.Sprintf(done, named))
	}, yesFlag(&yes))
}

// argsOf returns the arguments of a command that are the values in the path of an operation.
func argsOf(operation string) string {
	of := api.OperationOf(operation)
	var names []string
	for part := range strings.SplitSeq(of.Path, "/") {
		if strings.HasPrefix(part, "{") {
			names = append(names, strings.ToUpper(strings.Trim(part, "{}")))
		}
	}
	return strings.Join(names, " ")
}

// requestOf returns the request of an operation.
func requestOf(operation string, args []string) client.Request {
	of := api.OperationOf(operation)
	return client.Request{Method: of.Method, Path: of.Fill(args...)}
}

// only returns a function that prints an item as the only row of a table.
func only[T any](head []string, row func(t *terminal.Table, item *T)) func(*remote, *T) error {
	return func(r *remote, item *T) error {
		t := terminal.NewTable(r.out, head...)
		row(t, item)
		return t.Flush()
	}
}

func addRow[T any](t *terminal.Table, raw json.RawMessage, row func(*terminal.Table, *T)) error {
	item := new(T)
	if err := json.Unmarshal(raw, item); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	row(t, item)
	return nil
}

// counted returns a number with its noun: 1 board, 2 boards.
func counted[N int | int64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", one, "s")
}

// textOrDash shows a text, or a dash for nil.
func textOrDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// Flags that several families of commands have in addition to the flags of every remote.

// The help of flags that rules of boards and questions share.
const (
	modeUsage   = "numbering of ties: strict (1,2,3,4), tied (1,2,2,4) or dense (1,2,2,3), to read ranks also all; empty: the board's own"
	labelsUsage = "label:value pairs separated by commas, as in type:moba,aspect:sound: labels to give a board, or that boards must have"
)

// modeFlag takes the modes of boards, and more.
func (p *program) modeFlag(at *leaderboard.Mode, more ...string) cli.Flag {
	return choice(p.option("mode", modeUsage),
		(*string)(at), append([]string{"strict", "tied", "dense"}, more...)...)
}

func (p *program) labelsFlag(at *leaderboard.Labels) cli.Flag {
	return custom(p.option("labels", labelsUsage), at, leaderboard.ParseLabels)
}

func windowFlag(at *leaderboard.Window) cli.Flag {
	return &cli.StringFlag{Name: "window", Usage: "`window` of the board, such as day; empty: its first", Destination: (*string)(at)}
}

func periodFlag(at *string) cli.Flag {
	return &cli.StringFlag{Name: "period", Usage: "current, previous or a name such as 2026-11-20, 2026-W47, 2026-Q4; empty: the current one", Destination: at}
}

func (p *program) minSeqFlag(at *int64) cli.Flag {
	f := within(p.option("min-seq", "answer from a state at least this new, as a submit's answer names it"), at, "getTop", "min_seq")
	f.HideDefault = true
	return f
}

// boardSelection are the boards of a command that works on several at once.
type boardSelection struct {
	names  string
	labels leaderboard.Labels
}

func (s *boardSelection) given() bool { return s.names != "" || s.labels != nil }

func (s *boardSelection) boards() []string {
	if s.names == "" {
		return nil
	}
	return strings.Split(s.names, ",")
}

func (s *boardSelection) boardsFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "boards", Destination: &s.names,
		Usage: "up to 50 `boards`, separated by commas, up to 200 for standings: to rank as one, if they have the same order and tiebreak, to submit to in one transaction, or to read a member's standings of",
	}
}

func idempotencyKeyFlag(at *string) cli.Flag {
	return &cli.StringFlag{
		Name: "idempotency-key", Destination: at,
		Usage: "repeat a submit under the same key and it counts once; empty: a random one. The same file imported under another key counts again",
	}
}

// tiebreakFlags returns --tiebreak and --field. The server checks names and ranges of fields.
func (p *program) tiebreakFlags(tiebreak **int64, fields *map[string]int64) []cli.Flag {
	field := newChecked(p.option("field", "a tiebreak field of the entries, or of the score, `name=n` as in level=7; once for each field of the board"),
		new([]string), func(v string) ([]string, error) { return nil, addFields(fields, v) })
	field.HideDefault = true
	return []cli.Flag{
		optional(whole(p.option("tiebreak", "tiebreak of the entries, or of the score"), new(int64), math.MinInt64, math.MaxInt64), tiebreak),
		field,
	}
}

// addFields reads NAME=VALUE pairs of tiebreak fields, separated by commas.
func addFields(fields *map[string]int64, v string) error {
	if *fields == nil {
		*fields = map[string]int64{}
	}
	for pair := range strings.SplitSeq(v, ",") {
		name, number, _ := strings.Cut(pair, "=")
		value, ok := settings.WholeNumber(number)
		if _, twice := (*fields)[name]; !ok || name == "" || twice {
			return fmt.Errorf("want NAME=VALUE with a whole number, each name once, as in level=7, not %q", pair)
		}
		(*fields)[name] = value
	}
	return nil
}

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
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard"
	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// defaultTimeout is how long a command waits for the server unless it is told otherwise.
const defaultTimeout = 30 * time.Second

// remote is the server that a command asks, and how it answers.
type remote struct {
	*program
	url     string
	key     string         // secret
	roots   *x509.CertPool // nil: the system's
	timeout time.Duration
	json    bool
}

func (p *program) remote() remote {
	return remote{program: p, url: "http://127.0.0.1:8080", timeout: defaultTimeout}
}

// String hides the key from whoever prints the options of a command.
func (remote) String() string { return "the server" }

// command makes a leaf that asks the server.
func (r *remote) command(name, usage, args string, do action, flags ...cli.Flag) *cli.Command {
	return r.leaf(name, usage, args, func(ctx context.Context, given []string) error {
		err := do(ctx, given)
		if err != nil && ctx.Err() != nil {
			return context.Canceled // what failed last, before it would have been tried again, is not why
		}
		board := ""
		if strings.HasPrefix(strings.TrimPrefix(args, "("), "BOARD") && len(given) > 0 {
			board = given[0]
		}
		return r.explain(err, board)
	}, append([]cli.Flag{
		newChecked(r.setting("url", "where the server is"), &r.url, parseURL),
		newChecked(r.setting("key", "the bearer key"), &r.key, parseKey),
		custom(r.setting("ca-file", "file of certificates, PEM, that are trusted besides the system's, for a server with a private one"), &r.roots, parseCAFile),
		r.timeoutFlag(&r.timeout),
		jsonFlag(&r.json),
	}, flags...)...)
}

func parseURL(v string) (string, error) {
	parsed, err := url.Parse(v)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.User != nil {
		return "", errors.New("want the form http://127.0.0.1:8080")
	}
	return strings.TrimSuffix(v, "/"), nil
}

func parseKey(v string) (string, error) {
	if !visibleASCII(v) {
		return "", errors.New("a key is visible ASCII")
	}
	return v, nil
}

// connect returns a client that asks once for each request unless options say otherwise.
func (r *remote) connect(options ...client.Option) (*client.Client, error) {
	own := []client.Option{client.WithKey(r.key), client.WithTimeout(r.timeout), client.WithMaxWait(0), client.WithOnRetry(r.sayRetry)}
	if r.roots != nil {
		own = append(own, client.WithHTTPClient(overTLS(&tls.Config{RootCAs: r.roots, MinVersion: tls.VersionTLS12})))
	}
	return client.New(r.url, append(own, options...)...)
}

// overTLS returns the usual client of HTTP with another configuration of TLS.
func overTLS(config *tls.Config) *http.Client {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true}
	return &http.Client{Transport: transport}
}

// do makes one request.
func (r *remote) do(ctx context.Context, request client.Request, options ...client.Option) (*client.Answer, error) {
	c, err := r.connect(options...)
	if err != nil {
		return nil, err
	}
	return c.Do(ctx, request)
}

// ask makes one request. With --json the answer is printed as it came and done is true, otherwise it is in into.
func (r *remote) ask(ctx context.Context, request client.Request, into any) (done bool, err error) {
	answer, err := r.do(ctx, request)
	if err != nil {
		return false, err
	}
	if r.json {
		return true, terminal.PassJSON(r.out, answer.Body)
	}
	return false, answer.Decode(into)
}

// askAndShow makes one request and shows the answer: as it came with --json, by show otherwise. It is in into either
// way.
func (r *remote) askAndShow(ctx context.Context, request client.Request, into any, show func() error) error {
	answer, err := r.do(ctx, request)
	if err != nil {
		return err
	}
	if err := answer.Decode(into); err != nil {
		return err
	}
	if r.json {
		return terminal.PassJSON(r.out, answer.Body)
	}
	return show()
}

// list is a list of the server that comes in pages.
type list struct {
	path   string
	query  url.Values // besides limit and cursor; nil for none
	member string     // of an answer, that holds the items
	head   []string   // of the table
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
	}
	for raw, err := range client.Items[json.RawMessage](ctx, c, l.path, l.query, l.member) {
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

func addRow[T any](t *terminal.Table, raw json.RawMessage, row func(*terminal.Table, *T)) error {
	item := new(T)
	if err := json.Unmarshal(raw, item); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	row(t, item)
	return nil
}

// timeText shows a moment as the API writes it.
func timeText(t time.Time) string { return leaderboard.MicrosOf(t).String() }

// secondText shows a moment whose microseconds are nobody's concern.
func secondText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// optionalValues returns the parameters that have a value.
func optionalValues(pairs ...string) url.Values {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return query
}

// Flags that several families of commands add to those of every remote.

// modeFlag takes the modes that are given besides those of boards.
func (p *program) modeFlag(at *string, more ...string) cli.Flag {
	return choice(p.option("mode", "numbering of ties: strict (1,2,3,4), tied (1,2,2,4) or dense (1,2,2,3), to read ranks also all; empty: the board's own"),
		at, append([]string{"strict", "tied", "dense"}, more...)...)
}

func (p *program) labelsFlag(at *leaderboard.Labels) cli.Flag {
	return custom(p.option("labels", "label:value pairs separated by commas, as in type:moba,aspect:sound: labels to give a board, or that boards must have"),
		at, leaderboard.ParseLabels)
}

func windowFlag(at *string) cli.Flag {
	return &cli.StringFlag{Name: "window", Usage: "which of the board's windows, such as day; empty: its first", Destination: at}
}

func periodFlag(at *string) cli.Flag {
	return &cli.StringFlag{Name: "period", Usage: "current, previous or a name such as 2026-11-20, 2026-W47, 2026-Q4; empty: the current one", Destination: at}
}

func idempotencyKeyFlag(at *string) cli.Flag {
	return &cli.StringFlag{
		Name: "idempotency-key", Destination: at,
		Usage: "repeat a submit under the same key and it counts once; empty: a random one. The same file imported under another key counts again",
	}
}

// tiebreakFlags returns --tiebreak and --field. Which fields there have to be, and their ranges, the server knows.
func (p *program) tiebreakFlags(tiebreak **int64, fields *map[string]int64) []cli.Flag {
	field := newChecked(p.option("field", "a tiebreak field of the entries, or of the score, as in level=7; once for each field of the board"),
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
		value, err := strconv.ParseInt(number, 10, 64)
		if _, twice := (*fields)[name]; err != nil || name == "" || twice {
			return fmt.Errorf("want NAME=VALUE with a whole number, each name once, as in level=7, not %q", pair)
		}
		(*fields)[name] = value
	}
	return nil
}

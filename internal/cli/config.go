package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard"
	"leaderboard/cache/topn"
	"leaderboard/httpapi"
	"leaderboard/internal/app"
)

// config holds the values of the settings that a command takes; see the table in settings.go for their meaning.
type config struct {
	app.Config

	dir     string
	members int

	kind, against, board string
	all                  bool

	url            string
	key            string // secret
	timeout        time.Duration
	json           bool
	limit          int
	offset, minSeq int64
	mode           string
	window, period string
	boards         string
	labels         leaderboard.Labels
	around         *int
	score          *int64
	tiebreak       *int64
	fields         map[string]int64
	idempotencyKey string
	format, output string

	batch             int
	refused, progress string
	restart           bool
	retryFor          time.Duration

	profile map[string]any // what is to change in a profile
	friends bool           // rank: the member among its friends

	reason, actor   string // of a hiding
	reopen, history bool

	rulesFile string
	rules     map[string]any // the body of PUT /v1/boards/{board}, as far as options gave it
}

// String hides the secrets from whoever prints a configuration.
func (config) String() string { return "the configuration" }

func text(field func(*config) *string) func(*config, string) error {
	return func(c *config, v string) error { *field(c) = v; return nil }
}

func toggle(field func(*config) *bool) func(*config, string) error {
	return func(c *config, v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("want true or false, not %q", v)
		}
		*field(c) = b
		return nil
	}
}

func choice(field func(*config) *string, allowed ...string) func(*config, string) error {
	return func(c *config, v string) error {
		if !slices.Contains(allowed, v) {
			return fmt.Errorf("want %s, not %q", strings.Join(allowed, " or "), v)
		}
		*field(c) = v
		return nil
	}
}

func number[T int | int64](field func(*config) *T, least, most T) func(*config, string) error {
	return func(c *config, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < int64(least) || n > int64(most) {
			return fmt.Errorf("want a whole number from %d to %d, not %q", least, most, v)
		}
		*field(c) = T(n)
		return nil
	}
}

func optional[T int | int64](field func(*config) **T, least, most T) func(*config, string) error {
	return func(c *config, v string) error {
		*field(c) = new(T)
		return number(func(c *config) *T { return *field(c) }, least, most)(c, v)
	}
}

func duration(field func(*config) *time.Duration, least time.Duration) func(*config, string) error {
	return func(c *config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < least {
			return fmt.Errorf("want a duration of at least %s, such as %s, not %q", least, cmp.Or(least, time.Second), v)
		}
		*field(c) = d
		return nil
	}
}

func address(field func(*config) *string) func(*config, string) error {
	return func(c *config, v string) error {
		_, port, err := net.SplitHostPort(v)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil {
			return fmt.Errorf("want host:port, such as 127.0.0.1:8080 or :8080, not %q", v)
		}
		*field(c) = v
		return nil
	}
}

// ruleField puts a value at a dotted path of the body of PUT /v1/boards/{board}.
func ruleField(path string, numeric bool) func(*config, string) error {
	return func(c *config, v string) error {
		var value any = v
		if numeric {
			if _, err := strconv.ParseInt(v, 10, 64); err != nil {
				return fmt.Errorf("want a whole number, not %q", v)
			}
			value = json.Number(v)
		}
		c.setRule(path, value)
		return nil
	}
}

// ruleList sets a field of the rules to the parts of a list.
func ruleList(path string) func(*config, string) error {
	return func(c *config, v string) error {
		c.setRule(path, strings.Split(v, ","))
		return nil
	}
}

// setRule sets a member of the body of PUT /v1/boards/{board}, or with outer.inner a member of one of its objects.
func (c *config) setRule(path string, value any) {
	if c.rules == nil {
		c.rules = map[string]any{}
	}
	at := c.rules
	outer, inner, nested := strings.Cut(path, ".")
	if nested {
		if _, ok := at[outer]; !ok {
			at[outer] = map[string]any{}
		}
		at, outer = at[outer].(map[string]any), inner
	}
	at[outer] = value
}

func setLabels(c *config, v string) error {
	var err error
	c.labels, err = leaderboard.ParseLabels(v)
	return err
}

// The parsers' own errors quote what they read, passwords included; so the secret settings have errors of their own.

func setDSN(c *config, v string) error {
	parsed, err := mysql.ParseDSN(v)
	if err != nil {
		return fmt.Errorf("want the form user:password@tcp(127.0.0.1:3306)/leaderboard")
	}
	if parsed.DBName == "" {
		return fmt.Errorf("the name of the database is missing at the end: …/leaderboard")
	}
	c.MySQLDSN = v
	return nil
}

func setRedisURL(c *config, v string) error {
	client, err := topn.Open(v) // does not connect; its errors hide the password
	if err != nil {
		return err
	}
	c.RedisURL = v
	return client.Close()
}

func setFault(c *config, v string) (err error) {
	c.Fault, err = app.ParseFault(v)
	return err
}

func setURL(c *config, v string) error {
	parsed, err := url.Parse(v)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.User != nil {
		return fmt.Errorf("want the form http://127.0.0.1:8080")
	}
	c.url = strings.TrimSuffix(v, "/")
	return nil
}

func setKey(c *config, v string) error {
	if !visibleASCII(v) {
		return fmt.Errorf("a key is visible ASCII")
	}
	c.key = v
	return nil
}

func setKeys(c *config, v string) error {
	seen := map[string]bool{}
	for i, item := range strings.Split(v, ",") {
		scope, secret, ok := strings.Cut(strings.TrimSpace(item), ":")
		switch {
		case !ok || !slices.Contains([]string{"read", "write", "admin"}, scope):
			return fmt.Errorf("key %d of the list: want scope:key with scope read, write or admin", i+1)
		case !visibleASCII(secret):
			return fmt.Errorf("key %d of the list: a key is visible ASCII, at least one character", i+1)
		case seen[secret]:
			return fmt.Errorf("key %d of the list is there twice", i+1)
		}
		seen[secret] = true
		c.Keys = append(c.Keys, httpapi.Key{Scope: httpapi.Scope(scope), Secret: secret})
	}
	return nil
}

func visibleASCII(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

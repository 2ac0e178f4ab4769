package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gomysql "github.com/go-sql-driver/mysql"

	"leaderboard/leaderboard"
)

// ErrTwoPrimaries means that more than one of the hosts of a DSN takes writes. The service uses none of them, because each lacks
// the writes to the others.
var ErrTwoPrimaries = fmt.Errorf("%w: more than one of the database hosts takes writes: make all but one read-only", leaderboard.ErrUnavailable)

// DSNs returns a DSN for each host of a DSN that names several, as in user:password@tcp(db1:3306,db2:3306)/leaderboard.
func DSNs(dsn string) []string {
	end := strings.LastIndexByte(dsn, '/')
	if end < 0 {
		return []string{dsn}
	}
	at := strings.LastIndexByte(dsn[:end], '@') + 1
	network, addresses, ok := strings.Cut(dsn[at:end], "(")
	if !ok || !strings.Contains(addresses, ",") {
		return []string{dsn}
	}
	var each []string
	for host := range strings.SplitSeq(strings.TrimSuffix(addresses, ")"), ",") {
		each = append(each, dsn[:at]+network+"("+strings.TrimSpace(host)+")"+dsn[end:])
	}
	return each
}

// hosts knows which of the hosts of a database is the primary: the host that takes writes. A single host is the primary.
type hosts struct {
	log  *slog.Logger
	all  []*host
	life context.Context
	end  context.CancelFunc
	work sync.WaitGroup // the goroutines that ask

	hostWait   time.Duration // how long a search waits for a host that does not answer
	othersWait time.Duration // how long it waits for the others when one takes writes, to find out whether another does too

	mu      sync.Mutex
	current int   // the primary; -1: it has to be looked for
	flight  *look // that is under way, or nil
}

// host is a host of the database.
type host struct {
	address string
	login   driver.Connector // without any setting of a session
	asked   atomic.Bool      // it is asked at present: servers count connections that end before they have begun
}

// look is a search for the primary.
type look struct {
	done chan struct{}
	host int
	err  error
}

// newHosts returns the hosts of a DSN. Nothing is dialled yet.
func newHosts(cfg Config) (*hosts, error) {
	configs, err := parseDSN(cfg)
	if err != nil {
		return nil, err
	}
	h := &hosts{log: cfg.Logger, hostWait: time.Second, othersWait: 300 * time.Millisecond}
	h.life, h.end = context.WithCancel(context.Background())
	for _, mc := range configs {
		mc.Params = nil
		login, err := gomysql.NewConnector(mc)
		if err != nil {
			return nil, fmt.Errorf("store: DSN: %w", err)
		}
		h.all = append(h.all, &host{address: mc.Addr, login: login})
	}
	if len(h.all) > 1 {
		h.current = -1
	}
	return h, nil
}

func (h *hosts) close() {
	h.mu.Lock()
	h.end()
	h.mu.Unlock()
	h.work.Wait()
}

// primary returns the number of the host that takes writes, as far as is known. Callers at the same time share one search.
func (h *hosts) primary(ctx context.Context) (int, error) {
	h.mu.Lock()
	if h.current >= 0 {
		defer h.mu.Unlock()
		return h.current, nil
	}
	l := h.search()
	h.mu.Unlock()
	return l.await(ctx)
}

// await waits for the end of a search.
func (l *look) await(ctx context.Context) (int, error) {
	select {
	case <-l.done:
		return l.host, l.err
	case <-ctx.Done():
		return -1, ctx.Err()
	}
}

// lost records that a host could not be used: the primary is searched before the next connection is made. A single host has
// no alternative.
func (h *hosts) lost(number int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.all) > 1 && h.current == number {
		h.current = -1
	}
}

// probe asks for an answer: from the only host, or from the host that takes writes.
func (h *hosts) probe(ctx context.Context) error {
	if len(h.all) == 1 {
		return h.all[0].answers(ctx)
	}
	h.mu.Lock()
	l := h.search()
	h.mu.Unlock()
	_, err := l.await(ctx)
	return err
}

// search begins to look for the primary, unless that is under way. It is called with mu held.
func (h *hosts) search() *look {
	if h.flight != nil {
		return h.flight
	}
	l := &look{done: make(chan struct{}), host: -1}
	if l.err = h.life.Err(); l.err != nil { // closed
		close(l.done)
		return l
	}
	h.flight = l
	h.work.Go(func() {
		l.host, l.err = h.find()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.flight = nil
		switch {
		case l.err == nil && h.current != l.host:
			h.current = l.host
			h.log.Info("a database host takes writes and is used", "host", h.all[l.host].address)
		case errors.Is(l.err, ErrTwoPrimaries):
			h.current = -1
		}
		close(l.done)
	})
	return l
}

// find asks all hosts and returns the host that takes writes. Errors: the error of a host that did not answer, because it
// may be the primary; ErrReadOnly when all answer and none takes writes; ErrTwoPrimaries.
func (h *hosts) find() (int, error) {
	type answer struct {
		host     int
		readOnly bool
		server   string
		err      error
	}
	answers := make(chan answer, len(h.all))
	waiting := 0
	var failed error
	for i, one := range h.all {
		if !one.asked.CompareAndSwap(false, true) {
			failed = fmt.Errorf("host %s does not answer: %w", one.address, gomysql.ErrInvalidConn)
			continue
		}
		waiting++
		h.work.Go(func() {
			ctx, cancel := context.WithTimeout(h.life, probeLimit)
			defer cancel()
			settings, err := one.settings(ctx)
			readOnly, server := readSettings(settings)
			one.asked.Store(false) // before the answer: the next search may begin with it
			answers <- answer{i, readOnly, server, err}
		})
	}
	primary, server := -1, ""
	timer := time.NewTimer(h.hostWait)
	defer timer.Stop()
	for ; waiting > 0; waiting-- {
		select {
		case a := <-answers:
			switch {
			case a.err != nil:
				failed = fmt.Errorf("host %s: %w", h.all[a.host].address, a.err)
			case a.readOnly && failed == nil:
				failed = ErrReadOnly
			case a.readOnly:
			case primary >= 0 && a.server == server: // by another address
			case primary >= 0:
				h.log.Error("two database hosts take writes: neither is used before one of them is read-only", "host", h.all[primary].address, "other", h.all[a.host].address)
				return -1, ErrTwoPrimaries
			default:
				primary, server = a.host, a.server
				timer.Reset(h.othersWait)
			}
		case <-timer.C:
			if primary >= 0 {
				return primary, nil
			}
			return -1, fmt.Errorf("a database host does not answer: %w", gomysql.ErrInvalidConn)
		}
	}
	if primary >= 0 {
		return primary, nil
	}
	return -1, failed
}

// answers returns an error unless the server answers a query on a new connection.
func (h *host) answers(ctx context.Context) error {
	_, err := h.query(ctx, func(ctx context.Context, c driver.QueryerContext) (string, error) { return oneText(ctx, c, "SELECT 1") })
	return err
}

// settings returns ServerSettings.
func (h *host) settings(ctx context.Context) (string, error) { return h.query(ctx, settingsOf) }

// query asks on a new connection, in as few round trips as possible.
func (h *host) query(ctx context.Context, question func(context.Context, driver.QueryerContext) (string, error)) (string, error) {
	made, err := h.login.Connect(ctx)
	if err != nil {
		return "", err
	}
	text, err := question(ctx, made.(driver.QueryerContext))
	return text, errors.Join(err, made.Close())
}

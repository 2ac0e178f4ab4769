package mysql

import (
	"context"
	"database/sql/driver"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/leaderboard"
)

// ErrReadOnly is a server that takes no writes: a replica, or a former primary after a failover. It must not answer reads
// either, because it may be behind without knowing.
var ErrReadOnly = fmt.Errorf("%w: the server is read-only", leaderboard.ErrUnavailable)

// ErrOtherServer means that the address leads to another server than before. Neither knows the writes to the other, so
// neither is used until it is certain to which of them the address leads.
var ErrOtherServer = fmt.Errorf("%w: connections lead to more than one server, or to another one since a moment ago", leaderboard.ErrUnavailable)

// server is the state of the server at the address: whether it answers, whether it takes writes, and whether writes can be
// committed. All connections of a store report their statements and answers to it. It decides whether anything is sent at
// all, and closes connections that must no longer be used.
//
// A server is away when it has answered nothing for silence, although statements wait, and a new connection gets no answer
// to SELECT 1 either: see outage.go. A read-only server is not used, and a server that has replaced another is not used
// until it is certain that all connections lead to it. Then a new era begins: connections of an older one are dropped.
type server struct {
	log     *slog.Logger
	dialect dialect
	began   time.Time

	// Which server it is.
	era     atomic.Int64 // how often all connections were given up
	refused atomic.Bool  // it was read-only when it was looked at last
	used    atomic.Bool  // connections were used since the address was dialled last

	// Whether it answers. Times are in nanoseconds since began; 0 is never.
	probe    func(context.Context) error // probes a new connection; nil: the server never counts as away
	life     context.Context
	end      context.CancelFunc
	work     sync.WaitGroup // the goroutine that looks
	answered atomic.Int64   // the last answer
	failed   atomic.Int64   // when the first statement since then was sent that failed without an answer
	since    atomic.Int64   // when the server went away; 0: it is not away
	returned atomic.Int64   // when it was back last
	looking  atomic.Bool    // there is a goroutine that looks
	wait     time.Duration  // of a probe, at least
	maxWait  time.Duration  // of a probe now; belongs to that goroutine

	// Whether writes can be committed.
	committed atomic.Int64 // the last commit
	blocked   atomic.Int64 // when the first of the batches began that could not be committed since then; 0: no batch
	tried     atomic.Int64 // when a batch last could not be committed

	mu     sync.Mutex // guards the fields below
	name   string     // of the server that was met last
	met    int        // how often in a row, up to certain; 0 before the first
	conns  map[*conn]struct{}
	onAway []func(error)
}

func newServer(log *slog.Logger, probe func(context.Context) error, wait time.Duration) *server {
	s := &server{log: log, probe: probe, began: time.Now(), wait: wait, maxWait: wait, conns: map[*conn]struct{}{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

func (s *server) close() {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	s.work.Wait()
}

// ServerSettings is an SQL expression that shows whether a server is read-only, and which server it is: see DB.Refuse. An
// account that may write to a read-only server sees that it is read-only, too. In MySQL super_read_only is never on without
// read_only. The parts of the other dialect are comments to each dialect. MariaDB has no UUID: servers that replicate
// differ in their id, others in name, port or directory.
const ServerSettings = "CONCAT_WS(',', @@global.read_only, @@global.innodb_read_only," +
	" /*!80000 @@global.server_uuid */ /*M! CONCAT_WS(' ', @@global.server_id, @@global.hostname, @@global.port, @@global.datadir) */)"

// inStep comes before a SELECT that a node of Galera must answer only when it has all commits of the other nodes. A node
// without a majority fails: without this it would still report that it takes writes. To MySQL it is a comment.
const inStep = "/*M! SET STATEMENT wsrep_sync_wait = 1 FOR */ "

// settingsOf asks for ServerSettings, of a node that is in step.
func settingsOf(ctx context.Context, c driver.QueryerContext) (string, error) {
	settings, err := oneText(ctx, c, inStep+"SELECT "+ServerSettings)
	if number(err) == errUnknownVariable { // a MariaDB that is built without Galera
		return oneText(ctx, c, "SELECT "+ServerSettings)
	}
	return settings, err
}

// readSettings returns the meaning of ServerSettings.
func readSettings(settings string) (readOnly bool, name string) {
	parts := append(strings.SplitN(settings, ",", 3), "", "", "")
	for _, s := range parts[:2] {
		readOnly = readOnly || s != "" && s != "0" && !strings.EqualFold(s, "OFF")
	}
	return readOnly, parts[2]
}

// certain is how many connections in a row must lead to another server before that is used. With a proxy that chooses
// between two servers by chance, all would lead to the same once in a billion times.
const certain = 30

// refuse returns an error for a server that must not be used, and drops all connections.
func (s *server) refuse(settings string) error {
	readOnly, name := readSettings(settings)
	if !readOnly {
		return s.meet(name)
	}
	s.endEra()
	return ErrReadOnly
}

// admit returns an error for a new connection to a server that must not be used.
func (s *server) admit(settings string) error {
	readOnly, name := readSettings(settings)
	if readOnly {
		s.warnRefused()
		return ErrReadOnly
	}
	if err := s.meet(name); err != nil {
		return err
	}
	if s.refused.Swap(false) {
		s.log.Info("the database server takes writes again")
	}
	return nil
}

// endEra drops all connections, because their server is read-only.
func (s *server) endEra() {
	s.era.Add(1)
	s.warnRefused()
}

// warnRefused logs once that the server is not used, whether a new connection finds that first or an old one.
func (s *server) warnRefused() {
	if !s.refused.Swap(true) {
		s.log.Warn("the database server is read-only and not used: another may have taken over")
	}
}

// meet records to which server a connection leads. The first server is used. From then on all connections are dropped
// whenever a connection leads to a different server than its predecessor, and the new server is used once it is certain
// that all lead there.
func (s *server) meet(name string) error {
	if name == "" {
		return nil // it was not asked, or there was no row
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.met == 0:
		s.name, s.met = name, certain
	case s.name != name:
		s.era.Add(1)
		if s.met == certain {
			s.log.Warn("the database address leads to another server than before: neither is used until all connections lead to one")
		}
		s.name, s.met = name, 1
	case s.met < certain:
		if s.met++; s.met == certain {
			s.log.Info("the server that the database address leads to now is used")
		}
	}
	if s.met < certain {
		return ErrOtherServer
	}
	return nil
}

// moves reports whether it is not certain to which server the address leads.
func (s *server) moves() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.met > 0 && s.met < certain
}

// blockedFor is how long a failure to commit counts while no further write is tried.
const blockedFor = time.Minute

// wrote notes that something was committed.
func (s *server) wrote() {
	s.committed.Store(s.now())
	if since := s.blocked.Load(); since != 0 && s.blocked.CompareAndSwap(since, 0) {
		s.log.Info("writes are committed again", "after", time.Duration(s.now()-since).Round(time.Millisecond).String())
	}
}

// wroteNot notes that a batch, begun at the time given, could not be committed.
func (s *server) wroteNot(began time.Time) {
	since := max(1, int64(began.Sub(s.began)))
	if s.isAway() || s.committed.Load() > since {
		return // others are committed
	}
	if s.tried.Store(s.now()); s.blocked.CompareAndSwap(0, since) {
		s.log.Warn("no write can be committed, though MySQL answers", "since", began.UTC().Format(time.RFC3339))
	}
}

// blockedSince returns when the present failures to commit writes began; false if there are no failures, or no write was tried
// recently.
func (s *server) blockedSince() (time.Time, bool) {
	since := s.blocked.Load()
	return s.began.Add(time.Duration(since)), since != 0 && s.now()-s.tried.Load() < int64(blockedFor)
}

func (s *server) now() int64 { return max(1, int64(time.Since(s.began))) }

func (s *server) isAway() bool { return s.since.Load() != 0 }

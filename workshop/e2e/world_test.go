package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"leaderboard/client"
	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/store"
)

// world is a migrated database and a Redis, for the servers of one test.
type world struct {
	dsn      string
	redisURL string        // "" for none
	db       *sql.DB       // on dsn, for looking past the servers
	redis    *redis.Client // on redisURL, nil for none
}

// newWorld makes a world on servers that other tests use as well.
func newWorld(t *testing.T) *world {
	t.Helper()
	return worldOn(t, testenv.MySQL(t), testenv.Redis(t))
}

// worldOn makes a world on given servers; redisURL may be "".
func worldOn(t *testing.T, dsn, redisURL string) *world {
	t.Helper()
	w := worldBefore(t, dsn, redisURL)
	if _, err := migrations.Up(t.Context(), w.db); err != nil {
		t.Fatal(err)
	}
	return w
}

// worldBefore is worldOn without a schema.
func worldBefore(t *testing.T, dsn, redisURL string) *world {
	t.Helper()
	w := &world{dsn: dsn, redisURL: redisURL}
	var err error
	if w.db, err = store.Connect(dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.db.Close() })
	if redisURL != "" {
		opts, err := redis.ParseURL(redisURL)
		if err != nil {
			t.Fatal(err)
		}
		w.redis = redis.NewClient(opts)
		t.Cleanup(func() { _ = w.redis.Close() })
	}
	return w
}

// databaseOn makes a database on a private MySQL and returns its DSN.
func databaseOn(t *testing.T, s *devserver.Server) string {
	t.Helper()
	dsn, err := s.CreateDatabase(t.Context(), "e2e")
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}

// server is a serving process and a client for it.
type server struct {
	*process
	*api
}

// serve starts a server on the world and waits until it is ready. args may override these settings.
func (w *world) serve(t *testing.T, name string, args ...string) *server {
	t.Helper()
	p := start(t, name, w.environment(), append([]string{"serve"}, args...)...)
	s := &server{p, newAPI(t, p.err.awaitLog(t, "serving", "addr"))}
	s.awaitReady(t)
	return s
}

// environment configures any command of the program for this world.
func (w *world) environment() []string {
	return []string{
		"LEADERBOARD_MYSQL_DSN=" + w.dsn, "LEADERBOARD_REDIS_URL=" + w.redisURL, "LEADERBOARD_LISTEN=127.0.0.1:0", "LEADERBOARD_PUBLIC_METRICS=true",
		"LEADERBOARD_KEYS=admin:" + adminKey, "LEADERBOARD_LOG=json",
	}
}

func (s *server) awaitReady(t *testing.T) {
	t.Helper()
	eventually(t, s.name+" is ready", func() error {
		_, err := s.Ready(t.Context())
		return err
	})
}

// putBoard creates a board.
func (s *server) putBoard(t *testing.T, board string, rules leaderboard.Rules) {
	t.Helper()
	_, created, err := s.PutBoard(t.Context(), board, rules)
	if err == nil && !created {
		err = errors.New("it was there")
	}
	if err != nil {
		t.Fatalf("create %s: %s", board, err)
	}
}

// fill creates a board with n members and returns its ranking: many ties, broken by the order of arrival.
func (s *server) fill(t *testing.T, board string, n int, rules leaderboard.Rules) ranking {
	t.Helper()
	s.putBoard(t, board, rules)
	var all ranking
	for from := 0; from < n; from += 1000 {
		var batch []leaderboard.Submission
		for i := from; i < min(from+1000, n); i++ {
			member, score := fmt.Sprintf("m%05d", i), int64(i*7919%n/3)
			batch = append(batch, scored(member, score))
			all = append(all, entry{Member: member, Score: score})
		}
		s.mustSubmit(t, board, batch...)
	}
	slices.SortStableFunc(all, func(a, b entry) int { return int(b.Score - a.Score) })
	for i := range all {
		all[i].Rank = int64(i + 1)
	}
	return all
}

// ranking is all entries of a board, best first.
type ranking []entry

// checkTop compares an answer of top?offset=&limit= with the ranking.
func (r ranking) checkTop(p client.Page, offset, limit int) error {
	want := r[min(offset, len(r)):min(offset+limit, len(r))]
	if p.Total != int64(len(r)) {
		return fmt.Errorf("total %d, want %d (seq %d from %s)", p.Total, len(r), p.Seq, p.Source)
	}
	if got := entriesOf(p.Entries); !slices.Equal(got, []entry(want)) {
		return fmt.Errorf("%d entries from %d differ (seq %d from %s): %v, want %v", limit, offset, p.Seq, p.Source, got, want)
	}
	return nil
}

// periodOf returns the id of a board's only period.
func (w *world) periodOf(t *testing.T, board string) int64 {
	t.Helper()
	var id int64
	w.queryRow(t, "SELECT p.id FROM periods p JOIN boards b ON b.id = p.board_id WHERE b.name = '"+board+"'", &id)
	return id
}

func (w *world) queryRow(t *testing.T, query string, into ...any) {
	t.Helper()
	if err := w.db.QueryRowContext(t.Context(), query).Scan(into...); err != nil {
		t.Fatalf("%s: %s", query, err)
	}
}

// scores returns the true scores of a board in MySQL.
func (w *world) scores(t *testing.T, board string) map[string]int64 {
	t.Helper()
	rows, err := w.db.QueryContext(t.Context(), "SELECT member, score FROM scores WHERE board = ?", board)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	scores := map[string]int64{}
	for rows.Next() {
		var member string
		var score int64
		if err := rows.Scan(&member, &score); err != nil {
			t.Fatal(err)
		}
		scores[member] = score
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return scores
}

// copySeq returns the seq of a period's copy in Redis, or "".
func (w *world) copySeq(ctx context.Context, period int64) (string, error) {
	base, err := w.base(ctx, period)
	if err != nil {
		return "", err
	}
	seq, err := w.redis.HGet(ctx, base+"meta", "seq").Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return seq, err
}

// base returns the prefix of the keys of a period.
func (w *world) base(ctx context.Context, period int64) (string, error) {
	var history int64
	err := w.db.QueryRowContext(ctx, "SELECT incarnation FROM periods WHERE id = ?", period).Scan(&history)
	return fmt.Sprintf("lb:{%d}:%x:", period, uint64(history)), err
}

// leaseOf returns the key of the lease for building a period's copy.
func (w *world) leaseOf(t *testing.T, period int64) string {
	t.Helper()
	base, err := w.base(t.Context(), period)
	if err != nil {
		t.Fatal(err)
	}
	return base + "lease"
}

// temporaryKeys returns the number of a period's temporary keys, and the shortest and longest time to live among them, in
// milliseconds. -1 is a key without an end.
func (w *world) temporaryKeys(ctx context.Context, period int64) (n, shortest, longest int64, err error) {
	const script = `local all, low, high = redis.call('KEYS', ARGV[1]), nil, nil
		for _, key in ipairs(all) do
			local ttl = redis.call('PTTL', key)
			if not low or ttl < low then low = ttl end
			if not high or ttl > high then high = ttl end
		end
		return { #all, low or 0, high or 0 }`
	v, err := w.redis.Eval(ctx, script, nil, fmt.Sprintf("lb:{%d}:*:tmp:*", period)).Int64Slice()
	if err != nil || len(v) != 3 {
		return 0, 0, 0, fmt.Errorf("look at the temporary keys: %w", err)
	}
	return v[0], v[1], v[2], nil
}

package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"leaderboard/client"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// soakVariable is the environment variable for the duration of TestSoak; make test KIND=soak sets it.
const soakVariable = "LEADERBOARD_TEST_SOAK"

const (
	soakClients = 8
	soakPace    = 10 * time.Millisecond // between the requests of a client: leaks show at any pace
	soakMembers = 500
	soakSamples = 40
	// soakFlat is the duration after which rows must no longer grow: housekeeping comes every minute, and keeps rows for a
	// minute here.
	soakFlat = 6 * time.Minute
)

// usage is the resources that a process and its servers hold at a moment, by name.
type usage map[string]float64

// soak is a pair of servers under all kinds of requests.
type soak struct {
	*world
	servers []*server
	asked   atomic.Int64
	refused atomic.Int64 // 503
	mu      sync.Mutex
	errs    []error
}

// TestSoak sends all kinds of requests to two servers, while Redis is emptied and paused now and then. In the end goroutines,
// descriptors, connections and temporary keys are back where they were after a warm-up; over minutes, memory, keys in Redis and
// rows do not grow either (promise F5).
func TestSoak(t *testing.T) {
	t.Parallel()
	duration := 5 * time.Second
	if said := os.Getenv(soakVariable); said != "" {
		var err error
		if duration, err = time.ParseDuration(said); err != nil {
			t.Fatal(err)
		}
	}
	redis := testenv.PrivateRedis(t)
	s := &soak{world: worldOn(t, testenv.MySQL(t), redis.URL)}
	for i := range 2 {
		s.servers = append(s.servers, s.serve(t, fmt.Sprint("server ", i), "--key-ttl", "1m", "--change-ttl", "1m"))
	}
	for _, board := range []string{"best", "sum"} {
		s.servers[0].fill(t, board, soakMembers, leaderboard.Rules{Policy: leaderboard.Policy(board), TopN: 100, Windows: []leaderboard.Window{"all_time", "hour"}})
	}
	s.load(t, min(duration, 3*time.Second), func() error { return nil }, nil)
	before := s.quiet(t, nil)
	var samples []usage
	s.load(t, duration, func() error {
		return errors.Join(s.redis.FlushAll(t.Context()).Err(), redis.Pause(), pauseFor(nemesisPause), redis.Resume())
	}, func() { samples = append(samples, s.usage(t)) })
	after := s.quiet(t, before)
	if err := errors.Join(s.errs...); err != nil {
		t.Error(err)
	}
	t.Logf("%d requests in %s, %d refused\n%s", s.asked.Load(), duration, s.refused.Load(), usageTable(before, samples, after))
	if duration >= soakFlat {
		checkFlat(t, samples)
	}
}

// load has clients send all kinds of requests, and disturbs Redis ten times, until the time is over.
func (s *soak) load(t *testing.T, duration time.Duration, harm func() error, sample func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	var all sync.WaitGroup
	for id := range soakClients {
		all.Go(func() { s.client(ctx, id) })
	}
	looks, harms := time.NewTicker(max(duration/soakSamples, 100*time.Millisecond)), time.NewTicker(duration/10)
	defer looks.Stop()
	defer harms.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-looks.C:
			if sample != nil {
				sample()
			}
		case <-harms.C:
			if err := harm(); err != nil {
				t.Error(err)
			}
		}
	}
	all.Wait()
}

// client sends one request after the other. Refusals are counted, every other failure is kept.
func (s *soak) client(ctx context.Context, id int) {
	random := rand.New(rand.NewPCG(uint64(id), 5))
	pace := time.NewTicker(soakPace)
	defer pace.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		<-pace.C
		a := s.servers[random.IntN(len(s.servers))].api
		board, member := []string{"best", "sum"}[random.IntN(2)], fmt.Sprintf("m%05d", random.IntN(soakMembers))
		err := soakRequest(context.WithoutCancel(ctx), a, random.IntN(soakKinds), board, member, fmt.Sprintf("key-%d-%d-%d", id, i, time.Now().UnixNano()))
		s.asked.Add(1)
		switch code := status(err); {
		case code == http.StatusServiceUnavailable:
			s.refused.Add(1)
		case err != nil && code != http.StatusNotFound:
			s.mu.Lock()
			if len(s.errs) < 5 {
				s.errs = append(s.errs, err)
			}
			s.mu.Unlock()
		}
	}
}

// soakKinds is how many kinds of requests soakRequest knows.
const soakKinds = 20

// soakRequest sends a request of a kind, from 0 on.
func soakRequest(ctx context.Context, a *api, kind int, board, member, key string) (err error) {
	score := int64(len(key)) * time.Now().UnixMilli() % 1000
	switch kind {
	case 0, 1, 2, 3:
		_, err = a.submit(ctx, board, key, scored(member, score))
	case 4, 5:
		_, err = a.top(ctx, board, int(score)%soakMembers, 20)
	case 6, 7:
		_, err = a.Top(ctx, board, client.TopQuery{Limit: 10})
	case 8:
		_, err = a.Member(ctx, board, member, client.ReadQuery{Mode: leaderboard.ModeTied})
	case 9:
		_, err = a.Around(ctx, board, member, 5, 5, client.ReadQuery{})
	case 10:
		_, err = a.Ranks(ctx, board, []string{member, "nobody"}, client.ReadQuery{})
	case 11:
		_, err = a.ScoreRank(ctx, board, client.ScoreQuery{Score: score})
	case 12:
		_, err = a.Distribution(ctx, board, 10, client.ReadQuery{})
	case 13:
		_, err = a.CombinedTop(ctx, client.BoardsQuery{Boards: []string{"best", "sum"}}, 10, 0, "")
	case 14:
		for _, err = range a.ExportEntries(ctx, board, client.ExportQuery{}) {
			if err != nil {
				break
			}
		}
	case 15:
		if _, err = a.HideMember(ctx, board, member, "soak", client.HideOptions{}); err == nil {
			err = a.RestoreMember(ctx, board, member, "soak", client.HideOptions{})
		}
	case 16:
		_, _, err = a.PutProfile(ctx, member, client.ProfileFields{DisplayName: key})
	case 17:
		_, err = a.runs(ctx, board)
	case 18:
		_, err = a.Ready(ctx)
	case 19:
		_, _, err = a.Rebuild(ctx, board, client.RebuildOptions{Kind: leaderboard.RunKindFull})
	}
	return err
}

// usage measures both processes, MySQL and Redis.
func (s *soak) usage(t *testing.T) usage {
	t.Helper()
	u := usage{}
	for _, server := range s.servers {
		text, err := server.Metrics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			if short, ok := soakMetrics()[name]; ok {
				n, err := strconv.ParseFloat(value, 64)
				if err != nil {
					t.Fatal(err)
				}
				u[short] += n
			}
		}
	}
	count := func(name, query string) {
		var n float64
		s.queryRow(t, query, &n)
		u[name] = n
	}
	connections, err := testenv.Processes(t.Context(), s.db)
	if err != nil {
		t.Fatal(err)
	}
	u["connections to MySQL"] = float64(len(connections))
	for _, table := range []string{"entries", "changes", "idempotency_keys", "runs", "hidden_members", "periods"} {
		count("rows of "+table, "SELECT COUNT(*) FROM "+table)
	}
	s.redisUsage(t, u)
	return u
}

// soakMetrics are metrics of a process, with their names here.
func soakMetrics() map[string]string {
	return map[string]string{"go_goroutines": "goroutines", "process_open_fds": "descriptors", "process_resident_memory_bytes": "memory"}
}

func (s *soak) redisUsage(t *testing.T, u usage) {
	t.Helper()
	keys, err := s.redis.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	u["keys in Redis"], u["temporary keys"] = float64(len(keys)), 0
	for _, key := range keys {
		if strings.Contains(key, ":tmp:") {
			u["temporary keys"]++
		}
	}
	info, err := s.redis.Info(t.Context(), "clients").Result()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(info))
	for lines.Scan() {
		if n, ok := strings.CutPrefix(lines.Text(), "connected_clients:"); ok {
			u["connections to Redis"], _ = strconv.ParseFloat(n, 64)
		}
	}
}

// quiet waits until the usage is no higher than before, with some room for pools, and returns it. before may be nil.
func (s *soak) quiet(t *testing.T, before usage) (now usage) {
	t.Helper()
	for _, server := range s.servers {
		server.idle()
	}
	eventually(t, "the servers are back where they were", func() error {
		now = s.usage(t)
		if now["temporary keys"] > 0 {
			return fmt.Errorf("%v temporary keys", now["temporary keys"])
		}
		var errs []error
		for _, name := range []string{"goroutines", "descriptors", "connections to MySQL", "connections to Redis"} {
			if before != nil && now[name] > 1.25*before[name]+10 {
				errs = append(errs, fmt.Errorf("%v %s, %v before", now[name], name, before[name]))
			}
		}
		return errors.Join(errs...)
	})
	return now
}

// keptRuns is how many runs the database keeps, whatever their age: these rows grow until then.
const keptRuns = 10_000

// checkFlat compares the third quarter with the last.
func checkFlat(t *testing.T, samples []usage) {
	t.Helper()
	n := len(samples) / 4
	for _, name := range slices.Sorted(maps.Keys(samples[0])) {
		if name == "rows of runs" {
			if rows := samples[len(samples)-1][name]; rows > 1.1*keptRuns {
				t.Errorf("%.0f rows of runs, %d are kept", rows, keptRuns)
			}
			continue
		}
		third, last := mean(samples[2*n:3*n], name), mean(samples[3*n:], name)
		if last > 1.15*third+20 {
			t.Errorf("%s grow: %.0f in the third quarter, %.0f in the last", name, third, last)
		}
	}
}

func mean(samples []usage, name string) float64 {
	sum := 0.0
	for _, u := range samples {
		sum += u[name]
	}
	return sum / float64(max(1, len(samples)))
}

// usageTable shows the resources before, in each quarter on average, and after.
func usageTable(before usage, samples []usage, after usage) string {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tbefore\t1st quarter\t2nd\t3rd\t4th\tafter\t")
	for _, name := range slices.Sorted(maps.Keys(before)) {
		fmt.Fprintf(t, "%s\t%.0f\t", name, before[name])
		for quarter := range 4 {
			n := len(samples)
			fmt.Fprintf(t, "%.0f\t", mean(samples[quarter*n/4:(quarter+1)*n/4], name))
		}
		fmt.Fprintf(t, "%.0f\t\n", after[name])
	}
	_ = t.Flush()
	return text.String()
}

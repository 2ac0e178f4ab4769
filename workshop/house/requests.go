package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard/client"
	"leaderboard/leaderboard"
	"leaderboard/workshop/program"
)

const (
	modulePattern = "leaderboard/..."
	housePrefix   = "leaderboard/workshop/house/"
	serverPackage = "./house/server"

	houseKey = "house-0123456789abcdef0123456789abcdef"
	inMemory = "in-memory" // a board that is kept whole in memory
	beyond   = "beyond"    // a board that never is
	members  = 6_000       // of each board: more than ranks are counted for without an index
	eachTime = 1_000       // scores in one submission
	quiet    = 3 * time.Second
	observed = 2 * time.Second // how long blocks count, with the request and without one
	times    = 3               // that a request is sent: its own code runs each time, background work does not
	patience = time.Minute
)

// request is a request whose code is measured.
type request struct {
	name            string
	files, packages int                                                      // goals
	send            func(ctx context.Context, c *client.Client, n int) error // n differs each time, so that no answer is there already
}

// requests are the measured requests. Each goal is a third below the first measurement (make house at a2467a6a: 106 files and 22
// packages, 64 and 16, 66 and 17, 78 and 21, 73 and 19).
func requests() []request {
	return []request{
		{"a plain submission", 70, 14, func(ctx context.Context, c *client.Client, n int) error {
			_, err := c.Submit(ctx, inMemory, []leaderboard.Submission{{Member: "m17", Score: int64(1_000_000 + n)}})
			return err
		}},
		{"a top page", 42, 10, func(ctx context.Context, c *client.Client, n int) error {
			_, err := c.Top(ctx, inMemory, client.TopQuery{Limit: 10 + n})
			return err
		}},
		{"a rank in memory", 44, 11, func(ctx context.Context, c *client.Client, n int) error {
			return readRank(ctx, c, inMemory, memberOf(17+n), leaderboard.SourceLocal)
		}},
		{"a rank beyond memory", 52, 14, func(ctx context.Context, c *client.Client, n int) error {
			return readRank(ctx, c, beyond, memberOf(17+n), leaderboard.SourceMySQL)
		}},
		{"a rebuild", 48, 12, func(ctx context.Context, c *client.Client, _ int) error {
			_, _, err := c.Rebuild(ctx, beyond, client.RebuildOptions{Wait: patience})
			return err
		}},
	}
}

// readRank asks for the rank of a member, and wants the answer from one source.
func readRank(ctx context.Context, c *client.Client, board, member string, source leaderboard.Source) error {
	e, err := c.Member(ctx, board, member, client.ReadQuery{})
	if err == nil && e.Source != source {
		return fmt.Errorf("the rank on board %s comes from %s, want %s", board, e.Source, source)
	}
	return err
}

// requestMeasures counts files and packages with blocks that run for each request.
func requestMeasures(ctx context.Context) ([]measure, error) {
	dir, err := os.MkdirTemp("", "house")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "server")
	if _, err := program.GoTool(ctx, "workshop", "build", "-cover", "-covermode=atomic", "-coverpkg="+modulePattern, "-o", binary, serverPackage); err != nil {
		return nil, err
	}
	s, err := startServer(ctx, dir, binary)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if err := s.fill(ctx); err != nil {
		return nil, err
	}
	idle, err := s.observe(ctx, nil)
	if err != nil {
		return nil, err
	}
	var all []measure
	for _, r := range requests() {
		ran, err := s.observeEach(ctx, func(n int) error { return r.send(ctx, s.api, n) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		files, packages, most := count(ran, idle)
		all = append(all, measure{r.name + ": files", files, r.files, most}, measure{r.name + ": packages", packages, r.packages, ""})
	}
	return all, nil
}

// server is the program with coverage, as a separate process.
type server struct {
	cmd    *exec.Cmd
	api    *client.Client
	door   *http.Client
	dir    string
	writes int
}

// startServer starts the program on a new database of the servers of bin/testenv and returns it when it is ready.
func startServer(ctx context.Context, dir, binary string) (*server, error) {
	dsn, err := newDatabase(ctx)
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, "door")
	s := &server{dir: dir, door: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}}
	s.cmd = exec.CommandContext(ctx, binary, "serve", "--migrate", "--listen", "127.0.0.1:0")
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.Env = append(os.Environ(), "LEADERBOARD_HOUSE_SOCKET="+socket, "GOCOVERDIR="+dir, "LEADERBOARD_MYSQL_DSN="+dsn,
		"LEADERBOARD_REDIS_URL="+os.Getenv("LEADERBOARD_TEST_REDIS_URL"), "LEADERBOARD_KEYS=admin:"+houseKey, "LEADERBOARD_LOG=text")
	logs, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	address, err := readAddress(logs)
	if err == nil {
		s.api, err = client.New(address, client.WithKey(houseKey), client.WithMaxWait(patience))
	}
	if err == nil {
		_, err = s.api.Ready(ctx)
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// newDatabase makes an empty database on the MySQL of bin/testenv.
func newDatabase(ctx context.Context) (dsn string, err error) {
	config, err := mysql.ParseDSN(os.Getenv("LEADERBOARD_TEST_MYSQL_DSN"))
	if err != nil || config.Addr == "" {
		return "", errors.Join(errors.New("run it as make house does, below bin/testenv"), err)
	}
	db, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		return "", err
	}
	defer db.Close()
	config.DBName = "house_" + strconv.Itoa(os.Getpid())
	_, err = db.ExecContext(ctx, "CREATE DATABASE "+config.DBName)
	return config.FormatDSN(), err
}

// readAddress reads a server's log as far as the line that names its address. The rest is dropped.
func readAddress(logs io.Reader) (string, error) {
	lines := bufio.NewScanner(logs)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "msg=serving addr="); ok {
			go func() { _, _ = io.Copy(io.Discard, logs) }()
			return strings.Fields(rest)[0], nil
		}
		fmt.Fprintln(os.Stderr, lines.Text())
	}
	return "", errors.New("the server ended before it logged its address")
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

// fill makes the boards and asks for ranks until each comes from its source.
func (s *server) fill(ctx context.Context) error {
	for board, resident := range map[string]leaderboard.Resident{inMemory: leaderboard.ResidentAlways, beyond: leaderboard.ResidentNever} {
		if _, _, err := s.api.PutBoard(ctx, board, leaderboard.Rules{Resident: resident}); err != nil {
			return err
		}
		for first := 0; first < members; first += eachTime {
			scores := make([]leaderboard.Submission, eachTime)
			for i := range scores {
				scores[i] = leaderboard.Submission{Member: memberOf(first + i), Score: int64(first + i)}
			}
			if _, err := s.api.Submit(ctx, board, scores); err != nil {
				return err
			}
		}
	}
	next := 100
	return poll(ctx, func() error {
		next++ // an answer that was given before may be kept
		member := memberOf(next)
		return errors.Join(readRank(ctx, s.api, inMemory, member, leaderboard.SourceLocal), readRank(ctx, s.api, beyond, member, leaderboard.SourceMySQL))
	})
}

// memberOf returns the id of a member of the boards.
func memberOf(n int) string { return "m" + strconv.Itoa(n) }

// poll repeats until there is no error, for as long as patience lasts.
func poll(ctx context.Context, try func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := try()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// observeEach returns the blocks that run each time that a request is sent.
func (s *server) observeEach(ctx context.Context, request func(n int) error) (blocks, error) {
	var ran blocks
	for n := range times {
		now, err := s.observe(ctx, func() error { return request(n) })
		if err != nil {
			return nil, err
		}
		if n == 0 {
			ran = now
			continue
		}
		maps.DeleteFunc(ran, func(block string, _ bool) bool { return !now[block] })
	}
	return ran, nil
}

// observe returns the blocks that run in a quiet server from a request on; a nil request: only the server.
func (s *server) observe(ctx context.Context, request func() error) (blocks, error) {
	if err := wait(ctx, quiet); err != nil {
		return nil, err
	}
	if err := s.send(ctx, "/clear"); err != nil {
		return nil, err
	}
	if request != nil {
		if err := request(); err != nil {
			return nil, err
		}
	}
	if err := wait(ctx, observed); err != nil {
		return nil, err
	}
	s.writes++
	dir := filepath.Join(s.dir, strconv.Itoa(s.writes))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := s.send(ctx, "/write?dir="+url.QueryEscape(dir)); err != nil {
		return nil, err
	}
	profile := filepath.Join(dir, "profile")
	if _, err := program.GoTool(ctx, ".", "tool", "covdata", "textfmt", "-i="+dir, "-o="+profile); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(profile)
	return parseProfile(string(text)), err
}

// send sends a request through the server's door.
func (s *server) send(ctx context.Context, address string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://house"+address, nil)
	if err != nil {
		return err
	}
	answer, err := s.door.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", address, text)
	}
	return err
}

// blocks are the blocks of code that have run, each as file:from,to.
type blocks map[string]bool

// parseProfile reads a coverage profile: lines of block, statements, count.
func parseProfile(text string) blocks {
	ran := blocks{}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[2] != "0" {
			ran[fields[0]] = true
		}
	}
	return ran
}

// count returns in how many files and packages blocks ran that do not run in an idle server, and which packages have most files.
func count(ran, idle blocks) (files, packages int, most string) {
	inFile, inPackage := map[string]bool{}, map[string]int{}
	for block := range ran {
		file, _, _ := strings.Cut(block, ":")
		if idle[block] || inFile[file] || strings.HasPrefix(file, housePrefix) {
			continue
		}
		inFile[file] = true
		inPackage[path.Dir(file)]++
	}
	all := make([]counted, 0, len(inPackage))
	for name, n := range inPackage {
		all = append(all, counted{name, n})
	}
	all = largest(all)
	var words []string
	for _, c := range all[:min(4, len(all)-1)] {
		words = append(words, fmt.Sprintf("%s %d", c.name, c.n))
	}
	return len(inFile), len(inPackage), strings.Join(words, ", ")
}

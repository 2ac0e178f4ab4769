// Package leaderboardtest starts a leaderboard server in containers, for the tests of programs that use one: the image of the
// service with a separate MySQL and Redis, on a separate network.
//
//	server, err := leaderboardtest.Run(ctx, leaderboardtest.WithImage("ghcr.io/you/leaderboard:v0.1.1"))
//	if err != nil { … }
//	defer server.Terminate(ctx)
//	api, err := client.New(server.URL, client.WithKey(server.Key))
package leaderboardtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"
	"github.com/testcontainers/testcontainers-go/wait"
)

// Server is a running server, with its containers.
type Server struct {
	URL string // as in http://localhost:32768
	Key string // of scope admin

	stop []func(context.Context) error // in the order of their starts
}

// options are the options of Run.
type options struct {
	image, mysql, redis string
	limit               time.Duration
	command             []string
	env                 map[string]string
}

// Option changes what Run starts.
type Option func(*options)

// WithImage names the image of the service; otherwise it is leaderboard, as `make image` makes it.
func WithImage(image string) Option { return func(o *options) { o.image = image } }

// WithServers names the images of MySQL and Redis; otherwise they are mysql:8.4 and redis:8-alpine.
func WithServers(mysql, redis string) Option {
	return func(o *options) { o.mysql, o.redis = mysql, redis }
}

// WithDemo has the demo boards in it, where demo has that many members with the same scores each time. Nobody plays on
// them, so only the test changes them.
func WithDemo(members int) Option {
	return func(o *options) {
		o.command = []string{"dev", "--quiet-demo", "--members", fmt.Sprint(members)}
	}
}

// WithSetting gives the server a setting, by the name of its flag, as in cors-origins.
func WithSetting(flag, value string) Option {
	name := "LEADERBOARD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
	return func(o *options) { o.env[name] = value }
}

// WithLimit bounds each start of a container, in the place of three minutes.
func WithLimit(limit time.Duration) Option { return func(o *options) { o.limit = limit } }

const (
	database = "leaderboard"
	port     = "8080/tcp"
)

// Run starts a server that is ready. When it fails, nothing of it is left.
func Run(ctx context.Context, opts ...Option) (_ *Server, err error) {
	s := &Server{Key: strings.ToLower(rand.Text())}
	o := &options{image: "leaderboard", mysql: "mysql:8.4", redis: "redis:8-alpine", limit: 3 * time.Minute, command: []string{"serve", "--migrate"}}
	password := rand.Text()
	o.env = map[string]string{
		"LEADERBOARD_MYSQL_DSN": database + ":" + password + "@tcp(mysql:3306)/" + database,
		"LEADERBOARD_REDIS_URL": "redis://redis:6379/0",
		"LEADERBOARD_KEYS":      "admin:" + s.Key,
	}
	for _, opt := range opts {
		opt(o)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("start a leaderboard server: %w", err), s.Terminate(context.WithoutCancel(ctx)))
		}
	}()
	own, err := network.New(ctx)
	if err != nil {
		return nil, err
	}
	s.stop = append(s.stop, own.Remove)
	if _, err := s.start(ctx, o, own, "redis", o.redis,
		testcontainers.WithCmd("redis-server", "--save", "", "--appendonly", "no"),
		testcontainers.WithWaitStrategyAndDeadline(o.limit, wait.ForLog("Ready to accept connections").WithStartupTimeout(o.limit))); err != nil {
		return nil, err
	}
	if _, err := s.start(ctx, o, own, "mysql", o.mysql,
		testcontainers.WithEnv(map[string]string{
			"MYSQL_RANDOM_ROOT_PASSWORD": "yes", "MYSQL_DATABASE": database, "MYSQL_USER": database, "MYSQL_PASSWORD": password,
		}),
		testcontainers.WithCmd("mysqld", "--innodb-flush-log-at-trx-commit=0", "--skip-log-bin"), // nothing of it is kept
		// The image starts a server without a network first, to set itself up.
		testcontainers.WithWaitStrategyAndDeadline(o.limit, wait.ForLog("port: 3306  MySQL Community Server").WithStartupTimeout(o.limit))); err != nil {
		return nil, err
	}
	c, err := s.start(ctx, o, own, "leaderboard", o.image,
		testcontainers.WithExposedPorts(port), testcontainers.WithEnv(o.env), testcontainers.WithCmd(o.command...),
		testcontainers.WithWaitStrategyAndDeadline(o.limit, wait.ForHTTP("/readyz").WithPort(port).WithStartupTimeout(o.limit)))
	if err != nil {
		return nil, err
	}
	s.URL, err = c.PortEndpoint(ctx, port, "http")
	return s, err
}

// start starts a container that is found by its name on the network.
func (s *Server) start(ctx context.Context, o *options, own *testcontainers.DockerNetwork, name, image string, opts ...testcontainers.ContainerCustomizer) (testcontainers.Container, error) {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	c, err := testcontainers.Run(ctx, image, append(opts, network.WithNetwork([]string{name}, own), testcontainers.WithLogger(log.New(io.Discard, "", 0)))...)
	if c != nil { // it may exist and have failed
		s.stop = append(s.stop, func(ctx context.Context) error {
			return testcontainers.TerminateContainer(c, testcontainers.StopContext(ctx), testcontainers.StopTimeout(0))
		})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w%s", image, err, lastWords(ctx, c))
	}
	return c, nil
}

// lastWords returns the end of a container's output, or "".
func lastWords(ctx context.Context, c testcontainers.Container) string {
	const most = 2000
	if c == nil {
		return ""
	}
	said, err := c.Logs(context.WithoutCancel(ctx))
	if err != nil {
		return ""
	}
	defer said.Close()
	text, err := io.ReadAll(said)
	if err != nil || len(text) == 0 {
		return ""
	}
	return "; it said: " + string(text[max(0, len(text)-most):])
}

// Terminate stops and removes the containers and the network. It may be called twice.
func (s *Server) Terminate(ctx context.Context) error {
	var errs []error
	for _, stop := range slices.Backward(s.stop) {
		errs = append(errs, stop(ctx))
	}
	s.stop = nil
	return errors.Join(errs...)
}

package testenv

import (
	"context"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/testcontainers/testcontainers-go"

	"leaderboard/internal/devserver"
)

// containerLimit bounds getting an image and starting it.
const containerLimit = 3 * time.Minute

// recipe is how an official image becomes a test server: root without a password, and with as little durability as our own
// servers with Config.Fast.
type recipe struct {
	image string
	port  string
	env   map[string]string
	cmd   []string
}

func recipeOf(kind devserver.Kind) recipe {
	switch kind {
	case devserver.KindMySQL:
		return recipe{
			image: "mysql:8.4", port: "3306/tcp",
			env: map[string]string{"MYSQL_ALLOW_EMPTY_PASSWORD": "yes", "MYSQL_ROOT_HOST": "%"},
			cmd: []string{
				"mysqld", "--innodb-flush-log-at-trx-commit=0", "--skip-log-bin",
				"--innodb-doublewrite=OFF", "--performance-schema=OFF", "--max-connections=500",
			},
		}
	case devserver.KindMariaDB:
		return recipe{
			image: "mariadb:11.4", port: "3306/tcp",
			env: map[string]string{"MARIADB_ALLOW_EMPTY_ROOT_PASSWORD": "yes", "MARIADB_ROOT_HOST": "%"},
			cmd: []string{"mariadbd", "--innodb-flush-log-at-trx-commit=0", "--max-connections=500"},
		}
	default:
		return recipe{
			image: "redis:8-alpine", port: "6379/tcp",
			cmd: []string{
				"redis-server", "--save", "", "--appendonly", "no",
				"--databases", fmt.Sprint(redisDatabases),
			},
		}
	}
}

// provideContainer starts a container of kind and waits until its server
// answers.
func provideContainer(ctx context.Context, kind devserver.Kind) (Provided, error) {
	ctx, cancel := context.WithTimeout(ctx, containerLimit)
	defer cancel()
	r := recipeOf(kind)
	c, err := testcontainers.Run(ctx, r.image,
		testcontainers.WithExposedPorts(r.port), testcontainers.WithEnv(r.env), testcontainers.WithCmd(r.cmd...),
		testcontainers.WithLogger(log.New(io.Discard, "", 0)))
	stop := func(ctx context.Context) error {
		return testcontainers.TerminateContainer(c, testcontainers.StopContext(ctx), testcontainers.StopTimeout(0))
	}
	if err == nil {
		var address string
		if address, err = containerAddress(ctx, c, kind, r.port); err == nil {
			return Provided{kind, address, "container", stop}, nil
		}
	}
	if c != nil {
		_ = stop(context.WithoutCancel(ctx)) // the first error says more
	}
	return Provided{}, fmt.Errorf("container of %s: %w", r.image, err)
}

// containerAddress polls until the server in c answers from outside. The image
// of MySQL runs a first server for its own set-up, but not on the network.
func containerAddress(ctx context.Context, c testcontainers.Container, kind devserver.Kind, port string) (string, error) {
	endpoint, err := c.PortEndpoint(ctx, port, "")
	if err != nil {
		return "", err
	}
	cfg := devserver.Config{MySQL: "root@tcp(" + endpoint + ")/"}
	address, start := cfg.MySQL, devserver.StartMySQL
	if kind == devserver.KindRedis {
		cfg = devserver.Config{Redis: "redis://" + endpoint + "/0"}
		address, start = cfg.Redis, devserver.StartRedis
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := start(ctx, cfg)
		if err == nil {
			return address, nil
		}
		state, stateErr := c.State(ctx)
		if stateErr == nil && !state.Running {
			return "", fmt.Errorf("it ended with status %d: %w", state.ExitCode, err)
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%w; last answer: %w", ctx.Err(), err)
		case <-tick.C:
		}
	}
}

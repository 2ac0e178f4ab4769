package topn

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"leaderboard/leaderboard"
)

// The discipline of every connection. The client's own defaults let one hung server cost a request 20 s.
const (
	dialTimeout = 250 * time.Millisecond
	ioTimeout   = 250 * time.Millisecond
	poolTimeout = 100 * time.Millisecond
	maxRetries  = 1
	// clusterRedirects is how often a command to a cluster is tried again, there or on another server: while a slot moves
	// it may be redirected twice.
	clusterRedirects = 2
	// clusterReload is how often a client asks a cluster which server has which slots, while it is used.
	clusterReload = time.Second
	// backgroundTimeout is for work that no reader waits for: it should survive a moment in which the machine is busy.
	backgroundTimeout = time.Second
	// followers is how many periods are applied at once, to each server of Redis.
	followers = 8
	// backgroundConns is for the periods that are applied and built at once, and their leases.
	backgroundConns = 2 * (followers + 8)
)

// Client is a client of one server, a cluster, or a server that sentinels name. Packages name this interface, not the types
// of go-redis behind it: each package in whose types one of these occurs compiles its 1,488 methods three times, for a
// type parameter within.
type Client = redis.Cmdable

// Close closes the connections of a client.
func Close(client Client) error {
	if c, ok := client.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// cluster is the client of a cluster, with the calls that concern single servers.
type cluster interface {
	// primaryOf returns the primary that has a key, with its host:port.
	primaryOf(ctx context.Context, key string) (addr string, primary Client, err error)
	// eachPrimary calls do for all primaries at the same time.
	eachPrimary(ctx context.Context, do func(ctx context.Context, addr string, primary Client) error) error
}

type clusterClient struct{ *redis.ClusterClient }

// clusterOf returns the cluster of a client, nil for one server. Inlined, it would bring the types of go-redis into other
// packages.
//
//go:noinline
func clusterOf(client Client) cluster {
	if c, ok := client.(*redis.ClusterClient); ok {
		return clusterClient{c}
	}
	return nil
}

func (c clusterClient) primaryOf(ctx context.Context, key string) (string, Client, error) {
	primary, err := c.MasterForKey(ctx, key)
	if err != nil {
		return "", nil, err
	}
	return primary.Options().Addr, primary, nil
}

func (c clusterClient) eachPrimary(ctx context.Context, do func(ctx context.Context, addr string, primary Client) error) error {
	return c.ForEachMaster(ctx, func(ctx context.Context, primary *redis.Client) error {
		return do(ctx, primary.Options().Addr, primary)
	})
}

// Open makes a client of Redis; it connects with the first command. Forms of the address:
//
//	redis://[user:password@]host:port[/db]             one server; rediss:// for TLS, unix:///path for a socket
//	redis://h1:port,h2:port,h3:port?cluster=true       Redis Cluster, any of its nodes
//	redis://h1:port,h2:port/0?master=name              Sentinel: the addresses of the sentinels
//
// Further parameters are as in redis.ParseURL (read_timeout, pool_size, …). An error never shows the password.
func Open(address string) (Client, error) { return open(address, func(*redis.UniversalOptions) {}) }

// OpenFar is Open for a Redis that may be far away: each command has the timeout, unless the address has a longer one.
func OpenFar(address string, timeout time.Duration) (Client, error) {
	return open(address, func(o *redis.UniversalOptions) {
		o.ReadTimeout, o.WriteTimeout, o.DialTimeout = max(timeout, o.ReadTimeout), max(timeout, o.WriteTimeout), timeout
	})
}

func open(address string, option func(*redis.UniversalOptions)) (Client, error) {
	opts, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	option(opts)
	if opts.IsClusterMode {
		return redis.NewClusterClient(clusterOptions(opts)), nil
	}
	return redis.NewUniversalClient(opts), nil
}

// clusterOptions returns the options of a client of a cluster. With the defaults it would ask a dead primary for up to a
// minute after a failover: only a redirection makes it look at once which server has which slots.
func clusterOptions(o *redis.UniversalOptions) *redis.ClusterOptions {
	c := o.Cluster()
	c.ClusterStateReloadInterval = clusterReload
	c.MaxRetries, c.MaxRedirects = -1, clusterRedirects // otherwise each of these tries would be repeated
	c.DisableRoutingPolicies = true                     // no command here concerns more than one slot
	return c
}

// OpenBackground makes a client of the same Redis for work that no reader waits for: builds, write-through, leases. Its
// connections are its own, so that no reader waits for one during any number of builds, and its timeouts are longer.
func OpenBackground(address string) (Client, error) {
	return open(address, func(o *redis.UniversalOptions) {
		o.PoolSize = backgroundConns
		o.ReadTimeout, o.WriteTimeout = max(backgroundTimeout, o.ReadTimeout), max(backgroundTimeout, o.WriteTimeout)
		o.PoolTimeout = max(backgroundTimeout, o.PoolTimeout)
	})
}

// MaxConns returns how many connections a client has at most; of a cluster, to the nodes that its address names.
func MaxConns(client Client) int {
	switch c := client.(type) {
	case *redis.Client:
		return conns(c.Options().PoolSize, c.Options().PipelinePoolSize)
	case *redis.ClusterClient:
		return len(c.Options().Addrs) * conns(c.Options().PoolSize, c.Options().PipelinePoolSize)
	}
	return 0
}

func conns(pool, pipelines int) int {
	return pool + max(0, cmp.Or(pipelines, redis.DefaultPipelinePoolSize))
}

// inBackground returns the same client, connections included, with backgroundTimeout per command unless it has a longer
// one. A cluster client keeps its own.
func inBackground(client Client) Client {
	if c, ok := client.(*redis.Client); ok {
		return c.WithTimeout(max(backgroundTimeout, c.Options().ReadTimeout))
	}
	return client
}

// Ping checks that Redis answers; in a cluster, every primary. The error is from a server that does not answer.
func Ping(ctx context.Context, client Client) error {
	if cluster := clusterOf(client); cluster != nil {
		return cluster.eachPrimary(ctx, func(ctx context.Context, _ string, primary Client) error { return primary.Ping(ctx).Err() })
	}
	return client.Ping(ctx).Err()
}

// PoolIsBusy reports whether an error means that this process uses all of its connections to Redis, which is no fault of
// Redis.
func PoolIsBusy(err error) bool {
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted)
}

// IsMoving reports whether an error of a cluster means that keys are being moved to another of its servers, which is no
// fault of this one.
func IsMoving(err error) bool {
	return redis.HasErrorPrefix(err, "TRYAGAIN") || redis.HasErrorPrefix(err, "MOVED") || redis.HasErrorPrefix(err, "ASK")
}

func parseAddress(address string) (*redis.UniversalOptions, error) {
	single, hosts, err := splitHosts(address)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(single)
	if err != nil {
		return nil, errAddress("it is not a URL")
	}
	query := u.Query()
	cluster, master := query.Get("cluster"), query.Get("master")
	query.Del("cluster")
	query.Del("master")
	u.RawQuery = query.Encode()
	o, err := redis.ParseURL(u.String())
	if err != nil {
		// The reason names a scheme, a path or a parameter, which are not secret.
		return nil, fmt.Errorf("address of Redis: %w", err)
	}
	out := &redis.UniversalOptions{
		Addrs: []string{o.Addr}, DB: o.DB, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig,
		MasterName: master, Protocol: o.Protocol, ClientName: o.ClientName,
		ContextTimeoutEnabled: true, MaxRetries: cmp.Or(o.MaxRetries, maxRetries), DialerRetries: 1,
		DialTimeout: cmp.Or(o.DialTimeout, dialTimeout), ReadTimeout: cmp.Or(o.ReadTimeout, ioTimeout),
		WriteTimeout: cmp.Or(o.WriteTimeout, ioTimeout), PoolTimeout: cmp.Or(o.PoolTimeout, poolTimeout),
		PoolSize: o.PoolSize, MinIdleConns: o.MinIdleConns, ConnMaxIdleTime: o.ConnMaxIdleTime, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if len(hosts) > 1 {
		out.Addrs = hosts
	}
	if out.IsClusterMode, err = parseCluster(cluster); err != nil {
		return nil, err
	}
	switch {
	case out.IsClusterMode && (master != "" || out.DB != 0):
		return nil, errAddress("a cluster has no master name and no database number")
	case len(hosts) > 1 && !out.IsClusterMode && master == "":
		return nil, errAddress("several hosts need cluster=true or master=name")
	}
	return out, nil
}

// splitHosts takes all hosts but the first out of an address, which then is a plain URL.
func splitHosts(address string) (single string, hosts []string, err error) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return "", nil, errAddress("want redis://host:port")
	}
	end := len(rest)
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		end = i
	}
	authority, tail := rest[:end], rest[end:]
	user := ""
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, authority = authority[:i+1], authority[i+1:]
	}
	for host := range strings.SplitSeq(authority, ",") {
		if _, _, err := net.SplitHostPort(host); err != nil && host != "" {
			host = net.JoinHostPort(strings.Trim(host, "[]"), "6379")
		}
		hosts = append(hosts, host)
	}
	return scheme + "://" + user + hosts[0] + tail, hosts, nil
}

func parseCluster(value string) (bool, error) {
	if value == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		return false, errAddress("cluster is true or false")
	}
	return on, nil
}

func errAddress(reason string) error { return errors.New("address of Redis: " + reason) }

// ErrAway means that Redis does not answer, or cannot do its work. It is an ErrUnavailable.
var ErrAway = fmt.Errorf("%w: Redis does not answer", leaderboard.ErrUnavailable)

// errLeftAlone means that Redis does not answer, and gets no commands for now.
var errLeftAlone = errors.New("topn: Redis is left alone for now")

// IsAway reports whether an error means that Redis does not answer, or cannot do its work.
func IsAway(err error) bool {
	if errors.Is(err, ErrAway) || errors.Is(err, errLeftAlone) {
		return true
	}
	if _, answered := errors.AsType[redis.Error](err); answered {
		return cannotWork(err)
	}
	for _, gone := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrShortWrite, redis.ErrPoolTimeout, redis.ErrPoolExhausted, redis.ErrClosed} {
		if errors.Is(err, gone) {
			return true
		}
	}
	var network net.Error
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	return errors.As(err, &network) || untrusted || noTLS || ofClient(err)
}

// cannotWork reports whether an answer of Redis is that it cannot do its work now, whatever the command.
func cannotWork(err error) bool {
	for _, prefix := range []string{
		"LOADING", "BUSY", "READONLY", "MISCONF", "NOREPLICAS", "OOM", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOAUTH", "WRONGPASS",
		"max number of clients reached",
	} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return false
}

// ofClient reports whether the client of Redis itself made the error: it found no server, or the reply is malformed.
// Such errors are not exported.
func ofClient(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.HasPrefix(err.Error(), "redis: ") {
			return true
		}
	}
	return false
}

// orAway wraps err as an ErrAway when it means that and ctx, the caller's own, has not ended.
func orAway(ctx context.Context, err error) error {
	if !IsAway(err) || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrAway, err)
}

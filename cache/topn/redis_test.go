package topn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/leaderboard"
)

func TestRedisAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]redis.UniversalOptions{
		"redis://h:1/3":                            {Addrs: []string{"h:1"}, DB: 3},
		"redis://h":                                {Addrs: []string{"h:6379"}},
		"redis://u:p@h:1":                          {Addrs: []string{"h:1"}, Username: "u", Password: "p"},
		"redis://:p%40@h:1?read_timeout=2s":        {Addrs: []string{"h:1"}, Password: "p@", ReadTimeout: 2 * time.Second},
		"redis://a:1,b:2,c?cluster=true":           {Addrs: []string{"a:1", "b:2", "c:6379"}, IsClusterMode: true},
		"redis://a:1?cluster=true":                 {Addrs: []string{"a:1"}, IsClusterMode: true},
		"redis://u:p@a:1,b:2/4?master=m":           {Addrs: []string{"a:1", "b:2"}, MasterName: "m", DB: 4, Username: "u", Password: "p"},
		"redis://[::1]:7/0":                        {Addrs: []string{"[::1]:7"}},
		"unix:///run/redis.sock?db=2":              {Addrs: []string{"/run/redis.sock"}, DB: 2},
		"redis://h:1/0?pool_size=7&max_retries=-1": {Addrs: []string{"h:1"}, PoolSize: 7, MaxRetries: -1},
	} {
		got, err := parseAddress(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		gotPart := redis.UniversalOptions{
			Addrs: got.Addrs, DB: got.DB, Username: got.Username, Password: got.Password, MasterName: got.MasterName,
			IsClusterMode: got.IsClusterMode, PoolSize: got.PoolSize,
		}
		if want.ReadTimeout != 0 {
			gotPart.ReadTimeout = got.ReadTimeout
		}
		if want.MaxRetries != 0 {
			gotPart.MaxRetries = got.MaxRetries
		}
		if !reflect.DeepEqual(gotPart, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", address, gotPart, want)
		}
		if !got.ContextTimeoutEnabled || got.ReadTimeout > 2*time.Second || got.PoolTimeout > 100*time.Millisecond || got.DialTimeout > 250*time.Millisecond {
			t.Errorf("%s: without the discipline: %+v", address, got)
		}
	}
}

func TestBadRedisAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"", "h:1", "http://:secret@h:1", "redis://:secret@a:1,b:2", "redis://:secret@h:1/x", "redis://:secret@h:1/0?what=ever",
		"redis://:secret@a:1,b:2?cluster=maybe", "redis://:secret@a:1,b:2/3?cluster=true", "redis://:secret@a:1?cluster=true&master=m",
		"redis://:secret@h:port", "redis://:secret@h:1/%zz",
	} {
		client, err := Open(address)
		if err == nil {
			_ = Close(client)
			t.Errorf("%q is taken", address)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows the password: %v", address, err)
		}
	}
}

// answer is an answer of Redis that is an error.
type answer string

func (a answer) Error() string { return string(a) }

func (answer) RedisError() {}

// TestIsAway names every error that the client of Redis, Redis and the network return, with its meaning (promise D6).
func TestIsAway(t *testing.T) {
	t.Parallel()
	for away, all := range map[bool][]error{
		true: {
			io.EOF, io.ErrUnexpectedEOF, io.ErrShortWrite, net.ErrClosed, os.ErrDeadlineExceeded, context.DeadlineExceeded, syscall.ECONNRESET, syscall.EPIPE,
			&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, &net.DNSError{Err: "no such host", IsNotFound: true},
			&tls.CertificateVerificationError{Err: errors.New("unknown authority")},
			tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"},
			redis.ErrPoolTimeout, redis.ErrPoolExhausted, redis.ErrClosed,
			errors.New("redis: cluster has no nodes"), errors.New("redis: all sentinels specified in configuration are unreachable"),
			errors.New("redis: connection unusable (reply stream desynchronized)"), errors.New("redis: invalid line"),
			answer("LOADING Redis is loading the dataset in memory"), answer("BUSY Redis is busy running a script."), answer("READONLY You can't write against a read only replica."),
			answer("MISCONF Redis is configured to save RDB snapshots"), answer("NOREPLICAS Not enough good replicas to write."), answer("OOM command not allowed"),
			answer("MASTERDOWN Link with MASTER is down"), answer("CLUSTERDOWN The cluster is down"), answer("TRYAGAIN Multiple keys request during rehashing of slot"),
			answer("NOAUTH Authentication required."), answer("WRONGPASS invalid username-password pair"), answer("ERR max number of clients reached"),
		},
		false: {
			redis.Nil, redis.TxFailedErr, redis.ErrNoScript, redis.ErrCrossSlot, answer("ERR unknown command"), answer("WRONGTYPE Operation against a key"),
			answer("NOPERM no permissions"), answer("MOVED 1 h:1"), answer("ASK 1 h:1"), ErrMissing, ErrDamaged, context.Canceled,
			leaderboard.ErrUnavailable, errors.New("topn: reply of a script: it ends early"),
		},
	} {
		for _, err := range all {
			if wrapped := fmt.Errorf("topn: read: %w", err); IsAway(wrapped) != away {
				t.Errorf("%v: away %t", wrapped, !away)
			}
		}
	}
}

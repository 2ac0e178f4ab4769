package topn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/serverfault"
	"leaderboard/leaderboard"
)

// Faults returns a description of the server, such as Redis 7.4.1 with maxmemory-policy noeviction, and its faults; in
// a cluster, of each primary, with its address, in the order of the addresses. It fails when a server cannot be
// reached. A server without the expected fields is a fault too, a doubtful one. All is from INFO, which hosted servers
// answer as well, while they often deny CONFIG.
func Faults(ctx context.Context, client Client) (server string, _ []serverfault.Fault, err error) {
	var out []serverfault.Fault
	var servers []string
	var one sync.Mutex
	look := func(ctx context.Context, c redis.Cmdable, server string) error {
		one.Lock()
		defer one.Unlock()
		is, found, err := faultsOf(ctx, c)
		servers = append(servers, server+is)
		for _, f := range found {
			f.Wrong = server + f.Wrong
			out = append(out, f)
		}
		return err
	}
	if cluster := clusterOf(client); cluster != nil {
		err = cluster.eachPrimary(ctx, func(ctx context.Context, addr string, primary Client) error { return look(ctx, primary, addr+": ") })
		slices.SortStableFunc(out, func(a, b serverfault.Fault) int { return strings.Compare(a.Wrong, b.Wrong) })
	} else {
		err = look(ctx, client, "")
	}
	if err != nil {
		return "", nil, fmt.Errorf("topn: look at Redis: %w", err)
	}
	slices.Sort(servers)
	return strings.Join(servers, ", "), out, nil
}

// faultsOf returns the description of a server and its faults.
func faultsOf(ctx context.Context, c redis.Cmdable) (server string, _ []serverfault.Fault, err error) {
	info, err := infoOf(ctx, c)
	if isAnswer(err) {
		return "Redis", []serverfault.Fault{{
			Check: serverfault.CheckAnswers, Wrong: fmt.Sprintf("it is not known whether Redis is safe to use, because it does not answer INFO (%s)", err),
			Remedy: "let the account ask INFO: ACL SETUSER … +info", Doubtful: true,
		}}, nil
	}
	if err != nil {
		return "", nil, err
	}
	server = "Redis " + info["redis_version"]
	if valkey := info["valkey_version"]; valkey != "" {
		server = "Valkey " + valkey
	}
	faults := redisFaults(info)
	if info["role"] != "slave" { // which refuses all writes
		refused, err := refusalOf(ctx, c)
		if err != nil {
			return "", nil, err
		}
		faults = append(faults, refused...)
	}
	return server + " with maxmemory-policy " + info["maxmemory_policy"], faults, nil
}

// wouldWrite is a script that Redis runs only while it takes writes, though it writes nothing: it does not say that it only reads.
const wouldWrite = "#!lua\nreturn 1"

// refusalOf returns the fault of a server that answers but takes no writes, nil for other servers.
func refusalOf(ctx context.Context, c redis.Cmdable) ([]serverfault.Fault, error) {
	err := c.Eval(ctx, wouldWrite, nil).Err()
	if !cannotWork(err) {
		if isAnswer(err) {
			err = nil // the account may not run scripts that it sends, or the server knows no such scripts
		}
		return nil, err
	}
	f := serverfault.Fault{Check: serverfault.CheckWrites, Wrong: fmt.Sprintf("Redis refuses writes (%s)", err), Remedy: "look at its log and its INFO", Doubtful: true}
	switch {
	case redis.HasErrorPrefix(err, "OOM"):
		f.Wrong, f.Remedy = "Redis refuses writes, because its memory is full", "raise its maxmemory"
	case redis.HasErrorPrefix(err, "NOREPLICAS"):
		f.Wrong, f.Remedy = "Redis refuses writes, because it has too few replicas", "start them, or CONFIG SET min-replicas-to-write 0"
	}
	return []serverfault.Fault{f}, nil
}

// infoOf returns the fields of INFO that are looked at here, and others.
func infoOf(ctx context.Context, c redis.Cmdable, section ...string) (map[string]string, error) {
	text, err := c.Info(ctx, section...).Result()
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

// Memory returns the part of its maxmemory that is used by the server that has the copy of a period, 0 without a maxmemory.
func (c *Copies) Memory(ctx context.Context, p leaderboard.PeriodRef) (float64, error) {
	server := c.background
	if cluster := clusterOf(server); cluster != nil {
		var err error
		if _, server, err = cluster.primaryOf(ctx, c.keys(p)[0]); err != nil {
			return 0, fmt.Errorf("topn: find the server of period %d: %w", p.ID, err)
		}
	}
	info, err := infoOf(ctx, server, "memory")
	if err != nil {
		return 0, fmt.Errorf("topn: memory of Redis: %w", err)
	}
	used, usedErr := strconv.ParseFloat(info["used_memory"], 64)
	most, mostErr := strconv.ParseFloat(info["maxmemory"], 64)
	if usedErr != nil || mostErr != nil || most == 0 {
		return 0, errors.Join(usedErr, mostErr)
	}
	return used / most, nil
}

// isAnswer reports whether an error of Redis is about the command rather than about its own state.
func isAnswer(err error) bool {
	return redis.HasErrorPrefix(err, "NOPERM") || redis.HasErrorPrefix(err, "ERR")
}

const (
	// oldestRedis is the first with EVALSHA_RO and PEXPIRETIME. Valkey reports that it is Redis 7.2.
	oldestRedis = 7
	noEviction  = "noeviction"
)

// redisFaults judges fields of INFO. All keys have a TTL, so that a policy which evicts keys with one evicts any.
func redisFaults(info map[string]string) []serverfault.Fault {
	var out []serverfault.Fault
	add := func(check serverfault.Check, doubtful bool, remedy, wrong string, args ...any) {
		out = append(out, serverfault.Fault{Check: check, Wrong: fmt.Sprintf(wrong, args...), Remedy: remedy, Doubtful: doubtful})
	}
	version := info["redis_version"]
	first, _, _ := strings.Cut(version, ".")
	if major, err := strconv.Atoi(first); err != nil {
		add(serverfault.CheckVersion, true, "use Redis 7 or later, or Valkey", "the version of Redis, %q, says nothing", version)
	} else if major < oldestRedis {
		add(serverfault.CheckVersion, false, "use Redis 7 or later, or Valkey", "Redis %s is too old", version)
	}
	switch policy := info["maxmemory_policy"]; policy {
	case noEviction:
	case "":
		add(serverfault.CheckEviction, true, "see that its maxmemory-policy is noeviction", "Redis does not tell its maxmemory-policy")
	default:
		add(serverfault.CheckEviction, false, "CONFIG SET maxmemory-policy noeviction, there and in the server's configuration",
			"the maxmemory-policy of Redis is %s, so it would drop copies, leases and quotas when its memory is full", policy)
	}
	if info["role"] == "slave" {
		add(serverfault.CheckReplica, true, "give the address of the primary", "Redis is a replica, so it takes no copies and every read goes to MySQL")
	}
	return out
}

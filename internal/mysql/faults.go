package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"leaderboard/internal/serverfault"
)

// Need is the requirements of this configuration on a server.
type Need struct {
	Packet int64 // bytes that the largest packet of statements takes
	Conns  int   // connections, of all processes together
	Hosts  int   // that the DSN names
}

// Faults returns the name of the server, and its faults. The server is not read-only, because connecting to a read-only
// server fails. Variables that sessions set for themselves (connect) do not matter: strict mode, isolation, time zone,
// collation. It fails when the server cannot be asked.
func (d *DB) Faults(ctx context.Context, need Need) (server string, _ []serverfault.Fault, err error) {
	found, err := d.variables(ctx)
	if err != nil {
		return "", nil, Translate(ctx, "look at the server", err)
	}
	return productOf(found["version"]) + " " + found["version"], faults(found, need), nil
}

// variables are the variables that Faults checks, as far as the server has them.
func (d *DB) variables(ctx context.Context) (map[string]string, error) {
	const query = "SHOW VARIABLES WHERE Variable_name IN ('version', 'max_allowed_packet', 'max_connections', 'max_user_connections'," +
		" 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'transaction_read_only', 'tx_read_only'," +
		" 'group_replication_group_name', 'group_replication_single_primary_mode', 'group_replication_consistency'," +
		" 'group_replication_transaction_size_limit', 'wsrep_on', 'wsrep_dirty_reads', 'wsrep_max_ws_size', 'wsrep_provider_options') OR Variable_name LIKE 'rpl\\_semi\\_sync\\_%'"
	rows, err := d.Health.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[string]string{}
	for rows.Next() {
		var name string
		var value sql.NullString
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		found[strings.ToLower(name)] = value.String
	}
	return found, rows.Err()
}

// faults judges variables of a server.
func faults(found map[string]string, need Need) []serverfault.Fault {
	out := versionFaults(found["version"])
	add := func(check serverfault.Check, doubtful bool, remedy, wrong string, args ...any) {
		out = append(out, serverfault.Fault{Check: check, Wrong: fmt.Sprintf(wrong, args...), Remedy: remedy, Doubtful: doubtful})
	}
	for _, name := range []string{"transaction_read_only", "tx_read_only"} {
		if strings.EqualFold(found[name], "ON") {
			add(serverfault.CheckReadOnly, false, "SET GLOBAL "+name+" = OFF, there and in the server's configuration",
				"%s is ON, so no transaction may write", name)
			break // MariaDB has both
		}
	}
	if packet, known := number64(found, "max_allowed_packet"); known && packet < need.Packet {
		add(serverfault.CheckPackets, false,
			fmt.Sprintf("SET GLOBAL max_allowed_packet = %d, there and in the server's configuration", roundUp(need.Packet)),
			"max_allowed_packet is %d, and a full batch may take %d bytes", packet, need.Packet)
	}
	for _, name := range []string{"max_connections", "max_user_connections"} { // 0 is no limit
		if limit, known := number64(found, name); known && limit > 0 && limit < int64(need.Conns) {
			add(serverfault.CheckConnections, true, "raise it, or lower --mysql-max-conns",
				"%s is %d, and servers may open %d connections (--mysql-max-conns times --servers)", name, limit, need.Conns)
		}
	}
	if v, known := found["innodb_flush_log_at_trx_commit"]; known && v != "1" {
		add(serverfault.CheckDurability, true, "SET GLOBAL innodb_flush_log_at_trx_commit = 1, there and in the server's configuration",
			"innodb_flush_log_at_trx_commit is %s, so scores that were acknowledged may be lost when the machine of the database fails", v)
	} else if v, known := found["sync_binlog"]; known && v != "1" && strings.EqualFold(found["log_bin"], "ON") {
		add(serverfault.CheckDurability, true, "SET GLOBAL sync_binlog = 1, there and in the server's configuration",
			"sync_binlog is %s, so scores that were acknowledged may be lost when the machine of the database fails", v)
	}
	out = append(out, groupFaults(found, need)...)
	if found["group_replication_group_name"] == "" && !strings.EqualFold(found["wsrep_on"], "ON") {
		out = append(out, replicaFaults(found, need)...)
	}
	return out
}

// semiSyncForever is how long commits must wait for a replica at least, for it to count as for ever: somebody has looked after it by then.
const semiSyncForever = 24 * time.Hour

// replicaFaults judges a server that is in no group: whether a replica of it has all acknowledged commits.
func replicaFaults(found map[string]string, need Need) (out []serverfault.Fault) {
	add := func(remedy, wrong string, args ...any) {
		out = append(out, serverfault.Fault{Check: serverfault.CheckReplication, Wrong: fmt.Sprintf(wrong, args...), Remedy: remedy, Doubtful: true})
	}
	prefix := "rpl_semi_sync_source_"
	if _, older := found["rpl_semi_sync_master_enabled"]; older { // MariaDB, and an older plugin of MySQL
		prefix = "rpl_semi_sync_master_"
	}
	if !strings.EqualFold(found[prefix+"enabled"], "ON") {
		if need.Hosts > 1 {
			add("use Group Replication, or set "+prefix+"enabled = ON and its counterpart on the replica, there and in the servers' configuration",
				"several hosts are named, and replication is asynchronous: one that takes over may have lost scores that were acknowledged")
		}
		return out
	}
	const there = ", there and in the server's configuration"
	if point := found[prefix+"wait_point"]; !strings.EqualFold(point, "AFTER_SYNC") {
		add("SET GLOBAL "+prefix+"wait_point = 'AFTER_SYNC'"+there, "%swait_point is %s, so scores that were shown already may be lost when the machine of the database fails", prefix, point)
	}
	if ms, known := number64(found, prefix+"timeout"); known && ms < semiSyncForever.Milliseconds() {
		add(fmt.Sprintf("SET GLOBAL %stimeout = 4294967295%s", prefix, there),
			"%stimeout is %d ms: commits continue when the replica has not answered for that long, and the scores acknowledged in that time are lost if the machine of the database fails", prefix, ms)
	}
	if strings.EqualFold(found[prefix+"wait_no_replica"], "OFF") || strings.EqualFold(found[prefix+"wait_no_slave"], "OFF") {
		add("SET GLOBAL "+prefix+"wait_no_replica = ON"+there,
			"commits continue when no replica is connected, and the scores acknowledged in that time are lost if the machine of the database fails")
	}
	return out
}

// groupFaults judges a member of a group of servers.
func groupFaults(found map[string]string, need Need) (out []serverfault.Fault) {
	add := func(doubtful bool, remedy, wrong string, args ...any) {
		out = append(out, serverfault.Fault{Check: serverfault.CheckGroup, Wrong: fmt.Sprintf(wrong, args...), Remedy: remedy, Doubtful: doubtful})
	}
	out = append(out, galeraFaults(found, need)...)
	if found["group_replication_group_name"] == "" {
		return out
	}
	if strings.EqualFold(found["group_replication_single_primary_mode"], "OFF") {
		add(false, "SELECT group_replication_switch_to_single_primary_mode()", "it is a member of a group whose members all take writes, and locks hold on one of them only")
	}
	if strings.EqualFold(found["group_replication_consistency"], "EVENTUAL") {
		add(false, "SET GLOBAL group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER', on each member and in its configuration",
			"group_replication_consistency is EVENTUAL, so the next primary may answer before it has every acknowledged write")
	}
	if limit, known := number64(found, "group_replication_transaction_size_limit"); known && limit > 0 && limit < need.Packet {
		add(false, fmt.Sprintf("SET GLOBAL group_replication_transaction_size_limit = %d, on each member and in its configuration", roundUp(need.Packet)),
			"group_replication_transaction_size_limit is %d, and a full batch may take %d bytes", limit, need.Packet)
	}
	return out
}

// galeraFaults judges a node of a Galera cluster.
func galeraFaults(found map[string]string, need Need) (out []serverfault.Fault) {
	if !strings.EqualFold(found["wsrep_on"], "ON") {
		return nil
	}
	add := func(doubtful bool, remedy, wrong string, args ...any) {
		out = append(out, serverfault.Fault{Check: serverfault.CheckGroup, Wrong: fmt.Sprintf(wrong, args...), Remedy: remedy, Doubtful: doubtful})
	}
	if need.Hosts == 1 { // of several, two that take writes are noticed
		add(true, "set read_only = ON on all nodes but one, and name all of them in --mysql-dsn", "it is a node of Galera, whose nodes all take writes unless they are read-only, and locks hold on one of them only")
	}
	if strings.EqualFold(found["wsrep_dirty_reads"], "ON") {
		add(false, "SET GLOBAL wsrep_dirty_reads = OFF, on each node and in its configuration", "wsrep_dirty_reads is ON, so a node without a majority answers, and lacks the writes acknowledged since")
	}
	if limit, known := number64(found, "wsrep_max_ws_size"); known && limit < need.Packet {
		add(false, fmt.Sprintf("SET GLOBAL wsrep_max_ws_size = %d, on each node and in its configuration", roundUp(need.Packet)),
			"wsrep_max_ws_size is %d, and a full batch may take %d bytes", limit, need.Packet)
	}
	for _, option := range []string{"pc.ignore_quorum", "pc.ignore_sb"} {
		if galeraOption(found["wsrep_provider_options"], option) == "true" {
			add(false, "SET GLOBAL wsrep_provider_options = '"+option+"=false', on each node and in its configuration",
				"%s is on, so nodes without a majority take writes of which the others do not know", option)
		}
	}
	return out
}

// galeraOption returns an option of a node's library, as in "pc.ignore_sb = false; pc.weight = 1; ".
func galeraOption(options, name string) string {
	for option := range strings.SplitSeq(options, ";") {
		if is, value, _ := strings.Cut(option, "="); strings.TrimSpace(is) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func number64(found map[string]string, name string) (int64, bool) {
	n, err := strconv.ParseInt(found[name], 10, 64)
	return n, err == nil
}

// roundUp returns the next power of two.
func roundUp(n int64) int64 {
	p := int64(1 << 20)
	for p < n {
		p *= 2
	}
	return p
}

// The oldest versions that have what the statements here use: descending indexes and common table expressions in MySQL,
// descending indexes in MariaDB.
const (
	oldestMySQL   = "8.0"
	oldestMariaDB = "10.8"
)

const mariaDB = "MariaDB"

// productOf returns whose version it is.
func productOf(version string) string {
	if strings.Contains(strings.ToLower(version), "mariadb") {
		return mariaDB
	}
	return "MySQL"
}

// versionFaults judges what SELECT VERSION() says, as in 8.0.36-28 and 10.11.6-MariaDB-0+deb12u1.
func versionFaults(version string) []serverfault.Fault {
	name, oldest := productOf(version), oldestMySQL
	if name == mariaDB {
		oldest = oldestMariaDB
	}
	fault := serverfault.Fault{Check: serverfault.CheckVersion, Remedy: "use MySQL " + oldestMySQL + " or later, or MariaDB " + oldestMariaDB + " or later"}
	older, known := olderThan(version, oldest)
	switch {
	case !known:
		fault.Wrong, fault.Doubtful = fmt.Sprintf("the version of the database server, %q, says nothing", version), true
	case older:
		fault.Wrong = fmt.Sprintf("the database server is %s %s, which is too old", name, version)
	default:
		return nil
	}
	return []serverfault.Fault{fault}
}

var leadingVersion = regexp.MustCompile(`^(\d+)\.(\d+)`)

// olderThan compares the first two numbers of versions; known is false when a version has no two numbers.
func olderThan(version, oldest string) (older, known bool) {
	is, want := leadingVersion.FindStringSubmatch(version), leadingVersion.FindStringSubmatch(oldest)
	if is == nil || want == nil {
		return false, false
	}
	for i := 1; i < len(is); i++ {
		a, errA := strconv.Atoi(is[i])
		b, errB := strconv.Atoi(want[i])
		if errA != nil || errB != nil {
			return false, false
		}
		if a != b {
			return a < b, true
		}
	}
	return false, true
}

// Table is a table, and a column of it.
type Table struct{ Name, Column string }

// RightsToWork returns the rights that the account lacks for working on tables that exist. It asks for the plans of
// statements: a plan needs the same rights as the statement and changes nothing, so roles, wildcards and grants of single
// tables count as for the server itself.
func (d *DB) RightsToWork(ctx context.Context, tables []Table) ([]serverfault.Fault, error) {
	var names, columns []string
	for _, t := range tables {
		names = append(names, t.Name)
		columns = append(columns, fmt.Sprintf("%s.%s = %[1]s.%[2]s", t.Name, t.Column))
	}
	all := strings.Join(names, ", ")
	tries := []try{
		{"SELECT", "EXPLAIN SELECT 1 FROM " + all + " WHERE FALSE"},
		{"DELETE", "EXPLAIN DELETE " + all + " FROM " + all + " WHERE FALSE"},
		{"UPDATE", "EXPLAIN UPDATE " + all + " SET " + strings.Join(columns, ", ") + " WHERE FALSE"},
	}
	for _, t := range tables {
		tries = append(tries, try{"INSERT", fmt.Sprintf("EXPLAIN INSERT INTO %s (%s) SELECT %[2]s FROM %[1]s WHERE FALSE", t.Name, t.Column)})
	}
	return d.rights(ctx, tries, "SELECT, INSERT, UPDATE, DELETE")
}

// MigrationRights are the rights that an account needs on the database for migrations, in the words of GRANT.
const MigrationRights = "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE VIEW"

// RightsToMigrate returns the rights that the account lacks for changing the schema. It tries statements about a table
// that does not exist, for servers check rights first.
func (d *DB) RightsToMigrate(ctx context.Context) ([]serverfault.Fault, error) {
	const none = "leaderboard_no_such_table"
	return d.rights(ctx, []try{
		{"CREATE", "CREATE TABLE " + none + " LIKE " + none + "_either"},
		{"ALTER", "ALTER TABLE " + none + " COMMENT = ''"},
		{"DROP", "DROP TABLE " + none},
		{"INDEX", "CREATE INDEX i ON " + none + " (c)"},
		{"CREATE VIEW", "CREATE VIEW " + none + " AS SELECT * FROM " + none + "_either"},
	}, MigrationRights)
}

// try is a statement that takes a privilege and does nothing.
type try struct{ privilege, statement string }

// rights tries statements. Only two failures count: that a statement is denied, and that no answer comes.
func (d *DB) rights(ctx context.Context, tries []try, want string) ([]serverfault.Fault, error) {
	var lacks, said []string
	for _, t := range tries {
		err := d.attempt(ctx, t.statement)
		switch {
		case err != nil && number(err) == 0:
			return nil, Translate(ctx, "try out the privileges", err)
		case IsDenied(err) && !slices.Contains(lacks, t.privilege):
			lacks, said = append(lacks, t.privilege), append(said, err.Error())
		}
	}
	if len(lacks) == 0 {
		return nil, nil
	}
	return []serverfault.Fault{{
		Check:  serverfault.CheckPrivileges,
		Wrong:  fmt.Sprintf("the account lacks %s (%s)", strings.Join(lacks, ", "), said[0]),
		Remedy: "GRANT " + want + " ON the database to it",
	}}, nil
}

func (d *DB) attempt(ctx context.Context, statement string) error {
	rows, err := d.Health.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	return errors.Join(rows.Close(), rows.Err())
}

// IsDenied reports whether a statement failed because the account may not run it, or because it cannot connect as the DSN says.
func IsDenied(err error) bool { return isDeniedNumber(number(err)) || isUnfit(err) }

// LacksDatabase reports whether there is no database of the name that the DSN has.
func LacksDatabase(err error) bool { return number(err) == errNoDatabase }

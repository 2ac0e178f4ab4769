package mysql

import (
	"maps"
	"slices"
	"testing"

	"leaderboard/internal/serverfault"
)

// TestVersionFaults: the faults of versions.
func TestVersionFaults(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"8.0.0": "", "8.0.36-28": "", "8.4.7": "", "9.7.4-2": "", "10.0": "", "10.8.1-MariaDB": "", "10.11.14-MariaDB-0+deb12u2": "", "11.8.3-MariaDB-log": "",
		"5.7.44-log": "old", "5.6.10": "old", "10.7.8-MariaDB": "old", "10.6.22-MARIADB-log": "old", "5.5.5-MariaDB": "old",
		"": "doubtful", "unknown": "doubtful", "8": "doubtful", "99999999999999999999.1": "doubtful",
	} {
		got := ""
		for _, f := range versionFaults(version) {
			if got = "old"; f.Doubtful {
				got = "doubtful"
			}
			if f.Check != serverfault.CheckVersion || f.Wrong == "" || f.Remedy == "" {
				t.Errorf("%q: %+v", version, f)
			}
		}
		if got != want {
			t.Errorf("%q is %q, want %q", version, got, want)
		}
	}
}

// TestFaultsOfVariables: each variable with a wrong value is a separate fault, and a missing variable is not a fault.
func TestFaultsOfVariables(t *testing.T) {
	t.Parallel()
	good := map[string]string{
		"version": "8.4.0", "max_allowed_packet": "1048576", "max_connections": "32", "max_user_connections": "0", "innodb_flush_log_at_trx_commit": "1",
		"log_bin": "ON", "sync_binlog": "1", "transaction_read_only": "OFF",
	}
	semiSync := map[string]string{"rpl_semi_sync_source_enabled": "ON", "rpl_semi_sync_source_wait_point": "AFTER_SYNC", "rpl_semi_sync_source_timeout": "4294967295"}
	need := Need{Packet: 1 << 20, Conns: 32, Hosts: 1}
	for _, c := range []struct {
		change map[string]string
		check  serverfault.Check
		warns  bool
	}{
		{change: map[string]string{}},
		{change: map[string]string{"max_connections": "0", "log_bin": "OFF", "sync_binlog": "0"}},
		{map[string]string{"max_allowed_packet": "1048575"}, serverfault.CheckPackets, false},
		{map[string]string{"transaction_read_only": "ON"}, serverfault.CheckReadOnly, false},
		{map[string]string{"transaction_read_only": "ON", "tx_read_only": "ON"}, serverfault.CheckReadOnly, false},
		{map[string]string{"max_connections": "31"}, serverfault.CheckConnections, true},
		{map[string]string{"max_user_connections": "20"}, serverfault.CheckConnections, true},
		{map[string]string{"innodb_flush_log_at_trx_commit": "2"}, serverfault.CheckDurability, true},
		{map[string]string{"sync_binlog": "0"}, serverfault.CheckDurability, true},
		{map[string]string{"wsrep_on": "ON"}, serverfault.CheckGroup, true},
		{change: map[string]string{"hosts": "2", "wsrep_on": "ON", "wsrep_provider_options": "pc.ignore_quorum = false; pc.ignore_sb = false; "}},
		{map[string]string{"hosts": "2", "wsrep_on": "ON", "wsrep_dirty_reads": "ON"}, serverfault.CheckGroup, false},
		{map[string]string{"hosts": "2", "wsrep_on": "ON", "wsrep_max_ws_size": "1000"}, serverfault.CheckGroup, false},
		{map[string]string{"hosts": "2", "wsrep_on": "ON", "wsrep_provider_options": "pc.checksum = false; pc.ignore_sb = true; "}, serverfault.CheckGroup, false},
		{change: map[string]string{"wsrep_on": "OFF", "wsrep_dirty_reads": "ON"}},
		{change: map[string]string{"group_replication_group_name": "g", "group_replication_single_primary_mode": "ON", "group_replication_consistency": "BEFORE_ON_PRIMARY_FAILOVER"}},
		{change: map[string]string{"group_replication_single_primary_mode": "OFF", "group_replication_consistency": "EVENTUAL"}}, // of no group
		{map[string]string{"group_replication_group_name": "g", "group_replication_single_primary_mode": "OFF"}, serverfault.CheckGroup, false},
		{map[string]string{"group_replication_group_name": "g", "group_replication_consistency": "EVENTUAL"}, serverfault.CheckGroup, false},
		{map[string]string{"group_replication_group_name": "g", "group_replication_transaction_size_limit": "1000"}, serverfault.CheckGroup, false},
		{change: map[string]string{"group_replication_group_name": "g", "group_replication_transaction_size_limit": "0"}},
		{map[string]string{"hosts": "2"}, serverfault.CheckReplication, true},
		{map[string]string{"hosts": "2", "rpl_semi_sync_source_enabled": "OFF"}, serverfault.CheckReplication, true},
		{change: map[string]string{"hosts": "2", "group_replication_group_name": "g"}},
		{change: with(semiSync, "hosts", "2")},
		{change: map[string]string{"hosts": "2", "rpl_semi_sync_master_enabled": "ON", "rpl_semi_sync_master_wait_point": "AFTER_SYNC", "rpl_semi_sync_master_timeout": "4294967295"}},
		{with(semiSync, "rpl_semi_sync_source_wait_point", "AFTER_COMMIT"), serverfault.CheckReplication, true},
		{with(semiSync, "rpl_semi_sync_source_timeout", "10000"), serverfault.CheckReplication, true}, // MySQL's default
		{with(semiSync, "rpl_semi_sync_source_wait_no_replica", "OFF"), serverfault.CheckReplication, true},
	} {
		found := maps.Clone(good)
		maps.Copy(found, c.change)
		var got []serverfault.Check
		need := need
		if found["hosts"] != "" {
			need.Hosts = 2
		}
		for _, f := range faults(found, need) {
			if got = append(got, f.Check); f.Doubtful != c.warns || f.Remedy == "" {
				t.Errorf("%v: %+v", c.change, f)
			}
		}
		var want []serverfault.Check
		if c.check != "" {
			want = append(want, c.check)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", c.change, got, want)
		}
	}
	if got := faults(map[string]string{"version": "8.4.0"}, need); len(got) > 0 {
		t.Errorf("of a server that has none of the variables: %v", got)
	}
}

// with returns variables with one more.
func with(variables map[string]string, name, value string) map[string]string {
	more := maps.Clone(variables)
	more[name] = value
	return more
}

// Package serverfault names the faults of a server of MySQL or Redis, or with the machine of the service.
package serverfault

// Check names a check of a MySQL or Redis server, or of the machine of the service. docs/engines.md has a row for each.
type Check string

const (
	CheckVersion     Check = "version"
	CheckReadOnly    Check = "read-only"
	CheckPrivileges  Check = "privileges"
	CheckPackets     Check = "max_allowed_packet"
	CheckConnections Check = "max_connections"
	CheckGroup       Check = "group"
	CheckReplication Check = "replication"
	CheckDurability  Check = "durability"
	CheckEviction    Check = "maxmemory-policy"
	CheckReplica     Check = "replica"
	CheckWrites      Check = "writes"
	CheckAnswers     Check = "answers"
	CheckSchema      Check = "schema"
	CheckWriters     Check = "keys"
	CheckFiles       Check = "open files"
)

// Fault is a fault of such a server or machine, and its remedy. As an error it is permanent: trying again does not help.
type Fault struct {
	Check    Check
	Wrong    string // includes the finding
	Remedy   string // an instruction, as in "give the address of the primary"
	Doubtful bool   // it may be intended: a warning. Otherwise the service does not start
}

// Error implements error.
func (f *Fault) Error() string { return f.Wrong + ": " + f.Remedy }

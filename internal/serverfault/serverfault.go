// Package serverfault names what is wrong with a server of MySQL or Redis, or with the machine of the service.
package serverfault

// ServerCheck names a check of a MySQL or Redis server, or of the machine of the service. docs/engines.md has a row for each.
type ServerCheck string

const (
	ServerCheckVersion     ServerCheck = "version"
	ServerCheckReadOnly    ServerCheck = "read-only"
	ServerCheckPrivileges  ServerCheck = "privileges"
	ServerCheckPackets     ServerCheck = "max_allowed_packet"
	ServerCheckConnections ServerCheck = "max_connections"
	ServerCheckGroup       ServerCheck = "group"
	ServerCheckReplication ServerCheck = "replication"
	ServerCheckDurability  ServerCheck = "durability"
	ServerCheckEviction    ServerCheck = "maxmemory-policy"
	ServerCheckReplica     ServerCheck = "replica"
	ServerCheckAnswers     ServerCheck = "answers"
	ServerCheckSchema      ServerCheck = "schema"
	ServerCheckWriters     ServerCheck = "keys"
	ServerCheckFiles       ServerCheck = "open files"
)

// ServerFault is what is wrong with such a server or machine, and its remedy. As an error it is permanent: trying again
// does not help.
type ServerFault struct {
	Check    ServerCheck
	Wrong    string // includes what was found
	Remedy   string // an instruction, as in "give the address of the primary"
	Doubtful bool   // it may be intended: a warning. Otherwise the service does not start
}

// Error implements error.
func (f *ServerFault) Error() string { return f.Wrong + ": " + f.Remedy }

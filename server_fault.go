package leaderboard

// ServerCheck names what is looked at before a MySQL or a Redis is worked with. docs/engines.md has a row for each.
type ServerCheck string

const (
	ServerCheckVersion     ServerCheck = "version"
	ServerCheckReadOnly    ServerCheck = "read-only"
	ServerCheckPrivileges  ServerCheck = "privileges"
	ServerCheckPackets     ServerCheck = "max_allowed_packet"
	ServerCheckConnections ServerCheck = "max_connections"
	ServerCheckDurability  ServerCheck = "durability"
	ServerCheckEviction    ServerCheck = "maxmemory-policy"
	ServerCheckReplica     ServerCheck = "replica"
	ServerCheckAnswers     ServerCheck = "answers"
)

// ServerChecks returns all checks.
func ServerChecks() []ServerCheck {
	return []ServerCheck{
		ServerCheckVersion, ServerCheckReadOnly, ServerCheckPrivileges, ServerCheckPackets, ServerCheckConnections, ServerCheckDurability,
		ServerCheckEviction, ServerCheckReplica, ServerCheckAnswers,
	}
}

// ServerFault is what is wrong with a MySQL or a Redis, and what mends it. As an error it is one that trying again does
// not help against.
type ServerFault struct {
	Check    ServerCheck
	Wrong    string // with what was found
	Remedy   string // what to do, as in "give the address of the primary"
	Doubtful bool   // it may be meant so: who starts is warned. Otherwise a server does not start
}

// Error implements error.
func (f *ServerFault) Error() string { return f.Wrong + ": " + f.Remedy }

package leaderboard

// AuditAction names the kind of a change that the audit records.
type AuditAction string

// The actions that are recorded. Submissions are not among them: a board's rules may record them.
const (
	AuditActionBoardCreate   AuditAction = "board.create"
	AuditActionBoardUpdate   AuditAction = "board.update"
	AuditActionBoardDelete   AuditAction = "board.delete"
	AuditActionBoardRebuild  AuditAction = "board.rebuild" // a requested run
	AuditActionKeyCreate     AuditAction = "key.create"
	AuditActionKeyUpdate     AuditAction = "key.update"
	AuditActionKeyRotate     AuditAction = "key.rotate"
	AuditActionKeyRevoke     AuditAction = "key.revoke"
	AuditActionSessionBegin  AuditAction = "session.begin" // a person signs in
	AuditActionMemberHide    AuditAction = "member.hide"
	AuditActionMemberRestore AuditAction = "member.restore"
	AuditActionMemberErase   AuditAction = "member.erase"
	AuditActionMemberBar     AuditAction = "member.bar" // tokens of a player end
	AuditActionMemberUnbar   AuditAction = "member.unbar"
	AuditActionProfileCreate AuditAction = "profile.create"
	AuditActionProfileUpdate AuditAction = "profile.update"
	AuditActionProfileReset  AuditAction = "profile.reset" // a name was taken away
	AuditActionIssuerCreate  AuditAction = "issuer.create"
	AuditActionIssuerUpdate  AuditAction = "issuer.update"
	AuditActionIssuerDelete  AuditAction = "issuer.delete"
	AuditActionSigningRotate AuditAction = "signing.rotate" // another key signs tokens
	AuditActionEntryRemove   AuditAction = "entry.remove"

	AuditActionHeldApprove AuditAction = "held.approve"
	AuditActionHeldReject  AuditAction = "held.reject"

	AuditActionEndpointCreate AuditAction = "endpoint.create"
	AuditActionEndpointUpdate AuditAction = "endpoint.update" // also by the service itself, after an answer of 410
	AuditActionEndpointDelete AuditAction = "endpoint.delete"
	AuditActionEndpointRotate AuditAction = "endpoint.rotate"
	AuditActionEndpointTest   AuditAction = "endpoint.test"
	AuditActionEndpointReplay AuditAction = "endpoint.replay"

	AuditActionFollowerCreate AuditAction = "follower.create"
	AuditActionFollowerDelete AuditAction = "follower.delete" // not recorded when the follower expires
)

// AuditActions lists all actions.
func AuditActions() []AuditAction {
	return []AuditAction{
		AuditActionBoardCreate, AuditActionBoardUpdate, AuditActionBoardDelete, AuditActionBoardRebuild,
		AuditActionKeyCreate, AuditActionKeyUpdate, AuditActionKeyRotate, AuditActionKeyRevoke, AuditActionSessionBegin,
		AuditActionMemberHide, AuditActionMemberRestore, AuditActionMemberErase, AuditActionEntryRemove, AuditActionHeldApprove, AuditActionHeldReject,
		AuditActionProfileCreate, AuditActionProfileUpdate, AuditActionProfileReset,
		AuditActionMemberBar, AuditActionMemberUnbar, AuditActionIssuerCreate, AuditActionIssuerUpdate, AuditActionIssuerDelete, AuditActionSigningRotate,
		AuditActionEndpointCreate, AuditActionEndpointUpdate, AuditActionEndpointDelete, AuditActionEndpointRotate, AuditActionEndpointTest,
		AuditActionEndpointReplay, AuditActionFollowerCreate, AuditActionFollowerDelete,
	}
}

// AuditQuery asks for the records of changes, newest first. A field that is "" or 0 does not filter.
type AuditQuery struct {
	Board, Member, Actor string
	Action               AuditAction
	Since                Micros // at this moment or later
	Until                Micros // before this moment

	// BeforeTime and BeforeID continue after the record that has them; 0: from the newest on.
	BeforeTime Micros
	BeforeID   int64
	Limit      int // 0 to MaxLimit
}

// AuditPlace is a position in the audit: the time and the id of a record. The zero value is no position.
type AuditPlace struct {
	Time Micros
	ID   int64
}

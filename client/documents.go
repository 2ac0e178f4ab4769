package client

import "leaderboard/api"

// The documents of the API and the parameters of its operations are types of package api.

// AuditEntry is the record of one change.
type AuditEntry = api.AuditEntry

// Board is a board with all its rules.
type Board = api.Board

// Period is one period of a board.
type Period = api.Period

// Derivation is the state of a derived board and its sources.
type Derivation = api.Derivation

// DerivationState says how far a derived board is with its sources.
type DerivationState = api.DerivationState

// The states of a derived board.
const (
	DerivationStateFollowing  = api.DerivationStateFollowing
	DerivationStateIncomplete = api.DerivationStateIncomplete
	DerivationStateRolling    = api.DerivationStateRolling
	DerivationStateComputing  = api.DerivationStateComputing
)

// Source is a source of a derived board.
type Source = api.Source

// SourceCondition is a condition that a source must meet to count.
type SourceCondition = api.SourceCondition

// The conditions of a source.
const (
	SourceConditionPresent  = api.SourceConditionPresent
	SourceConditionEmpty    = api.SourceConditionEmpty
	SourceConditionNoBoard  = api.SourceConditionNoBoard
	SourceConditionNoWindow = api.SourceConditionNoWindow
	SourceConditionNoPeriod = api.SourceConditionNoPeriod
	SourceConditionDerived  = api.SourceConditionDerived
	SourceConditionLeft     = api.SourceConditionLeft
)

// Change is one change of a board, or the end of one of its periods.
type Change = api.Change

// ChangedEntry is the entry of a member before or after a change.
type ChangedEntry = api.ChangedEntry

// Endpoint is where events are sent.
type Endpoint = api.Endpoint

// EndpointState is the state of an endpoint: only an enabled one is sent events.
type EndpointState = api.EndpointState

// The states of an endpoint.
const (
	EndpointStateOn   = api.EndpointStateOn
	EndpointStateOff  = api.EndpointStateOff
	EndpointStateGone = api.EndpointStateGone
)

// NewEndpoint is an endpoint with its secret, which no other answer shows.
type NewEndpoint = api.NewEndpoint

// EndpointRequest describes an endpoint.
type EndpointRequest = api.EndpointRequest

// EndpointTest is the result of a test of an endpoint.
type EndpointTest = api.EndpointTest

// CopyStatus is the copy of a period in Redis.
type CopyStatus = api.CopyStatus

// DeliveryState is the progress of a delivery.
type DeliveryState = api.DeliveryState

// The states of a delivery.
const (
	DeliveryStateWaiting   = api.DeliveryStateWaiting
	DeliveryStateDelivered = api.DeliveryStateDelivered
	DeliveryStateFailed    = api.DeliveryStateFailed
)

// Delivery is an event on its way to an endpoint.
type Delivery = api.Delivery

// Event is the body of a request to an endpoint. Delivery.Payload is an Event too.
type Event = api.Event

// PeriodClosed is that a period of a calendar window or a season is over.
type PeriodClosed = api.PeriodClosed

// ClosedEntry is one of the best entries of a period that is over.
type ClosedEntry = api.ClosedEntry

// BoardChanged is that a board was created, given other rules, or deleted.
type BoardChanged = api.BoardChanged

// MemberChanged is that a member was hidden, shown again or erased.
type MemberChanged = api.MemberChanged

// MemberPassed says that the entry of another member went ahead of the entry of a member, on a board with the rule notify.
type MemberPassed = api.MemberPassed

// PassedBy is the member that passed another one.
type PassedBy = api.PassedBy

// SubmissionHeld is that a submission waits for an admin, or was decided.
type SubmissionHeld = api.SubmissionHeld

// EndpointTested is the event of a test of an endpoint.
type EndpointTested = api.EndpointTested

// ExportedEntry is an entry of an export, with both ranks.
type ExportedEntry = api.ExportedEntry

// Field is one tiebreak field of an entry.
type Field = api.Field

// Fields are the tiebreak fields of an entry, in the order in which the board declares them: the first decides first.
type Fields = api.Fields

// Held is a submission that waits for an admin, or did: see leaderboard.Review.
type Held = api.Held

// Moderated is the outcome of a moderation.
type Moderated = api.Moderated

// HiddenMember is a member who is hidden, on one board or everywhere.
type HiddenMember = api.HiddenMember

// Key is an API key, without its secret.
type Key = api.Key

// Purge counts deleted boards and entries whose rows still have to be removed.
type Purge = api.Purge

// Quota limits the use of a key per second; a nil field means the server's settings.
type Quota = api.Quota

// NewKey is a key with its secret, which no other answer shows.
type NewKey = api.NewKey

// KeyRequest describes a new key.
type KeyRequest = api.KeyRequest

// Profile is the public profile of a member.
type Profile = api.Profile

// FoundMember is a member that a search found.
type FoundMember = api.FoundMember

// ProfileFields is a whole profile.
type ProfileFields = api.ProfileFields

// ProfilePatch is a change of a profile; nil fields stay.
type ProfilePatch = api.ProfilePatch

// MemberData is all that is stored of a member.
type MemberData = api.MemberData

// MemberEntry is one member's entry.
type MemberEntry = api.MemberEntry

// MemberDataPlay is a play that was begun and not used.
type MemberDataPlay = api.MemberDataPlay

// MemberDataEntry is an entry with the period that it is in.
type MemberDataEntry = api.MemberDataEntry

// MemberDataSubmission is the record of a submission with its board.
type MemberDataSubmission = api.MemberDataSubmission

// Run is a rebuild, a refresh, or another piece of work on a period.
type Run = api.Run

// Verification is the result of a comparison.
type Verification = api.Verification

// DerivedStatus is how far a derived board is behind its sources.
type DerivedStatus = api.DerivedStatus

// Difference is the first difference; a nil entry means that this side has ended.
type Difference = api.Difference

// ComparedEntry is an entry without its rank.
type ComparedEntry = api.ComparedEntry

// Health is the answer of /readyz and /livez.
type Health = api.Health

// History is a member's entries in periods of a window, newest first; periods without an entry are left out.
type History = api.History

// HistoryPeriod is a member's entry in one period, exact at Seq.
type HistoryPeriod = api.HistoryPeriod

// Issuer is an identity provider whose tokens name a player.
type Issuer = api.Issuer

// TokenAlgorithm is how a token is signed.
type TokenAlgorithm = api.TokenAlgorithm

// All of them have a public key.
const (
	TokenAlgorithmRS256 = api.TokenAlgorithmRS256
	TokenAlgorithmES256 = api.TokenAlgorithmES256
	TokenAlgorithmEdDSA = api.TokenAlgorithmEdDSA
)

// UnusableKey is a key of an issuer's set that cannot verify a token.
type UnusableKey = api.UnusableKey

// IssuerRules are the rules of an issuer. An omitted rule has its default.
type IssuerRules = api.IssuerRules

// Token is a new token of a player.
type Token = api.Token

// Play is a play that a player has begun.
type Play = api.Play

// Bar is from when on tokens of a member are taken.
type Bar = api.Bar

// TokenKey is a public key of the service's own tokens, a JSON Web Key of Ed25519 (RFC 8037).
type TokenKey = api.TokenKey

// Problem is an error answer (RFC 9457), or the reason why an entry of a submission was rejected.
type Problem = api.Problem

// InputError names a place of a request and its fault.
type InputError = api.InputError

// CodeOf returns the problem code of a sentinel error of package leaderboard, or "".
func CodeOf(sentinel error) string { return api.CodeOf(sentinel) }

// BoardSeqs is the state of a board after a submission.
type BoardSeqs = api.BoardSeqs

// BoardState is the state of one of several boards.
type BoardState = api.BoardState

// CombinedEntry is an entry of one of several boards.
type CombinedEntry = api.CombinedEntry

// Combined is entries of several boards ranked as one, best first, each with its board.
type Combined = api.Combined

// Standings has the standings of a member on several boards, in the order of their names, each exact at its Seq.
type Standings = api.Standings

// Standing is where a member stands on one of several boards, exact at Seq.
type Standing = api.Standing

// State names the period and the state that an answer is exact at.
type State = api.State

// Entry is a ranked entry.
type Entry = api.Entry

// EntryProfile is the profile of a member, shown with an entry.
type EntryProfile = api.EntryProfile

// Page is entries of a board, best first.
type Page = api.Page

// Found is entries of members in the order of their shown names.
type Found = api.Found

// Ranks is given members, best first, each with its rank on the board and its position among them.
type Ranks = api.Ranks

// FriendRanks is a member among its friends.
type FriendRanks = api.FriendRanks

// ScoreRank is the rank that a new entry would have now.
type ScoreRank = api.ScoreRank

// Bucket is the number of entries with From <= score <= To.
type Bucket = api.Bucket

// Distribution is a histogram of the scores, in ascending order and without gaps.
type Distribution = api.Distribution

// Status is the health of a server and its boards.
type Status = api.Status

// ServerStatus is the health of the server that answered.
type ServerStatus = api.ServerStatus

// BoardStatus is the health of a board: the current period of its first window.
type BoardStatus = api.BoardStatus

// SubmissionRecord is the record of one submission, on boards whose rules have record.
type SubmissionRecord = api.SubmissionRecord

// ActivityHour counts the recorded submissions of an hour of UTC.
type ActivityHour = api.ActivityHour

// Activity counts the submissions to a board, hour by hour.
type Activity = api.Activity

// Runner is a member of a race, with its place at each moment, nil while it had no entry or has no record, and its scores at the
// other moments.
type Runner = api.Runner

// RunnerPoint is the score of a member at a moment of a race.
type RunnerPoint = api.RunnerPoint

// Race is the places of the first ten of a board among each other over time, as their submissions are recorded.
type Race = api.Race

// Result is the outcome of one entry.
type Result = api.Result

// Moved has a member's rank before and after a submission, in one state of the current period of the board's first window.
type Moved = api.Moved

// Receipt answers a submission or a removal.
type Receipt = api.Receipt

// MultiBoardReceipt answers a submission to several boards.
type MultiBoardReceipt = api.MultiBoardReceipt

// AuditQuery selects records of changes; an empty field does not filter.
type AuditQuery = api.AuditQuery

// ReadQuery has the parameters of every read; the zero value reads the current period of the board's first window.
type ReadQuery = api.ReadQuery

// TopQuery asks for a page.
type TopQuery = api.TopQuery

// FindQuery searches for ranked members by their shown names.
type FindQuery = api.FindQuery

// ScoreQuery asks for the rank that a new entry with a score would have.
type ScoreQuery = api.ScoreQuery

// RaceQuery asks for the race of the first ten.
type RaceQuery = api.RaceQuery

// HistoryQuery asks for the history of a member.
type HistoryQuery = api.HistoryQuery

// BoardsQuery selects several boards by name or by labels.
type BoardsQuery = api.BoardsQuery

// RemoveOptions select a period other than the current ones.
type RemoveOptions = api.RemoveQuery

// ExportQuery selects the entries to export; Export sets its format.
type ExportQuery = api.ExportQuery

// ChangesQuery says where the changes of a board begin.
type ChangesQuery = api.ChangesQuery

package apitest

import (
	"bytes"
	jsonv1 "encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/api"
	"leaderboard/internal/wire"
)

// types returns for each schema of an answer in JSON, by its name, a function that makes a new value of its Go type.
func types() map[string]func() any {
	return map[string]func() any{
		"Activity":           of[api.Activity],
		"AroundAnswer":       of[api.Page],
		"AuditLog":           listOf[api.AuditEntry],
		"Bar":                of[api.Bar],
		"Board":              of[api.Board],
		"BoardList":          of[api.Boards],
		"DeliveryList":       listOf[api.Delivery],
		"Derivation":         of[api.Derivation],
		"DistributionAnswer": of[api.Distribution],
		"Endpoint":           of[api.NewEndpoint],
		"EndpointList":       listOf[api.Endpoint],
		"EndpointTest":       of[api.EndpointTest],
		"Forgetting":         of[api.Erasing],
		"FoundAnswer":        of[api.Found],
		"FoundMembers":       of[api.FoundMembers],
		"FriendList":         of[api.FriendList],
		"FriendsAnswer":      of[api.FriendRanks],
		"FriendsTotal":       of[api.FriendCount],
		"Health":             of[api.Health],
		"Held":               of[api.Held],
		"HeldList":           listOf[api.Held],
		"HiddenList":         listOf[api.HiddenMember],
		"Hiding":             of[api.HiddenMember],
		"Moderated":          of[api.Moderated],
		"HistoryAnswer":      of[api.History],
		"Issuer":             of[api.Issuer],
		"IssuerList":         listOf[api.Issuer],
		"Key":                of[api.Key],
		"KeyList":            listOf[api.Key],
		"MemberAnswer":       of[api.MemberEntry],
		"MemberData":         of[api.MemberData],
		"MemberProfile":      of[api.Profile],
		"MergedAroundAnswer": of[api.Combined],
		"MergedMemberAnswer": of[api.Combined],
		"MergedTopAnswer":    of[api.Combined],
		"MultiBoardResults":  of[api.MultiBoardReceipt],
		"NewKey":             of[api.NewKey],
		"NewToken":           of[api.Token],
		"PeriodList":         listOf[api.Period],
		"Play":               of[api.Play],
		"Race":               of[api.Race],
		"RanksAnswer":        of[api.Ranks],
		"Removal":            of[api.Removal],
		"Replayed":           of[api.Replayed],
		"Run":                of[api.Run],
		"RunList":            listOf[api.Run],
		"ScoreRankAnswer":    of[api.ScoreRank],
		"Session":            of[api.Session],
		"StandingsAnswer":    of[api.Standings],
		"StatusAnswer":       of[api.Status],
		"SubmissionList":     of[api.Submissions],
		"SubmitResults":      of[api.Receipt],
		"TokenKeys":          of[api.TokenKeys],
		"Verification":       of[api.Verification],
		"TopAnswer":          of[api.Page],
	}
}

func of[T any]() any { return new(T) }

// listOf is a list under a given name, with a cursor.
func listOf[T any]() any { return new(list[T]) }

// list is {"<name>": [T, …], "next_cursor": "…"}.
type list[T any] struct {
	name  string
	items []T
	next  *string
}

func (l *list[T]) UnmarshalJSON(b []byte) error {
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	for name, value := range members {
		var err error
		if name == "next_cursor" {
			err = json.Unmarshal(value, &l.next)
		} else {
			l.name, err = name, json.Unmarshal(value, &l.items, json.RejectUnknownMembers(true))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *list[T]) MarshalJSON() ([]byte, error) {
	members := map[string]any{l.name: l.items}
	if l.next != nil {
		members["next_cursor"] = *l.next
	}
	return wire.Marshal(members)
}

// checkType returns an error unless the type of an answer has all its members and no others. The answer is read into its type and
// written again; a member that is null may then be missing, since both are nil in Go.
func checkType(response *openapi3.ResponseRef, body []byte) error {
	if response == nil || response.Value.Content["application/json"] == nil {
		return nil
	}
	name := path.Base(response.Value.Content["application/json"].Schema.Ref)
	if name == "." { // the document itself, and pages
		return nil
	}
	newDocument, known := types()[name]
	if !known {
		return fmt.Errorf("no Go type is known of the schema %s", name)
	}
	document := newDocument()
	if err := json.Unmarshal(body, document, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("not a %T: %w", document, err)
	}
	again, err := wire.Marshal(document)
	if err != nil {
		return err
	}
	was, err := withoutNulls(body)
	if err != nil {
		return err
	}
	if is, err := withoutNulls(again); err != nil || !reflect.DeepEqual(was, is) {
		return fmt.Errorf("as a %T it is\n%s", document, again)
	}
	return nil
}

// withoutNulls returns JSON without the members that are null. Numbers stay texts.
func withoutNulls(body []byte) (value any, err error) {
	d := jsonv1.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	strip(value)
	return value, nil
}

func strip(value any) {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, member any) bool { return member == nil })
		for _, member := range v {
			strip(member)
		}
	case []any:
		for _, item := range v {
			strip(item)
		}
	}
}

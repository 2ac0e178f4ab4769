package wire

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/internal/numbers"
	"leaderboard/leaderboard"
)

// The types of bodies.
const (
	TypeJSON       = "application/json"
	typeMergePatch = "application/merge-patch+json" // RFC 7396
)

// DecodeBody decodes a body, one JSON value and nothing after it, into dst. It rejects unknown and repeated members, invalid
// UTF-8, names of members in another case, too many values and too deep nesting. patch: it may be a merge patch. may is nil for a
// dst that distinguishes null from a value. odd is nil for a dst that takes whole numbers of 64 bits alone.
func DecodeBody(header http.Header, patch bool, body []byte, dst any, may *Emptiness, odd *OddNumbers, options ...json.Options) error {
	if len(body) == 0 {
		return Malformed(InputError{Detail: "the body is empty, want a JSON object"})
	}
	if err := checkContentType(header, patch); err != nil {
		return err
	}
	if string(bytes.TrimSpace(body)) == "null" { // which would leave dst unchanged
		return Malformed(InputError{Detail: "want an object, not null"})
	}
	if err := checkOutline(body); err != nil {
		return err
	}
	if err := unmarshal(body, dst, odd, options); err != nil {
		return err
	}
	if may != nil {
		return may.Check(body)
	}
	return nil
}

// Unmarshal decodes JSON that DecodeBody has accepted, in the same way.
func Unmarshal(text []byte, dst any, options ...json.Options) error {
	return unmarshal(text, dst, nil, options)
}

func unmarshal(text []byte, dst any, odd *OddNumbers, options []json.Options) error {
	options = append(options, json.RejectUnknownMembers(true))
	err := json.Unmarshal(text, dst, options...)
	if isAboutNumber(err) { // again, over the part that was decoded, with numbers in every form: few bodies have them
		others, _ := json.GetOption(json.JoinOptions(options...), json.WithUnmarshalers)
		both := json.JoinUnmarshalers(numbers.Unmarshalers(odd.add), others)
		err = json.Unmarshal(text, dst, append(options, json.WithUnmarshalers(both))...)
	}
	if err != nil {
		return Malformed(Describe(err))
	}
	return nil
}

// OddNumbers are the numbers of a body that are no whole numbers of 64 bits. They are decoded as 0; the handler refuses the values
// that have them.
type OddNumbers struct{ All []OddNumber }

// OddNumber is a number, and where it is.
type OddNumber struct {
	At     jsontext.Pointer
	Number string
}

// add reports whether a number may be decoded as 0. A nil receiver takes none.
func (o *OddNumbers) add(at jsontext.Pointer, number string) bool {
	if o != nil {
		o.All = append(o.All, OddNumber{at, number})
	}
	return o != nil
}

// Bounds of every body. They are checked before a decoder runs, so that the cost of a body is linear in its bytes: a decoder keeps
// many bytes for a short value, and its place, which is as long as the names and as deep as the nesting around it.
const (
	MaxValues = 1 << 15 // 1,000 entries with all the fields that a tiebreak can have are 23,000
	MaxDepth  = 16      // the rules of a board have 4
)

// checkOutline rejects a body beyond the bounds of every body.
func checkOutline(body []byte) error {
	of := OutlineOf(body)
	switch {
	case of.Depth > MaxDepth:
		return Malformed(InputError{Detail: fmt.Sprintf("want objects and arrays at most %d inside of each other", MaxDepth)})
	case of.Values > MaxValues:
		return Malformed(InputError{Detail: fmt.Sprintf("want at most %d values", MaxValues)})
	}
	return nil
}

// Emptiness lists where a body may have null or "". Elsewhere both are rejected: they are neither a value nor left out, and Go
// would decode them as zero.
type Emptiness struct {
	Nullable []string // names of members that may be null; no other value may
	NonEmpty []string // names of members that must not be "", where no rule checks that
	Opaque   string   // a member with any content of the client's, checked elsewhere
}

// Check reads a body that was decoded already, and rejects null and "" where they are not allowed. It computes the place only of a
// value that it rejects, because a place is as long as all names around it.
func (may *Emptiness) Check(body []byte) error {
	var bad BadFields
	var name string // of the member whose value is the token; "" for an element
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	for !bad.full() {
		container, n := dec.StackIndex(dec.StackDepth())
		isName := container == '{' && n%2 == 0
		if next := dec.PeekKind(); name == may.Opaque && name != "" && dec.StackDepth() == 1 && !isName && (next == '{' || next == '[') {
			_ = dec.SkipValue() // it was decoded
			continue
		}
		token, err := dec.ReadToken()
		if err != nil {
			break // the end
		}
		switch {
		case token.Kind() == '}' || token.Kind() == ']':
		case isName:
			name = token.String()
			continue
		case token.Kind() == 'n' && !slices.Contains(may.Nullable, name):
			bad.Add(pointer(dec.StackPointer()), "want a value, not null; what has a default may be left out")
		case token.Kind() == '"' && slices.Contains(may.NonEmpty, name) && token.String() == "":
			bad.Add(pointer(dec.StackPointer()), "is empty; what has a default may be left out")
		}
		name = ""
	}
	return bad.Err()
}

func checkContentType(h http.Header, mergePatch bool) error {
	if enc := h.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return Reject(CodeNotJSON, "The body has a Content-Encoding; send it without one.")
	}
	ct := h.Get("Content-Type")
	if ct == TypeJSON {
		return nil
	}
	name, params, err := mime.ParseMediaType(ct)
	if err != nil || name != TypeJSON && !(mergePatch && name == typeMergePatch) || len(h["Content-Type"]) > 1 {
		return Reject(CodeNotJSON, "")
	}
	for key, value := range params {
		if key != "charset" || !strings.EqualFold(value, "utf-8") {
			return Reject(CodeNotJSON, "The only parameter that application/json may have here is charset=utf-8.")
		}
	}
	return nil
}

// Describe returns, in the words of the contract, where and why JSON could not be decoded.
func Describe(err error) InputError {
	var (
		syntactic *jsontext.SyntacticError
		semantic  *json.SemanticError
	)
	switch {
	case errors.As(err, &syntactic):
		detail := fmt.Sprintf("not valid JSON at byte %d: %s", syntactic.ByteOffset, syntactic.Err.Error())
		return InputError{Pointer: pointer(syntactic.JSONPointer), Detail: Clip(detail)}
	case errors.As(err, &semantic):
		return InputError{Pointer: pointer(semantic.JSONPointer), Detail: Clip(wanted(semantic))}
	default:
		return InputError{Detail: "not valid JSON"}
	}
}

// isAboutNumber reports whether JSON was not decoded because a whole number belongs where there is another number, or a string.
func isAboutNumber(err error) bool {
	var semantic *json.SemanticError
	if err == nil || !errors.As(err, &semantic) || semantic.GoType == nil {
		return false
	}
	t := semantic.GoType
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	wide := t == reflect.TypeFor[int64]()
	return semantic.JSONKind == '0' && (wide || t == reflect.TypeFor[int]()) || semantic.JSONKind == '"' && wide
}

func pointer(p jsontext.Pointer) string { return Clip(string(p)) }

// wanted names the kind of value that belongs in a place.
func wanted(e *json.SemanticError) string {
	if errors.Is(e, json.ErrUnknownName) {
		return "is not known"
	}
	if e.GoType == nil {
		return "is not of the documented form"
	}
	t := e.GoType
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[leaderboard.Micros]() {
		if e.Err != nil && e.JSONKind == '"' {
			return e.Err.Error()
		}
		return "want an RFC 3339 time in a string"
	}
	switch t.Kind() {
	case reflect.Int64:
		return "want a JSON integer from -9223372036854775808 to 9223372036854775807"
	case reflect.Int:
		return "want a JSON integer"
	case reflect.String:
		return "want a string"
	case reflect.Slice:
		return "want an array"
	case reflect.Struct, reflect.Map:
		return "want an object"
	}
	return "is not of the documented form"
}

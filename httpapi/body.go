package httpapi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard"
)

// decode decodes the body, one JSON value and nothing after it, into dst. It rejects unknown and repeated members, invalid
// UTF-8, names of members in another case, and more elements than the route takes. An empty body is an error unless
// optional. may is nil for a dst that tells null from a value by itself. It is called once: it gives the body back.
func (c *call) decode(dst any, optional bool, may *emptiness, options ...json.Options) error {
	defer c.dropBody()
	body := c.body
	if len(body) == 0 && optional {
		return nil
	}
	if len(body) == 0 {
		return malformed(inputError{Detail: "the body is empty, want a JSON object"})
	}
	if err := checkContentType(c.r.Header, c.route.mergePatch); err != nil {
		return err
	}
	if string(bytes.TrimSpace(body)) == "null" { // which would leave dst as it is
		return malformed(inputError{Detail: "want an object, not null"})
	}
	if rule := &c.route.body; rule.tooLong(body) {
		return reject(cmp.Or(rule.code, codeMalformed), "", inputError{Pointer: "/" + rule.list, Detail: fmt.Sprintf("want at most %d elements", rule.most)})
	}
	if err := json.Unmarshal(body, dst, append(options, json.RejectUnknownMembers(true))...); err != nil {
		return malformed(describe(err))
	}
	if may != nil {
		return may.check(body)
	}
	return nil
}

// commasEach is how many commas a body may have for each element that its array may, before the elements are counted.
const commasEach = 16

// tooLong says whether the array in a body has more elements than it may, without keeping any: decoded, an element can be
// many times as long as it is in the body. What decoding costs no more than usual it leaves to whoever uses the elements.
func (rule *bodyRule) tooLong(body []byte) bool {
	if rule.list == "" || bytes.Count(body, []byte(",")) <= commasEach*rule.most {
		return false
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	for {
		if _, err := dec.ReadToken(); err != nil {
			return false // the decoder will say what is wrong
		}
		if kind, n := dec.StackIndex(dec.StackDepth()); dec.StackDepth() == 2 && kind == '[' && n > int64(rule.most) && dec.StackPointer().Parent() == jsontext.Pointer("/"+rule.list) {
			return true
		}
	}
}

// emptiness says where a body may have null or "". Elsewhere they are rejected: they are neither a value nor left out,
// and what Go makes of them is zero.
type emptiness struct {
	nullable []string // names of members that may be null; no other value may
	nonEmpty []string // names of members that may not be "", for want of a rule that says so
	opaque   string   // a member that holds what the client likes, checked by who takes it
}

// check reads a body that was decoded already, and rejects null and "" where they may not be.
func (may *emptiness) check(body []byte) error {
	var bad badFields
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return bad.err() // the end
		}
		at := dec.StackPointer()
		switch name := at.LastToken(); {
		case may.opaque != "" && strings.HasPrefix(string(at), "/"+may.opaque+"/"):
		case token.Kind() == 'n' && !slices.Contains(may.nullable, name):
			bad.add(pointer(at), "want a value, not null; what has a default may be left out")
		case token.Kind() == '"' && token.String() == "" && slices.Contains(may.nonEmpty, name):
			bad.add(pointer(at), "is empty; what has a default may be left out")
		}
	}
}

func checkContentType(h http.Header, mergePatch bool) error {
	if enc := h.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return reject(codeNotJSON, "The body has a Content-Encoding; send it as it is.")
	}
	ct := h.Get("Content-Type")
	if ct == typeJSON {
		return nil
	}
	name, params, err := mime.ParseMediaType(ct)
	if err != nil || name != typeJSON && !(mergePatch && name == typeMergePatch) || len(h["Content-Type"]) > 1 {
		return reject(codeNotJSON, "")
	}
	for key, value := range params {
		if key != "charset" || !strings.EqualFold(value, "utf-8") {
			return reject(codeNotJSON, "The only parameter that application/json may have here is charset=utf-8.")
		}
	}
	return nil
}

// describe says in the words of the contract where and why JSON could not be decoded.
func describe(err error) inputError {
	var (
		syntactic *jsontext.SyntacticError
		semantic  *json.SemanticError
	)
	switch {
	case errors.As(err, &syntactic):
		detail := fmt.Sprintf("not valid JSON at byte %d: %s", syntactic.ByteOffset, syntactic.Err.Error())
		return inputError{Pointer: pointer(syntactic.JSONPointer), Detail: clip(detail)}
	case errors.As(err, &semantic):
		return inputError{Pointer: pointer(semantic.JSONPointer), Detail: clip(wanted(semantic))}
	default:
		return inputError{Detail: "not valid JSON"}
	}
}

func pointer(p jsontext.Pointer) string { return clip(string(p)) }

// wanted names what belongs where another thing was.
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
		return "want a JSON integer from -9223372036854775808 to 9223372036854775807, without fraction, exponent or quotes"
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

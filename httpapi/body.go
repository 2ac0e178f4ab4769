package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard"
)

// decode reads the body, one JSON value and nothing after it, into dst. It rejects unknown and repeated members,
// invalid UTF-8, and names of members in another case. An empty body is an error unless optional. may is nil for a dst
// that tells null from a value by itself.
func (c *call) decode(dst any, optional bool, may *emptiness, options ...json.Options) error {
	if n := c.r.ContentLength; n > c.shared.maxBody {
		return &http.MaxBytesError{Limit: c.shared.maxBody}
	}
	buf := c.shared.buffer()
	defer c.shared.release(buf)
	body, err := readAll(http.MaxBytesReader(c.w, c.r.Body, c.shared.maxBody), (*buf)[:0])
	*buf = body
	if err != nil {
		return bodyError(err)
	}
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
	if err := json.Unmarshal(body, dst, append(options, json.RejectUnknownMembers(true))...); err != nil {
		return malformed(describe(err))
	}
	if may != nil {
		return may.check(body)
	}
	return nil
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

// readAll is io.ReadAll into a given buffer.
func readAll(r io.Reader, b []byte) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// bodyError says what a failure to read the body is: too large, too slow, or cut off by the client.
func bodyError(err error) error {
	var toobig *http.MaxBytesError
	switch {
	case errors.As(err, &toobig):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return reject(codeSlowRequest, "")
	default:
		return malformed(inputError{Detail: "the body could not be read to its end"})
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

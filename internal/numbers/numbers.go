// Package numbers decodes whole numbers of 64 bits from JSON in every form in which programs write them: 100, 100.0, 1e2, and each of
// them in a string.
package numbers

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/leaderboard"
)

// errNotWhole is a number, or a string, that is no whole number of 64 bits.
var errNotWhole = errors.New(leaderboard.WantWholeNumber)

// Unmarshalers decode int64 values in every form, and int values in every form but strings. odd is called with a number that is no whole
// number of 64 bits and where it is; it is decoded as 0 when odd returns true. nil is an odd that takes none.
func Unmarshalers(odd func(at jsontext.Pointer, number string) bool) *json.Unmarshalers {
	return json.JoinUnmarshalers(
		json.UnmarshalFromFunc(func(dec *jsontext.Decoder, n *int64) error { return decode(dec, n, odd) }),
		json.UnmarshalFromFunc(decodeInt),
	)
}

func decode(dec *jsontext.Decoder, n *int64, odd func(at jsontext.Pointer, number string) bool) error {
	kind := dec.PeekKind()
	if kind != '0' && kind != '"' {
		return errors.ErrUnsupported
	}
	text, err := dec.ReadValue()
	if err != nil {
		return err
	}
	number := []byte(text)
	if kind == '"' {
		if number, err = jsontext.AppendUnquote(nil, text); err != nil {
			return err
		}
	}
	whole, ok := leaderboard.WholeNumber(number)
	if !ok && (!isNumber(number) || odd == nil || !odd(dec.StackPointer(), string(number))) {
		return errNotWhole
	}
	*n = whole
	return nil
}

func decodeInt(dec *jsontext.Decoder, n *int) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	var wide int64
	if err := decode(dec, &wide, nil); err != nil {
		return err
	}
	if *n = int(wide); int64(*n) != wide {
		return errNotWhole
	}
	return nil
}

// isNumber reports whether the whole text is a JSON number.
func isNumber(text []byte) bool {
	v := jsontext.Value(text)
	return len(text) > 0 && text[len(text)-1] >= '0' && text[len(text)-1] <= '9' && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && v.IsValid()
}

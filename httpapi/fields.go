package httpapi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"leaderboard"
)

// defaultField gives a tiebreak field of a body its defaults and leaves the decoding to who does it otherwise.
func defaultField(_ *jsontext.Decoder, f *leaderboard.TiebreakField) error {
	f.Order = leaderboard.OrderDesc
	return errors.ErrUnsupported
}

// fieldValues are the fields of entry i of a body; nil when it has none. null is no value.
func fieldValues(in map[string]*int64, bad *badFields, i int) map[string]int64 {
	if in == nil {
		return nil
	}
	out := make(map[string]int64, len(in))
	for name, v := range in {
		if v == nil {
			bad.add(clip(fmt.Sprintf("/entries/%d/fields%s", i, jsontext.Pointer("").AppendToken(name))), "want a JSON integer, not null")
			continue
		}
		out[name] = *v
	}
	return out
}

// fields is the parameter fields, as in level:7,paid:1; nil when it is not given.
func (c *call) fields() map[string]int64 {
	text := c.text("fields")
	if text == "" {
		return nil
	}
	out := map[string]int64{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, ":")
		v, ok := parseInteger(value)
		if !ok {
			c.reject("fields", "want name:value with whole numbers, separated by commas, such as level:7,paid:1")
			return nil
		}
		if _, twice := out[name]; twice {
			c.reject("fields", "a field is given twice")
			return nil
		}
		out[name] = v
	}
	return out
}

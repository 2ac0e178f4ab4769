package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// setFields reads NAME=VALUE pairs of tiebreak fields. Which ones there have to be, and their ranges, the server knows.
func setFields(c *config, v string) error {
	c.fields = map[string]int64{}
	for pair := range strings.SplitSeq(v, ",") {
		name, text, _ := strings.Cut(pair, "=")
		value, err := strconv.ParseInt(text, 10, 64)
		if _, twice := c.fields[name]; err != nil || name == "" || twice {
			return fmt.Errorf("want NAME=VALUE with a whole number, each name once, as in level=7, not %q", pair)
		}
		c.fields[name] = value
	}
	return nil
}

// fieldRule is a tiebreak field in the body of PUT /v1/boards/{board}.
type fieldRule struct {
	Name  string `json:"name"`
	Bits  int    `json:"bits"`
	Order string `json:"order,omitempty"`
}

// setTiebreakFields reads NAME:BITS and NAME:BITS:ORDER, separated by commas.
func setTiebreakFields(c *config, v string) error {
	var fields []fieldRule
	for field := range strings.SplitSeq(v, ",") {
		parts := strings.Split(field, ":")
		if len(parts) < 2 || len(parts) > 3 {
			return fmt.Errorf("want NAME:BITS or NAME:BITS:ORDER, as in level:20,deaths:16:asc, not %q", field)
		}
		bits, err := strconv.Atoi(parts[1])
		if err != nil {
			return fmt.Errorf("want a whole number of bits, as in level:20, not %q", field)
		}
		fields = append(fields, fieldRule{Name: parts[0], Bits: bits, Order: strings.Join(parts[2:], "")})
	}
	c.setRule("tiebreak.fields", fields)
	return nil
}

// tiebreakQuery adds the tiebreak of a score to ask about.
func tiebreakQuery(cfg *config, query url.Values) {
	if cfg.tiebreak != nil {
		query.Set("tiebreak", strconv.FormatInt(*cfg.tiebreak, 10))
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(cfg.fields)) {
		pairs = append(pairs, name+":"+strconv.FormatInt(cfg.fields[name], 10))
	}
	if pairs != nil {
		query.Set("fields", strings.Join(pairs, ","))
	}
}

// fieldsView are the tiebreak fields of an entry in the server's order, which is the declared one; none on a board that
// has no fields.
type fieldsView []fieldView

type fieldView struct {
	name  string
	value int64
}

// UnmarshalJSON reads an object of numbers.
func (f *fieldsView) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if _, err := dec.Token(); err != nil { // the brace
		return err
	}
	for *f = nil; dec.More(); {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		v := fieldView{name: fmt.Sprint(name)}
		if err := dec.Decode(&v.value); err != nil {
			return err
		}
		*f = append(*f, v)
	}
	return nil
}

// head are the columns of a table with these fields: one each, or TIEBREAK.
func (f fieldsView) head() []string {
	if len(f) == 0 {
		return []string{"TIEBREAK"}
	}
	var names []string
	for _, v := range f {
		names = append(names, strings.ToUpper(v.name))
	}
	return names
}

// cells are the values below head.
func (f fieldsView) cells(tiebreak int64) []any {
	if len(f) == 0 {
		return []any{tiebreak}
	}
	var values []any
	for _, v := range f {
		values = append(values, v.value)
	}
	return values
}

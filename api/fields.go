package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Field is one tiebreak field of an entry.
type Field struct {
	Name  string
	Value int64
}

// Fields are the tiebreak fields of an entry, in the order in which the board declares them: the first decides first.
type Fields []Field

// FieldsByName returns fields in the order of their names, nil for none.
func FieldsByName(values map[string]int64) (f Fields) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		f = append(f, Field{name, values[name]})
	}
	return f
}

// String returns the fields as a query takes them, as in level:7,paid:1.
func (f Fields) String() string {
	parts := make([]string, len(f))
	for i := range f {
		parts[i] = f[i].Name + ":" + strconv.FormatInt(f[i].Value, 10)
	}
	return strings.Join(parts, ",")
}

// UnmarshalJSON reads an object and keeps the order of its members.
func (f *Fields) UnmarshalJSON(b []byte) error {
	*f = nil
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("fields: want an object, not %.20s", b)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value int64
		if err := dec.Decode(&value); err != nil {
			return err
		}
		*f = append(*f, Field{name.(string), value}) // the decoder accepts nothing else for a name
	}
	return nil
}

// MarshalJSON writes the object.
func (f Fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(f[i].Name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s:%d", name, f[i].Value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

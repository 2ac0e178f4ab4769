package wire

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MergePatch applies a merge patch as in RFC 7396: objects are merged by name, null removes a member, every other value
// replaces the present one.
func MergePatch(target, patch jsontext.Value) (jsontext.Value, error) {
	if patch.Kind() != '{' {
		return patch, nil
	}
	members, changes := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	if target.Kind() == '{' {
		if err := json.Unmarshal(target, &members); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, err
	}
	for name, change := range changes {
		if change.Kind() == 'n' {
			delete(members, name)
			continue
		}
		merged, err := MergePatch(members[name], change)
		if err != nil {
			return nil, err
		}
		members[name] = merged
	}
	return json.Marshal(members, json.Deterministic(true))
}

// Nullable is a value in a merge patch: left out, null, or given.
type Nullable[T any] struct {
	Said  bool
	Given *T // nil: null
}

// UnmarshalJSONFrom reads a value or null.
func (p *Nullable[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	p.Said = true
	if dec.PeekKind() == 'n' {
		p.Given = nil
		return dec.SkipValue()
	}
	p.Given = new(T)
	return json.UnmarshalDecode(dec, p.Given)
}

// To returns the new value of a field: nil if it does not change, the zero value for null.
func (p *Nullable[T]) To() *T {
	switch {
	case !p.Said:
		return nil
	case p.Given == nil:
		return new(T)
	default:
		return p.Given
	}
}

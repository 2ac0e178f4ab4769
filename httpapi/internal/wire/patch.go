package wire

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MergePatch applies a merge patch as RFC 7396 says: objects are merged by name, null takes a member away, everything
// else is put in the place of what is there.
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

// Nullable is a value in a merge patch: not said, null, or given.
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

// To returns what a change makes of a field: nil when it stays, the zero value for null.
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

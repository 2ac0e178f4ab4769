package api

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"leaderboard/leaderboard"
)

// Param is a parameter of a query, as the tags of a member of a struct say it:
//
//	query    the name; with ",optional" only servers with a feature have the parameter
//	range    the least and the greatest whole number, as in "1,1000"; "0," has no greatest
//	default  the value when it is not given
//	words    the values that a text may have, separated by commas
//	most     the longest duration
//
// An embedded struct adds its parameters, except the names in its tag without.
type Param struct {
	Name     string
	Optional bool
	Type     reflect.Type
	Bounds   [2]int64 // of a whole number
	Number   int64    // the default of a whole number
	Default  string
	Words    []string // nil: any text
	Most     time.Duration
}

// Loose are the names of parameters that are read loosely, by pages for people: a wrong value is no error.
type Loose []string

// ParamsOf returns the parameters of Operation.Query. It panics for a tag that says nothing.
func ParamsOf(query any) (list []Param) {
	if names, loose := query.(Loose); loose || query == nil {
		for _, name := range names {
			list = append(list, Param{Name: name, Type: reflect.TypeFor[string]()})
		}
		return list
	}
	eachParam(reflect.ValueOf(query), "", func(_ string, f *reflect.StructField, v reflect.Value, known bool) {
		if known {
			list = append(list, paramOf(f, v))
		}
	})
	return list
}

// FindParam returns the parameter with a name; nil: no parameter has it.
func FindParam(list []Param, name string) *Param {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// eachParam calls do with the members that are parameters, in order; known: no tag without takes it away.
func eachParam(query reflect.Value, without string, do func(name string, f *reflect.StructField, v reflect.Value, known bool)) {
	for i := range query.NumField() {
		f := query.Type().Field(i)
		if f.Anonymous {
			eachParam(query.Field(i), f.Tag.Get("without"), do)
		} else if name, _, _ := strings.Cut(f.Tag.Get("query"), ","); name != "" {
			do(name, &f, query.Field(i), !slices.Contains(strings.Split(without, ","), name))
		}
	}
}

func paramOf(f *reflect.StructField, v reflect.Value) Param {
	name, option, _ := strings.Cut(f.Tag.Get("query"), ",")
	p := Param{Name: name, Optional: option == "optional", Type: f.Type, Default: f.Tag.Get("default"), Bounds: [2]int64{-1 << 63, 1<<63 - 1}}
	if p.Type.Kind() == reflect.Pointer {
		p.Type = p.Type.Elem()
	}
	good := true
	number := func(text string, at *int64) {
		if n, err := strconv.ParseInt(text, 10, 64); text != "" {
			*at, good = n, good && err == nil
		}
	}
	switch of := v.Interface().(type) {
	case leaderboard.Window:
		p.Words = Texts(leaderboard.Windows())
	case leaderboard.AuditAction:
		p.Words = Texts(leaderboard.AuditActions())
	case time.Duration:
		p.Most, _ = time.ParseDuration(f.Tag.Get("most"))
		good = p.Most > of
	case int, int64, *int, *int64:
		least, most, _ := strings.Cut(f.Tag.Get("range"), ",")
		number(least, &p.Bounds[0])
		number(most, &p.Bounds[1])
		number(p.Default, &p.Number)
		good = good && p.Bounds[0] <= p.Number && p.Number <= p.Bounds[1]
	}
	if words := f.Tag.Get("words"); words != "" {
		p.Words = strings.Split(words, ",")
	}
	if !good || option != "" && !p.Optional || p.Words != nil && p.Default != "" && !slices.Contains(p.Words, p.Default) {
		panic(fmt.Sprintf("api: a tag of the parameter %s contradicts another or says nothing: %s", name, f.Tag))
	}
	return p
}

// Texts returns words as texts.
func Texts[T ~string](words []T) []string {
	out := make([]string, len(words))
	for i := range words {
		out[i] = string(words[i])
	}
	return out
}

// Values returns the parameters of a query or of a pointer to one, without the zero values of its members; nil for none.
func Values(query any) url.Values {
	if query == nil {
		return nil
	}
	out := url.Values{}
	eachParam(reflect.Indirect(reflect.ValueOf(query)), "", func(name string, _ *reflect.StructField, v reflect.Value, _ bool) {
		if text := textOf(v); text != "" {
			out.Set(name, text)
		}
	})
	return out
}

// textOf returns a value as an address has it, "" for the zero value.
func textOf(v reflect.Value) string {
	if v.IsZero() {
		return ""
	}
	if v.Kind() == reflect.Pointer { // a zero is given
		v = v.Elem()
	}
	switch of := v.Interface().(type) {
	case fmt.Stringer:
		return of.String()
	case []string:
		return strings.Join(of, ",")
	case map[string]int64:
		pairs := make([]string, 0, len(of))
		for _, name := range slices.Sorted(maps.Keys(of)) {
			pairs = append(pairs, name+":"+strconv.FormatInt(of[name], 10))
		}
		return strings.Join(pairs, ",")
	default:
		return fmt.Sprint(of)
	}
}

// Package settings reads the settings of a server from the tags of the structs that hold them. Each setting stands once, as a
// member of the struct of the package that uses it. Its flag, its variable, its key in a file, its help and its line in
// docs/settings.md are made from these tags:
//
//	setting  the name
//	doc      its description, in a sentence
//	value    the words of doc that stand for the value in help, as in --listen host:port
//	default  the default, as typed; without the tag the default is the struct's value, which help does not show
//	section  of the document and of help, for this member and the members after it
//	main     anything: help shows it first, with the few that matter most
//	words    the values that a text may have, separated by commas
//	range    the least and the greatest number, as in "1,100", or the least duration, as in "1m"
//	bytes    the greatest length of each text of a list
//	command  the only command that has it, unless another command names it
//	hidden   anything: no help shows it
//	old      it ends with the next release; the setting that replaces it, "" for none. It is hidden, and needs no doc
//
// A setting with a special form is read by a function of Parsers. Its member may then be a blank one, for the tags alone.
package settings

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Field is a setting.
type Field struct {
	Name, Doc, Default, Section, Command, Instead string

	Words       []string
	Main        bool
	Hidden, Old bool
	Value       any                     // points to the member; nil: the setting has a special form
	Set         func(text string) error // reads a value that is not empty
}

// Parsers is implemented by a struct that has settings with a special form.
type Parsers interface {
	// Parsers returns the functions that read these settings into the struct, by the settings' names.
	Parsers() map[string]func(text string) error
}

// Into returns a parser that puts the result of parse into *at.
func Into[T any](at *T, parse func(string) (T, error)) func(string) error {
	return func(text string) error {
		value, err := parse(text)
		if err == nil {
			*at = value
		}
		return err
	}
}

// Text takes every text.
func Text(v string) (string, error) { return v, nil }

// Of returns the settings of the structs to which holders point: section by section, and in a section in the order of the structs;
// old settings come last. It panics for a tag that contradicts another one or names nothing.
func Of(sections []string, holders ...any) []Field {
	var fields []Field
	for _, holder := range holders {
		fields = append(fields, fieldsOf(holder)...)
	}
	at := map[string]int{}
	for i := range fields {
		f := &fields[i]
		if _, twice := at[f.Name]; twice {
			panic("the setting " + f.Name + " is there twice")
		}
		at[f.Name] = slices.Index(sections, f.Section)
		if f.Old {
			at[f.Name] = len(sections)
		} else if at[f.Name] < 0 {
			panic("the section of " + f.Name + " is none of those that there are: " + f.Section)
		}
	}
	for i := range fields {
		if by := fields[i].Instead; by != "" {
			if _, ok := at[by]; !ok {
				panic(by + " takes the place of " + fields[i].Name + " and is no setting")
			}
		}
	}
	slices.SortStableFunc(fields, func(a, b Field) int { return cmp.Compare(at[a.Name], at[b.Name]) })
	return fields
}

// Reset gives settings their defaults.
func Reset(fields []Field) {
	for i := range fields {
		if f := &fields[i]; f.Default != "" {
			if err := f.Set(f.Default); err != nil {
				panic("the default of " + f.Name + ": " + err.Error())
			}
		}
	}
}

// fieldsOf reads the tags of one struct.
func fieldsOf(holder any) (fields []Field) {
	own := map[string]func(string) error{}
	if h, ok := holder.(Parsers); ok {
		own = h.Parsers()
	}
	v, section := reflect.ValueOf(holder).Elem(), ""
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		section = cmp.Or(tag.Get("section"), section)
		if name := tag.Get("setting"); name != "" {
			f := fieldOf(name, tag)
			f.Section = section
			if f.Set = own[name]; f.Set == nil {
				f.Value = v.Field(i).Addr().Interface()
				f.Set = f.parser(tag)
			}
			delete(own, name)
			fields = append(fields, f)
		}
	}
	for name := range own {
		panic("there is a parser and no member for the setting " + name)
	}
	return fields
}

// fieldOf reads the tags that describe a setting to people.
func fieldOf(name string, tag reflect.StructTag) Field {
	f := Field{Name: name, Doc: tag.Get("doc"), Default: tag.Get("default"), Command: tag.Get("command"), Main: tag.Get("main") != "", Hidden: tag.Get("hidden") != ""}
	if f.Instead, f.Old = tag.Lookup("old"); f.Old {
		f.Hidden = true
	} else if f.Doc == "" {
		panic("nothing says what the setting " + name + " is")
	}
	if value := tag.Get("value"); value != "" {
		if !strings.Contains(f.Doc, value) {
			panic("the value of " + name + " is not in its doc: " + value)
		}
		f.Doc = strings.Replace(f.Doc, value, "`"+value+"`", 1)
	}
	return f
}

// parser returns a function that reads a setting by the type of its member.
func (f *Field) parser(tag reflect.StructTag) func(string) error {
	least, most, _ := strings.Cut(tag.Get("range"), ",")
	switch at := f.Value.(type) {
	case *bool:
		return Into(at, Switch)
	case *string:
		if words := tag.Get("words"); words != "" {
			f.Words = strings.Split(words, ",")
			return Into(at, OneOf(f.Words))
		}
		return Into(at, Text)
	case *[]string:
		return Into(at, list(number(f.Name, tag.Get("bytes"))))
	case *time.Duration:
		if most != "" {
			panic("the range of " + f.Name + ": a duration has no greatest")
		}
		bound, err := time.ParseDuration(least)
		if err != nil {
			panic("the range of " + f.Name + ": " + err.Error())
		}
		return Into(at, Duration(bound))
	case *int:
		from, to := number(f.Name, least), number(f.Name, most)
		if from > to {
			panic("the range of " + f.Name + " is turned round")
		}
		return Into(at, Whole(from, to))
	default:
		panic(fmt.Sprintf("the setting %s is a %T, which needs a parser of its own", f.Name, f.Value))
	}
}

func number(name, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("a number of " + name + ": " + err.Error())
	}
	return n
}

package settings

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// holder has settings of each type.
type holder struct {
	Address string        `setting:"listen" section:"Serving" value:"host:port" default:":1" doc:"host:port to serve on"`
	Form    string        `setting:"log" default:"text" words:"text,json" doc:"form of the log"`
	On      bool          `setting:"on" doc:"whether"`
	Roles   []string      `setting:"roles" default:"a, b" bytes:"3" doc:"who"`
	Wait    time.Duration `setting:"wait" default:"1h" range:"1m" doc:"how long"`
	Most    int           `setting:"most" default:"1e2" range:"16,100" doc:"how many"`
	Old     int           `setting:"old" range:"0,9" old:"most"`
	Memory  int64         `setting:"memory" section:"Reading" doc:"how much"`
}

func (h *holder) Parsers() map[string]func(string) error {
	return map[string]func(string) error{"memory": Into(&h.Memory, func(v string) (int64, error) { return int64(len(v)), nil })}
}

// TestOf: settings come section by section, old ones last, and get their defaults and the given values.
func TestOf(t *testing.T) {
	var h holder
	fields := Of([]string{"Reading", "Serving"}, &h)
	Reset(fields)
	want := holder{Address: ":1", Form: "text", Roles: []string{"a", "b"}, Wait: time.Hour, Most: 100}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("the defaults are %+v, want %+v", h, want)
	}
	var names []string
	for i := range fields {
		names = append(names, fields[i].Name)
	}
	if got := strings.Join(names, " "); got != "memory listen log on roles wait most old" {
		t.Errorf("the order is %s", got)
	}
	if f := &fields[1]; f.Doc != "`host:port` to serve on" || f.Section != "Serving" || f.Hidden || !fields[7].Hidden || fields[7].Instead != "most" {
		t.Errorf("read as %+v and %+v", f, fields[7])
	}
	for name, c := range map[string]struct{ good, bad string }{
		"log": {"json", "xml"}, "on": {"true", "maybe"}, "roles": {"c", "long"}, "wait": {"2m", "59s"}, "most": {"16", "101"}, "old": {"+7", "-1"}, "memory": {"12", ""},
	} {
		for i := range fields {
			if f := &fields[i]; f.Name == name {
				if err := f.Set(c.good); err != nil {
					t.Errorf("%s=%s: %v", name, c.good, err)
				}
				if c.bad != "" && f.Set(c.bad) == nil {
					t.Errorf("%s=%s is taken", name, c.bad)
				}
			}
		}
	}
	want = holder{Address: ":1", Form: "json", On: true, Roles: []string{"c"}, Wait: 2 * time.Minute, Most: 16, Old: 7, Memory: 2}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("the values are %+v, want %+v", h, want)
	}
}

// stranger has a parser without a member.
type stranger struct{}

func (*stranger) Parsers() map[string]func(string) error {
	return map[string]func(string) error{"listen": func(string) error { return nil }}
}

// TestBadTags: a tag that contradicts another one, or says nothing, ends the program at its start.
func TestBadTags(t *testing.T) {
	for want, bad := range map[string]any{
		"a is there twice": &struct {
			A string `setting:"a" section:"S" doc:"a"`
			B string `setting:"a" doc:"b"`
		}{},
		"the section of a is none": &struct {
			A string `setting:"a" section:"T" doc:"a"`
		}{},
		"nothing says what the setting a is": &struct {
			A string `setting:"a" section:"S"`
		}{},
		"the value of a is not in its doc": &struct {
			A string `setting:"a" section:"S" value:"file" doc:"a"`
		}{},
		"the default of a: want x or y": &struct {
			A string `setting:"a" section:"S" default:"z" words:"x,y" doc:"a"`
		}{},
		"the default of a: want a whole number": &struct {
			A int `setting:"a" section:"S" default:"10" range:"1,9" doc:"a"`
		}{},
		"the default of a: want a duration": &struct {
			A time.Duration `setting:"a" section:"S" default:"soon" range:"1s" doc:"a"`
		}{},
		"the range of a is turned round": &struct {
			A int `setting:"a" section:"S" range:"9,1" doc:"a"`
		}{},
		"a number of a": &struct {
			A int `setting:"a" section:"S" doc:"a"`
		}{},
		"the range of a: time": &struct {
			A time.Duration `setting:"a" section:"S" range:"1" doc:"a"`
		}{},
		"the range of a: a duration has no greatest": &struct {
			A time.Duration `setting:"a" section:"S" range:"1s,1m" doc:"a"`
		}{},
		"needs a parser of its own": &struct {
			A int64 `setting:"a" section:"S" doc:"a"`
		}{},
		"b takes the place of a and is no setting": &struct {
			A string `setting:"a" old:"b"`
		}{},
		"no member for the setting listen": &stranger{},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("it says %q", got)
				}
			}()
			Reset(Of([]string{"S"}, bad))
		})
	}
}

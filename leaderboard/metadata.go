package leaderboard

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Metadata is the rule by which submissions to a board may have metadata, which their entries keep; nil: no metadata.
type Metadata struct {
	MaxBytes int `json:"max_bytes" flag:"metadata-max-bytes" label:"Bytes of metadata" range:"1,4096" doc:"How long the metadata of one entry may be, as JSON without spaces; without the rule it has none."`
}

// MaxMetadata is the greatest Metadata.MaxBytes.
const MaxMetadata = 4096

// check reports the faults of the rule.
func (m *Metadata) check(fail failFunc, derived bool) {
	if m == nil {
		return
	}
	if derived {
		fail("/metadata", "the entries of a derived board have none; give the rule to its sources")
	}
}

// CompactMetadata returns a JSON object without the spaces between its parts, in the form that is stored and counted.
// ok is false when it is not a JSON object. The caller checks that it is UTF-8 and has no name twice.
func CompactMetadata(object []byte) (out string, ok bool) {
	var b bytes.Buffer
	if err := json.Compact(&b, object); err != nil || b.Len() == 0 || b.Bytes()[0] != '{' {
		return "", false
	}
	return b.String(), true
}

// accept returns a RuleError when a submission may not have this metadata.
func (m *Metadata) accept(metadata string) error {
	switch {
	case metadata == "":
		return nil
	case m == nil:
		return invalidMetadata("the entries of the board have none: it has no rule metadata")
	case len(metadata) > m.MaxBytes:
		return invalidMetadata("it has at most %d bytes of JSON without spaces on the board, this has %d", m.MaxBytes, len(metadata))
	case metadata[0] != '{':
		return invalidMetadata("want a JSON object")
	}
	return nil
}

func invalidMetadata(format string, args ...any) *RuleError {
	return &RuleError{Code: CodeInvalidMetadata, Detail: fmt.Sprintf(format, args...)}
}

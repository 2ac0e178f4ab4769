package wire

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/leaderboard"
)

// documents are the options of documents: times as leaderboard.Micros writes them, null for a slice that is nil, and the members of
// maps in the order of their names.
var documents = json.JoinOptions(
	json.Deterministic(true), json.FormatNilSliceAsNull(true),
	json.WithMarshalers(json.MarshalToFunc(func(to *jsontext.Encoder, t time.Time) error {
		return to.WriteToken(jsontext.String(leaderboard.MicrosOf(t).String()))
	})),
)

// Marshal returns a document of package api as answers carry it.
func Marshal(document any, more ...json.Options) ([]byte, error) {
	return json.Marshal(document, documents, json.JoinOptions(more...))
}

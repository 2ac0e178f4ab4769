package api

import (
	"encoding/json"
	"time"

	"leaderboard/leaderboard"
)

// EndpointState is the state of an endpoint: only an enabled one is sent events.
type EndpointState string

// The states of an endpoint.
const (
	EndpointStateOn  EndpointState = "on"
	EndpointStateOff EndpointState = "off" // an admin turned it off
	// EndpointStateGone: it answered 410 and was turned off.
	EndpointStateGone EndpointState = "gone"
)

// Endpoint is where events are sent.
type Endpoint struct {
	Name         string                  `json:"name"`
	URL          string                  `json:"url"`
	Kinds        []leaderboard.EventKind `json:"kinds"`  // of the events that it gets; nil: all
	Boards       []string                `json:"boards"` // names and prefixes such as "game1-*"; nil: all boards
	Enabled      bool                    `json:"enabled"`
	AllowPrivate bool                    `json:"allow_private"`
	State        EndpointState           `json:"state"`

	Waiting             int64      `json:"waiting"`           // deliveries, counted up to 100,000
	OldestWaitingAt     *time.Time `json:"oldest_waiting_at"` // the time of the oldest event that waits
	LastError           *string    `json:"last_error"`        // of the last attempt to deliver that event
	CreatedTime         *time.Time `json:"created_time"`
	UpdatedTime         *time.Time `json:"updated_time"`
	PreviousSecretUntil *time.Time `json:"previous_secret_until"` // until then the secret before the last rotation signs too
}

// NewEndpoint is an endpoint with its secret, which no other answer shows.
type NewEndpoint struct {
	Endpoint
	Secret string `json:"secret,omitzero"` // whsec_…; "": the endpoint was there
}

// EndpointRequest describes an endpoint.
type EndpointRequest struct {
	URL          string                  `json:"url"`
	Kinds        []leaderboard.EventKind `json:"kinds,omitempty"`  // empty: all
	Boards       []string                `json:"boards,omitempty"` // empty: all boards
	Enabled      *bool                   `json:"enabled,omitzero"` // nil: it is
	AllowPrivate bool                    `json:"allow_private,omitzero"`
}

// EndpointTest is the result of a test of an endpoint.
type EndpointTest struct {
	Delivered bool    `json:"delivered"`
	Status    *int    `json:"status"` // nil: there was no answer
	Error     *string `json:"error"`
	Took      string  `json:"took"` // Go duration
}

// Replayed has the number of events that an endpoint is sent again.
type Replayed struct {
	Events int `json:"events"`
}

// DeliveryState is the progress of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryStateWaiting   DeliveryState = "waiting" // for its first attempt, or for the next one
	DeliveryStateDelivered DeliveryState = "delivered"
	DeliveryStateFailed    DeliveryState = "failed" // no more attempts will be made
)

// Delivery is an event on its way to an endpoint.
type Delivery struct {
	ID            string                `json:"id"` // of the event
	Kind          leaderboard.EventKind `json:"kind"`
	Time          time.Time             `json:"time"` // of the event
	State         DeliveryState         `json:"state"`
	Attempts      int                   `json:"attempts"`
	LastAttemptAt *time.Time            `json:"last_attempt_at"`
	NextAttemptAt *time.Time            `json:"next_attempt_at"`
	Status        *int                  `json:"status"` // of the last answer
	Error         *string               `json:"error"`
	Payload       json.RawMessage       `json:"payload"` // the body of the request
}

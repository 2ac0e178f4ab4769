// Package telemetry records the spans of package trace with OpenTelemetry and sends them to a collector by OTLP, as
// OpenTelemetry's own environment variables say. No other part of the program knows OpenTelemetry.
//
// Spans wait in a queue of bounded length and are sent by one goroutine: a collector that is slow or away costs spans,
// never time. They go by HTTP as protobuf; gRPC would bring in sixty packages more, and every collector takes HTTP.
package telemetry

package httpapi

import (
	"net/http"
	"time"
)

// readTimeout is for the head of a request and for all of it. With one time for both the connection's deadline is set
// once less for each request, which is dear.
const readTimeout = 15 * time.Second

// Server is an http.Server for handler whose limits keep slow and greedy clients from holding it up. The caller
// serves and shuts down. Routes that may take longer extend the deadlines for themselves.
func Server(addr string, handler http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           handler,
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
}

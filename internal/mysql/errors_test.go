package mysql

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"

	gomysql "github.com/go-sql-driver/mysql"

	"leaderboard/leaderboard"
)

// TestTranslate names every error that the driver, database/sql and the network return, with its meaning (promise D6).
func TestTranslate(t *testing.T) {
	t.Parallel()
	unavailable, overloaded := error(leaderboard.ErrUnavailable), error(leaderboard.ErrOverloaded)
	for name, c := range map[string]struct{ err, want error }{
		// Errors of the driver.
		"bad connection":            {driver.ErrBadConn, ErrAway},
		"invalid connection":        {gomysql.ErrInvalidConn, ErrAway},
		"malformed packet":          {gomysql.ErrMalformPkt, ErrAway},
		"out of sync":               {gomysql.ErrPktSync, ErrAway},
		"out of sync, large packet": {gomysql.ErrPktSyncMul, ErrAway},
		"words nobody asked for":    {gomysql.ErrBusyBuffer, ErrAway}, // the server said why it ends the session
		"packet half written":       {io.ErrShortWrite, ErrAway},
		"too large for the server":  {gomysql.ErrPktTooLarge, unavailable},
		"no session":                {fmt.Errorf("%w: unsupported protocol version 9", errNoSession), ErrAway},
		"no TLS there":              {gomysql.ErrNoTLS, unavailable},
		"password in clear text":    {gomysql.ErrCleartextPassword, unavailable},
		"password as of MySQL 4.1":  {gomysql.ErrNativePassword, unavailable},
		"password as of MySQL 4.0":  {gomysql.ErrOldPassword, unavailable},
		"another plugin":            {gomysql.ErrUnknownPlugin, unavailable},
		"another protocol":          {gomysql.ErrOldProtocol, unavailable},
		"another certificate":       {&tls.CertificateVerificationError{Err: errors.New("unknown authority")}, unavailable},
		// Errors of database/sql.
		"connection given back": {sql.ErrConnDone, ErrAway},
		"transaction ended":     {sql.ErrTxDone, ErrAway}, // its own limit ended it
		"no row":                {sql.ErrNoRows, nil},
		// Errors of the network and of contexts.
		"end of file":             {io.EOF, ErrAway},
		"end within a packet":     {io.ErrUnexpectedEOF, ErrAway},
		"refused":                 {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, ErrAway},
		"reset":                   {syscall.ECONNRESET, ErrAway},
		"broken pipe":             {syscall.EPIPE, ErrAway},
		"no such host":            {&net.DNSError{Err: "no such host", IsNotFound: true}, ErrAway},
		"read timeout":            {os.ErrDeadlineExceeded, ErrAway},
		"closed by us":            {net.ErrClosed, ErrAway},
		"own limit":               {context.DeadlineExceeded, ErrAway},
		"cut by us":               {context.Canceled, ErrAway},
		"several reasons at once": {errors.Join(io.ErrShortWrite, errors.New("close")), ErrAway},
		// Errors that have their meaning already, and faults of this program.
		"own meaning": {leaderboard.ErrNotRanked, leaderboard.ErrNotRanked},
		"rule":        {&leaderboard.RuleError{Code: "c"}, nil},
		"syntax":      {&gomysql.MySQLError{Number: 1064}, nil},
		"duplicate":   {&gomysql.MySQLError{Number: 1062}, nil},
	} {
		checkTranslated(t, name, c.err, c.want)
	}
	for _, c := range []struct {
		want    error
		numbers []uint16
	}{
		{overloaded, []uint16{1969, 3024}},                                                        // the limit on a statement
		{unavailable, []uint16{1020, 1205, 1213, 1412, 3101}},                                     // another session was first
		{unavailable, []uint16{1040, 1041, 1135, 1203, 1226, 3168}},                               // too many sessions
		{unavailable, []uint16{1053, 1077, 1079, 1152, 1184, 1317, 1927, 3169, 4031}},             // the session ends
		{unavailable, []uint16{1042, 1043, 1129, 1130, 1156, 1157, 1158, 1159, 1160, 1161, 1835}}, // the connection
		{unavailable, []uint16{2002, 2003, 2005, 2006, 2013, 2026, 2055, 9001}},                   // a proxy, of the server behind it
		{unavailable, []uint16{1044, 1045, 1049, 1142, 1143, 1146, 1227, 1698, 1820, 1862, 3118}}, // the account, the schema
		{unavailable, []uint16{1036, 1047, 1290, 1792, 1836, 3032, 3100}},                         // takes no writes
		{unavailable, []uint16{3, 5, 1021, 1026, 1028, 1030, 1037, 1038, 1114, 1153, 1180, 1206}}, // disk, memory, bounds
	} {
		for _, number := range c.numbers {
			checkTranslated(t, fmt.Sprint("number ", number), &gomysql.MySQLError{Number: number}, c.want)
		}
	}
	if err := Translate(t.Context(), "test", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Translate(ctx, "test", gomysql.ErrInvalidConn); !errors.Is(err, context.Canceled) || isSentinel(err) {
		t.Errorf("the caller went away: %v", err)
	}
}

// checkTranslated translates an error with text around it. want is nil for an error without a meaning.
func checkTranslated(t *testing.T, name string, err, want error) {
	t.Helper()
	got := Translate(t.Context(), "test", fmt.Errorf("exec: %w", err))
	if !errors.Is(got, err) {
		t.Errorf("%s: %v has lost its cause", name, got)
	}
	if want != nil && !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
	if want == nil && isSentinel(got) {
		t.Errorf("%s: %v, want no sentinel", name, got)
	}
}

// TestNoSession: for any answer of a server, or of a program in its place, to a new connection, the error is that no
// session began, and not a fault of the program (promise D6).
func TestNoSession(t *testing.T) {
	t.Parallel()
	for name, greeting := range map[string]string{
		"nothing":          "",
		"another protocol": "\x01\x00\x00\x00\x09",
		"another service":  "HTTP/1.1 400 Bad Request\r\n\r\n",
		"out of order":     "\x01\x00\x00\x07\x0a",
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var served sync.WaitGroup
		served.Go(func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, greeting)
				_ = c.Close()
			}
		})
		pool, err := Connect(Config{DSN: "u:p@tcp(" + listener.Addr().String() + ")/d", MaxConns: 1, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if err := Translate(t.Context(), "ping", pool.PingContext(t.Context())); !errors.Is(err, ErrAway) {
			t.Errorf("%s: %v, want %v", name, err, ErrAway)
		}
		if err := errors.Join(pool.Close(), listener.Close()); err != nil {
			t.Error(err)
		}
		served.Wait()
	}
}

// TestCommitOutcome: only certain failures may be called not committed (promise D6).
func TestCommitOutcome(t *testing.T) {
	t.Parallel()
	server := func(number uint16) error { return &gomysql.MySQLError{Number: number} }
	for name, c := range map[string]struct {
		err     error
		unknown bool
	}{
		"committed":                  {nil, false},
		"nothing was sent":           {driver.ErrBadConn, false},
		"over before":                {sql.ErrTxDone, false},
		"rolled back by deadlock":    {server(1213), false},
		"rolled back by certificate": {server(3101), false},
		"read-only":                  {server(1836), false},
		"not in step":                {server(1047), false},
		"answer lost":                {gomysql.ErrInvalidConn, true},
		"timeout":                    {context.DeadlineExceeded, true},
		"killed":                     {server(1317), true},
		"shutdown":                   {server(1053), true},
		"error during commit":        {server(1180), true},
		"the group is out of reach":  {server(3100), true},
		"wait for a lock":            {server(1205), true},
		"whatever":                   {errors.New("?"), true},
	} {
		err := commitOutcome(c.err)
		if c.unknown && Retryable(err) {
			t.Errorf("%s: it is tried again, and may have been done", name)
		}
		if errors.Is(err, leaderboard.ErrOutcomeUnknown) != c.unknown {
			t.Errorf("%s: %v", name, err)
		}
		if (err == nil) != (c.err == nil) {
			t.Errorf("%s: %v became %v", name, c.err, err)
		}
	}
}

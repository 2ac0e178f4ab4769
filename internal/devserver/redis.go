package devserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

type redisService struct{}

func (redisService) prepare(_ context.Context, _ program, _ cache, dir string) error {
	return os.Mkdir(dir, 0o755)
}

func (redisService) args(_ program, cfg Config, dir string, port int) []string {
	args := []string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no",
	}
	if cfg.Databases > 0 {
		args = append(args, "--databases", strconv.Itoa(cfg.Databases))
	}
	return slices.Concat(cfg.redisArgs, args)
}

func (redisService) ready(ctx context.Context, addr, _ string, pid int) error {
	info, err := redisInfo(ctx, addr, nil)
	if err != nil {
		return err
	}
	if !strings.Contains(info, "process_id:"+strconv.Itoa(pid)+"\r") {
		return errForeign
	}
	return nil
}

// redisInfo asks the Redis at addr for INFO server, after authenticating as
// user when it is not nil.
func redisInfo(ctx context.Context, addr string, user *url.Userinfo) (string, error) {
	return redisAsk(ctx, addr, user, "INFO", "server")
}

// redisAsk asks the Redis at addr one thing, which it answers with a text, a word or a number. It is a client of one
// command, so that this package needs no other.
func redisAsk(ctx context.Context, addr string, user *url.Userinfo, words ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return "", err
	}
	r := bufio.NewReader(conn)
	if password, ok := user.Password(); ok {
		auth := []string{"AUTH", user.Username(), password}
		if user.Username() == "" {
			auth = []string{"AUTH", password}
		}
		if _, err := redisCall(conn, r, auth...); err != nil {
			return "", err
		}
	}
	line, err := redisCall(conn, r, words...)
	if err != nil {
		return "", err
	}
	size, long := strings.CutPrefix(line, "$")
	if !long {
		return strings.TrimLeft(line, "+:"), nil
	}
	n, err := strconv.Atoi(size)
	if err != nil || n < 0 || n > 1<<20 {
		return "", fmt.Errorf("not an answer of Redis: %q", line)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return "", err
	}
	return string(body), nil
}

// redisCall sends one command and returns the first line of the answer.
func redisCall(conn net.Conn, r *bufio.Reader, words ...string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := conn.Write([]byte(b.String())); err != nil {
		return "", err
	}
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "-") {
		return "", fmt.Errorf("redis says %s", line[1:])
	}
	return line, nil
}

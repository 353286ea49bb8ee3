package realserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"time"
)

// findRedis returns the server's program.
func findRedis() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if program, err := exec.LookPath(name); err == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("redis-server is %w", ErrMissing)
}

// redis starts a Redis that writes nothing to a disk: a primary, or a replica of one, which then
// has all that the primary has. It asks for the secret, which it reads as its configuration.
func (g *group) redis(ctx context.Context, primary, secret string) (address, about string, err error) {
	program, err := findRedis()
	if err != nil {
		return "", "", err
	}
	dir, err := g.directory()
	if err != nil {
		return "", "", err
	}
	args := []string{"-", "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no", "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"}
	if primary != "" {
		host, port, err := net.SplitHostPort(primary)
		if err != nil {
			return "", "", err
		}
		args = append(args, "--replicaof", host, port)
	}
	port, err := onFreePort(func(port string) error {
		return g.run(ctx, func(ctx context.Context) error {
			info, err := info(ctx, net.JoinHostPort("127.0.0.1", port), secret)
			if err != nil {
				return err
			}
			if primary != "" && !strings.Contains(info, "master_link_status:up") {
				return errors.New("it has not caught up")
			}
			_, after, _ := strings.Cut(info, "redis_version:")
			version, _, _ := strings.Cut(after, "\r\n")
			about = "Redis " + version + " of its own"
			return nil
		}, dir, "requirepass "+secret+"\nmasterauth "+secret+"\n", program, append(args, "--port", port)...)
	})
	return net.JoinHostPort("127.0.0.1", port), about, err
}

// info asks a Redis what it is.
func info(ctx context.Context, address, secret string) (string, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, "AUTH "+secret+"\r\nINFO\r\n"); err != nil {
		return "", err
	}
	r := bufio.NewReader(c)
	said, err := r.ReadString('\n')
	if err == nil && said != "+OK\r\n" {
		err = errors.New(strings.TrimSpace(said))
	}
	if err != nil {
		return "", err
	}
	head, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	size := 0
	if _, err := fmt.Sscanf(head, "$%d", &size); err != nil {
		return "", errors.New(strings.TrimSpace(head)) // it loads
	}
	text := make([]byte, size)
	_, err = io.ReadFull(r, text)
	return string(text), err
}

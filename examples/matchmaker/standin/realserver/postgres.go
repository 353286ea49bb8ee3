package realserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
)

// findPostgres returns the directory of PostgreSQL's programs. Debian, for one, has them on no
// path.
func findPostgres() (dir string, err error) {
	program, err := exec.LookPath("postgres")
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		program, err = newest("/usr/lib/postgresql/*/bin/postgres", "/usr/pgsql-*/bin/postgres", "/opt/homebrew/opt/postgresql*/bin/postgres")
	}
	dir = filepath.Dir(program)
	if err == nil {
		_, err = exec.LookPath(filepath.Join(dir, "initdb"))
	}
	if err != nil {
		return "", fmt.Errorf("postgres, with initdb beside it, is %w", ErrMissing)
	}
	return dir, nil
}

// postgres starts a PostgreSQL on a cluster of its own. It is a stock one, but that it does not
// care for what a power cut would leave. It asks for a password: its superuser may run programs.
// (By md5, for the password is random and lives as long as the cluster: the thousands of hashes of
// SCRAM, which are for those that people choose, would be most of what a new connection costs.)
func (g *group) postgres(ctx context.Context) (dsn, about string, err error) {
	programs, err := findPostgres()
	if err != nil {
		return "", "", err
	}
	dir, err := g.directory()
	if err != nil {
		return "", "", err
	}
	data := filepath.Join(dir, "data")
	secret, file := newSecret(), filepath.Join(dir, "secret")
	if err := g.write(file, secret); err != nil {
		return "", "", err
	}
	made := g.command(ctx, dir, filepath.Join(programs, "initdb"), "-D", data, "-U", "postgres", "-A", "md5", "--pwfile="+file, "-E", "UTF8", "--locale=C", "--no-sync")
	if said, err := made.CombinedOutput(); err != nil {
		return "", "", errors.Join(err, errors.New(tail(said)))
	}
	if err := os.Remove(file); err != nil {
		return "", "", err
	}
	version := ""
	at := func(port string) string {
		return "postgres://postgres:" + secret + "@127.0.0.1:" + port + "/postgres?sslmode=disable"
	}
	port, err := onFreePort(func(port string) error {
		return g.run(ctx, func(ctx context.Context) error {
			c, err := pgx.Connect(ctx, at(port))
			if err != nil {
				return err
			}
			version, _, _ = strings.Cut(c.PgConn().ParameterStatus("server_version"), " ")
			return c.Close(ctx)
		}, dir, "", filepath.Join(programs, "postgres"), "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+dir,
			"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	})
	return at(port), "PostgreSQL " + version + " of its own, fsync off", err
}

package realserver

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) {
	RunMonitor() // this program is what is started for the servers
	panics()
	os.Exit(m.Run())
}

// start starts servers, or skips the test where there are none, and with -short.
func start(t *testing.T, spec Spec) *Servers {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	s, err := Start(spec)
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// gone waits until nothing listens at an address, which a server that is left would do forever.
func gone(t *testing.T, redis, secret string) {
	t.Helper()
	for {
		if _, err := info(t.Context(), redis, secret); err != nil {
			return
		}
	}
}

// addresses are those of all Redis servers.
func addresses(regions string) (all []string) {
	for region := range strings.SplitSeq(regions, ",") {
		_, nodes, _ := strings.Cut(region, "=")
		all = append(all, strings.Split(nodes, "+")...)
	}
	return all
}

func TestPostgres(t *testing.T) {
	s := start(t, Spec{Postgres: true})
	c, err := pgx.Connect(t.Context(), s.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	var fsync, dir, most string
	if err := c.QueryRow(t.Context(), `SELECT current_setting('fsync'), current_setting('data_directory'), current_setting('max_connections')`).Scan(&fsync, &dir, &most); err != nil {
		t.Fatal(err)
	}
	if fsync != "off" || most != "100" || !strings.Contains(s.AboutPostgres, "of its own, fsync off") {
		t.Errorf("fsync %s, %s connections, %q", fsync, most, s.AboutPostgres)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil { // a client is connected
		t.Error(err)
	}
	if err := c.Ping(t.Context()); err == nil {
		t.Error("the server is left")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its files are left: %v", err)
	}
}

func TestRedis(t *testing.T) {
	s := start(t, Spec{Regions: []string{"a", "b"}, Replicas: 1})
	all := addresses(s.Redis)
	if len(all) != 4 || !strings.HasPrefix(s.Redis, "a=127.0.0.1:") || !strings.Contains(s.Redis, ",b=127.0.0.1:") {
		t.Fatalf("%s", s.Redis)
	}
	for i, role := range []string{"role:master", "role:slave", "role:master", "role:slave"} {
		if text, err := info(t.Context(), all[i], s.RedisSecret); err != nil || !strings.Contains(text, role) {
			t.Errorf("%s is no %s: %v", all[i], role, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, address := range all {
		gone(t, address, s.RedisSecret)
	}
}

// asPanicking is set in the environment of a test's program that starts servers and panics, or is
// killed.
const asPanicking = "MATCHMAKER_TEST_PANIC"

func panics() {
	how := os.Getenv(asPanicking)
	if how == "" {
		return
	}
	s, err := Start(Spec{Regions: []string{"a"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Redis, s.RedisSecret)
	fmt.Println(s.monitor.PID())
	if how == "panic" {
		panic("as the test wants it")
	}
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// Nothing is left running, however the program ends.
func TestNothingIsLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	if err := Installed(Spec{Regions: []string{"a"}}); err != nil {
		t.Skip(err)
	}
	for _, how := range []string{"panic", "kill", "kill the monitor"} {
		t.Run(how, func(t *testing.T) {
			if l, _ := launcher(); how == "kill the monitor" && l == nil {
				t.Skip("nothing here kills a process with its parent")
			}
			dir, err := os.MkdirTemp("", "matchmaker-test-") // t.TempDir is closed to other users
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), asPanicking+"="+how, "TMPDIR="+dir)
			in, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			out, err := c.StdoutPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			var regions, secret string
			var pid int
			if _, err := fmt.Fscan(out, &regions, &secret, &pid); err != nil {
				t.Fatal(err)
			}
			switch how {
			case "kill":
				c.Process.Kill()
			case "kill the monitor":
				m, err := os.FindProcess(pid)
				if err == nil {
					err = m.Kill()
				}
				if err != nil {
					t.Error(err)
				}
			}
			gone(t, addresses(regions)[0], secret)
			in.Close()
			c.Wait()
			if how == "kill the monitor" {
				return // its files are left: nobody is there who would remove them
			}
			for { // the monitor removes them in its own time
				left, err := filepath.Glob(filepath.Join(dir, "*"))
				if err != nil {
					t.Fatal(err)
				}
				if len(left) == 0 {
					return
				}
			}
		})
	}
}

func TestStartNeedsTheMonitor(t *testing.T) {
	defer func(b bool) { canMonitor = b }(canMonitor)
	canMonitor = false
	defer func() {
		if recover() == nil {
			t.Error("a program that is no monitor would start itself again and again")
		}
	}()
	Start(Spec{})
}

// Another user of the machine, who has no password, gets nothing from either server; and the
// passwords are not where everybody reads them.
func TestStrangers(t *testing.T) {
	s := start(t, Spec{Postgres: true, Regions: []string{"a"}, Replicas: 1})
	defer s.Close()
	u, err := url.Parse(s.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := u.User.Password()
	for _, user := range []*url.Userinfo{url.User("postgres"), url.UserPassword("postgres", ""), url.UserPassword("postgres", "postgres")} {
		u.User = user
		c, err := pgx.Connect(t.Context(), u.String())
		if err == nil {
			_, err = c.Exec(t.Context(), "CREATE TEMP TABLE o(t text); COPY o FROM PROGRAM 'id'")
			t.Errorf("%v may run programs: %v", user, err)
			c.Close(t.Context())
		}
	}
	for _, address := range addresses(s.Redis) {
		if text, err := info(t.Context(), address, "guess"); err == nil || text != "" {
			t.Errorf("%s answers a stranger with %.40q, %v", address, text, err)
		}
	}
	if secret == "" || s.RedisSecret == "" {
		t.Fatal("there is no password")
	}
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) == 0 {
		t.Skip("there is no list of processes in /proc")
	}
	for _, file := range all {
		if text, _ := os.ReadFile(file); strings.Contains(string(text), secret) || strings.Contains(string(text), s.RedisSecret) {
			t.Errorf("a password is on a command line: %q", strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
}

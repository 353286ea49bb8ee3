package swarm

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dewpond/dewpond/instruments/load"
)

// asNATS in the environment makes the test binary a NATS that stores in that directory, at the port that
// natsPort has, or any. It prints its URL.
const (
	asNATS   = "DEWLOAD_TEST_NATS"
	natsPort = "DEWLOAD_TEST_PORT"
)

// asTarget in the environment makes the test binary a service at that address. It prints its URL, and a byte for
// each request before the answer: they are there to be counted also when it was killed.
const asTarget = "DEWLOAD_TEST_TARGET"

// serveTarget is the whole of such a process.
func serveTarget(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	return http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { os.Stdout.Write([]byte{'.'}) }))
}

// killSeed in the environment gives the steps at which [TestKills] kills.
const killSeed = "DEWLOAD_TEST_SEED"

// serveNATS is the whole of such a process.
func serveNATS(dir string) error {
	port, err := strconv.Atoi(os.Getenv(natsPort))
	if err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(time.Hour) {
		return errors.New("it is not ready")
	}
	fmt.Println(s.ClientURL())
	s.WaitForShutdown()
	return nil
}

// steps are those of the protocol, and how they are seen.
var steps = []string{"gathering", "placed", "before the start", "running", "after the last arrival"}

// TestKills kills each process at a step of the protocol, and has somebody start it again. Whatever became of
// the run, its counts add up, the next run finds all agents and is exact, and nothing is left.
func TestKills(t *testing.T) {
	startsProcesses(t)
	t.Parallel()
	seed := rand.Uint64()
	if text := os.Getenv(killSeed); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("again by %s=%d", killSeed, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, victim := range []string{"coordinator", "agent", "NATS", "service"} {
		step := random.IntN(len(steps))
		t.Run(victim+" "+steps[step], func(t *testing.T) {
			t.Parallel()
			newScene(t).play(victim, step)
		})
	}
}

// A scene is the processes of one kill.
type scene struct {
	*testing.T
	files    string // of all but NATS
	store    string // of NATS
	nats     *exec.Cmd
	at       meeting
	agents   []*process
	service  *exec.Cmd
	counting sync.WaitGroup // requests of services, until they have ended
	requests atomic.Int64
	plan     Plan
}

func newScene(t *testing.T) *scene {
	s := &scene{T: t, files: t.TempDir(), store: t.TempDir()}
	s.startNATS(strconv.Itoa(server.RANDOM_PORT))
	s.agent()
	s.plan = planOf(s.startService("127.0.0.1:0"), 100, 2*time.Second)
	return s
}

func (s *scene) startService(address string) (url string) {
	c, out := s.start(asTarget + "=" + address)
	url, err := out.ReadString('\n')
	if err != nil {
		s.Fatal(err)
	}
	s.service = c
	s.counting.Go(func() {
		for {
			if _, err := out.ReadByte(); err != nil {
				return
			}
			s.requests.Add(1)
		}
	})
	return strings.TrimSpace(url)
}

// start starts this test binary, and returns its standard output. It ends with the test.
func (s *scene) start(env ...string) (*exec.Cmd, *bufio.Reader) {
	s.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), append(env, "TMPDIR="+s.files)...)
	c.Stderr = os.Stderr
	_, err := c.StdinPipe() // see endWithTest
	out, err2 := c.StdoutPipe()
	if err := errors.Join(err, err2, c.Start()); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	return c, bufio.NewReader(out)
}

func (s *scene) startNATS(port string) {
	c, out := s.start(asNATS+"="+s.store, natsPort+"="+port)
	url, err := out.ReadString('\n')
	if err != nil {
		s.Fatal(err)
	}
	s.nats, s.at = c, meeting{url: strings.TrimSpace(url)}
}

// endService kills it, and has counted then.
func (s *scene) endService() {
	s.service.Process.Kill()
	s.counting.Wait()
	s.service.Wait()
}

func (s *scene) agent() {
	s.Helper()
	c, out := s.start(asAgent+"="+s.at.url, agentGrace+"=3s")
	if line, err := out.ReadString('\n'); !strings.HasPrefix(line, "waits for a run at ") { // it has NATS
		s.Fatalf("%v: an agent says %q", err, line)
	}
	s.agents = append(s.agents, &process{c, s.T})
}

// A coordination is a coordinator's process. What it says comes line by line.
type coordination struct {
	*exec.Cmd
	out *bufio.Reader
	run string
}

// until reads until a line has the text, or all lines, and returns the last one.
func (c *coordination) until(text string) string {
	last := ""
	for {
		line, err := c.out.ReadString('\n')
		if line != "" {
			last = line
		}
		if run, found := strings.CutPrefix(line, "run "); found && c.run == "" {
			c.run, _, _ = strings.Cut(run, ":")
		}
		if err != nil || text != "" && strings.Contains(line, text) {
			return last
		}
	}
}

// play is the whole scene.
func (s *scene) play(victim string, step int) {
	c := &coordination{}
	c.Cmd, c.out = s.start(asCoordinator + "=" + string(encoded(map[string]any{"URL": s.at.url, "Plan": s.plan, "Silence": 5 * time.Second, "Tell": true})))
	n, _ := due(s.T, s.plan)
	c.until("waits for 2 agents")
	if step > 0 {
		s.agent()
		c.until([]string{"", "agent 1 came", "2 agents start", "2 agents start", "2 agents start"}[step])
	}
	for want := []int64{0, 0, 0, n / 4, n}[step]; s.requests.Load() < want; {
		time.Sleep(time.Millisecond)
	}

	switch victim {
	case "coordinator":
		c.Process.Kill()
	case "agent":
		s.agents[0].Process.Kill()
		s.agents[0].Wait()
	case "NATS":
		s.nats.Process.Kill()
		s.nats.Wait()
		s.startNATS(s.at.url[strings.LastIndex(s.at.url, ":")+1:])
	case "service":
		s.endService()
		s.startService(strings.TrimPrefix(s.plan.Name, "http://"))
	}
	if victim == "agent" {
		s.agent()
	}
	if step == 0 {
		s.agent()
	}

	if victim == "coordinator" {
		r, err := Run(s.Context(), s.plan, Options{Resume: c.run, Silence: 5 * time.Second}.at(s.at, 2))
		s.judge(r, err, victim)
	} else {
		kind, text, _ := strings.Cut(c.until(""), " ")
		var r load.Result
		var err error
		switch kind {
		case "result":
			err = json.Unmarshal([]byte(text), &r)
		case "error":
			err = errors.New(strings.TrimSpace(text))
		default:
			s.Fatalf("the coordinator ends with %s %s", kind, text)
		}
		s.judge(r, err, victim)
	}
	c.Process.Kill()
	c.Wait()
	s.next()
	s.leave(c.run)
}

// judge wants the counts of a run to add up, if there are any.
func (s *scene) judge(r load.Result, err error, victim string) {
	s.endService()
	if err != nil {
		s.Logf("there is no result: %v", err)
		return
	}
	n, _ := due(s.T, s.plan)
	had := uint64(s.requests.Load())
	s.Logf("offered %d, finished %d, cut %d, not made %d, the target had %d: %v", r.Offered, r.Finished, r.Cut, r.NotMade, had, r.Why)
	if !r.Interrupted && r.Offered+r.Cut != uint64(n) {
		s.Errorf("%d were offered and %d cut of %d", r.Offered, r.Cut, n)
	}
	if r.Offered != r.Started+r.Dropped+r.NotMade || r.Started != r.Finished+r.Failed || uint64(r.Session.Response.Samples) != r.Finished || r.Failed > 0 && victim != "service" {
		s.Errorf("the counts do not add up: %+v", r)
	}
	reasons := uint64(0)
	for _, n := range r.Errors {
		reasons += n
	}
	if reasons != r.Failed || r.Errors[load.OtherFailed] > 0 { // a session of one request has one
		s.Errorf("%d failed, and the reasons are %v: %v", r.Failed, r.Errors, r.Messages)
	}
	if had < r.Finished || !r.Interrupted && had > r.Finished+r.Failed+r.Cut+r.NotMade {
		s.Errorf("the target had %d requests: %d finished, %d were cut, %d not made", had, r.Finished, r.Cut, r.NotMade)
	}
	if r.NotMade > 0 && (r.Valid || !strings.Contains(strings.Join(r.Why, "; "), "were not made")) {
		s.Errorf("%d were not made, and it is said: %v", r.NotMade, r.Why)
	}
}

// next wants another run to find the agents as they are.
func (s *scene) next() {
	target, requests := counted(s.T)
	p := planOf(target, 100, time.Second)
	r, err := Run(s.Context(), p, Options{}.at(s.at, 2))
	if err != nil {
		s.Fatal(err)
	}
	add(s.T, p, r, requests, 2)
}

// leave ends the agents, and looks at what is left.
func (s *scene) leave(run string) {
	nc, err := connect(s.at.url, "")
	if err != nil {
		s.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		s.Fatal(err)
	}
	for name := range js.StreamNames(context.Background()).Name() {
		if name != streamName(run) {
			s.Errorf("stream %s is left", name)
		}
	}
	sweep(context.Background(), nc, js, time.Now().Add(2*resumeTime))
	for name := range js.StreamNames(context.Background()).Name() {
		s.Errorf("stream %s is left in two days", name)
	}
	for _, a := range s.agents {
		if a.ProcessState == nil {
			a.signal("TERM")
			a.Wait()
		}
	}
	if left, err := filepath.Glob(filepath.Join(s.files, "*")); err != nil || len(left) > 0 {
		s.Errorf("%v: files are left: %v", err, left)
	}
}

package swarm

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestGrace kills the coordinator's process in mid-run. Nobody resumes it within the agents' grace: they
// stop, wait for the next run and take part in it, and what they counted is there for who resumes the
// first one.
func TestGrace(t *testing.T) {
	startsProcesses(t)
	servers(t, func(t *testing.T, s meeting) {
		target, requests := counted(t)
		var said journal
		dead, now := orphans()
		s.agents(t, 2, AgentOptions{Log: said.add, Grace: 30 * time.Minute, now: now})
		run := killedCoordinator(t, s, planOf(target, 100, time.Hour), requests, 150)
		dead.Store(true)
		for said.count("ends early: the coordinator says nothing for 30m0s") < 2 || said.count("waits for the next run") < 2 {
			time.Sleep(time.Millisecond)
		}
		dead.Store(false)
		first := requests.Load()

		next, others := counted(t)
		p := planOf(next, 100, time.Second)
		r, err := Run(t.Context(), p, Options{}.at(s, 2))
		if err != nil {
			t.Fatal(err)
		}
		add(t, p, r, others, 2)

		r, err = Run(t.Context(), Plan{}, Options{Resume: run}.at(s, 2))
		if err != nil {
			t.Fatal(err)
		}
		had := uint64(requests.Load())
		if had != uint64(first) {
			t.Errorf("the first target had %d requests when its agents had ended, and %d later", first, had)
		}
		if r.Finished > had || r.Finished+r.Cut < had || r.Agents[0].Finished+r.Agents[1].Finished != r.Finished || r.Agents[0].LostAt != nil {
			t.Errorf("the target had %d requests: %d finished, %d were cut; agents %+v", had, r.Finished, r.Cut, r.Agents)
		}
	})
}

// TestSweep has streams of runs that are alive, that can be resumed, and that are neither.
func TestSweep(t *testing.T) {
	s, err := Serve() // its own: the others' runs are alive
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	nc, err := connect(s.URL, s.Token)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	stream := func(run string) {
		if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: streamName(run), Subjects: []string{resultSubjects(run)}, Storage: jetstream.MemoryStorage}); err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range []string{"begun", "gathers", "dead"} {
		stream(run)
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "another", Subjects: []string{"another"}, Storage: jetstream.MemoryStorage}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, planSubject("begun"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Subscribe(newsSubject("gathers"), func(m *nats.Msg) { m.Respond(encoded(heed{})) }); err != nil {
		t.Fatal(err)
	}
	left := func(later time.Duration) (names string) {
		sweep(ctx, nc, js, time.Now().Add(later))
		for name := range js.StreamNames(ctx).Name() {
			names += name + " "
		}
		return names
	}
	for _, step := range []struct {
		later time.Duration
		want  string
	}{
		{0, "another dewload_begun dewload_dead dewload_gathers "},
		{2 * time.Hour, "another dewload_begun dewload_gathers "},
		{25 * time.Hour, "another dewload_gathers "},
	} {
		if got := left(step.later); got != step.want {
			t.Errorf("%v later there are %s, want %s", step.later, got, step.want)
		}
	}
}

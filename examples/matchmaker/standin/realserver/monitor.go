package realserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/plain"
)

// RunMonitor is the monitor, and exits, if this process was started for that. It is the first
// thing that main, or TestMain, does.
func RunMonitor() {
	canMonitor = true
	text := os.Getenv(monitored)
	if text == "" {
		return
	}
	// A signal to the whole group is for the parent. It may still need the servers; if not, the
	// pipe ends. (Notify and not Ignore: what a process ignores, its children ignore too.)
	signal.Notify(make(chan os.Signal, 1))
	// What the system kills with its parent, it kills with the thread that has started it.
	runtime.LockOSThread()
	if err := monitor(text, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", plain.Text(err.Error()))
		os.Exit(1)
	}
	os.Exit(0)
}

// monitor runs servers until in ends.
func monitor(text string, in io.Reader, out io.Writer) (err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		io.Copy(io.Discard, in)
	}()
	var spec Spec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return err
	}
	g, err := newGroup()
	if err != nil {
		return json.NewEncoder(out).Encode(answer{Error: err.Error()})
	}
	defer func() {
		if stopErr := g.stop(); err == nil {
			err = stopErr
		}
	}()
	var a answer
	if a.Addresses, err = g.start(ctx, spec); err != nil {
		a = answer{Error: err.Error()}
	}
	if ctx.Err() != nil {
		return nil // nobody waits for it
	}
	if err := json.NewEncoder(out).Encode(a); err != nil || a.Error != "" {
		return err
	}
	<-ctx.Done()
	return nil
}

// start starts all, one after the other, and returns when they answer.
func (g *group) start(ctx context.Context, spec Spec) (a Addresses, err error) {
	if spec.Postgres {
		if a.Postgres, a.AboutPostgres, err = g.postgres(ctx); err != nil {
			return a, fmt.Errorf("PostgreSQL: %w", err)
		}
	}
	var regions []string
	if len(spec.Regions) > 0 {
		a.RedisSecret = newSecret()
	}
	for _, name := range spec.Regions {
		var nodes []string
		for i := range 1 + spec.Replicas {
			primary := ""
			if i > 0 {
				primary = nodes[0]
			}
			node, about, err := g.redis(ctx, primary, a.RedisSecret)
			if err != nil {
				return a, fmt.Errorf("the Redis of region %s: %w", name, err)
			}
			a.AboutRedis = about
			nodes = append(nodes, node)
		}
		regions = append(regions, name+"="+strings.Join(nodes, "+"))
	}
	if a.Redis = strings.Join(regions, ","); spec.Replicas > 0 {
		a.AboutRedis += fmt.Sprintf(", a primary and %d of its replicas a region", spec.Replicas)
	}
	return a, nil
}

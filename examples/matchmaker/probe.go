package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/command"
)

// A probeCommand asks a service whether it is well. An image that has this program alone has nothing else that
// could.
type probeCommand struct {
	URL    string        `arg:"" help:"What to ask, as in http://127.0.0.1:9090/readyz."`
	Within time.Duration `default:"2s" placeholder:"TIME" help:"How long the answer may take (default ${default})."`
}

// Run returns an error unless the answer is 200.
func (c *probeCommand) Run(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, c.Within)
	defer cancel()
	r, err := http.NewRequestWithContext(within, http.MethodGet, c.URL, nil)
	if err != nil {
		return command.UsageError{Err: err}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	says, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s says %s: %s", c.URL, answer.Status, strings.TrimSpace(string(says)))
	}
	return err
}

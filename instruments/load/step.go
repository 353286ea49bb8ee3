package load

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A Step is a part of a session, with a name in every report.
type Step struct {
	Name string // needed, but for Think
	// Do is what it does: [Request], [Socket], [Procedure], [Think], or an [ActionFunc] of your own.
	Do Action
	// When and Unless are names: the step is left out if When has no value, or Unless has one.
	// Null and an empty list are none.
	When, Unless string
	// Each makes a call for each element of a list.
	Each *Each
	// Gives are the names that an ActionFunc sets, so that later steps may use them.
	Gives []string
	// Retry calls again where what is to be taken from the answer is not there.
	Retry Retry
}

// An Action is what a step does: a [Request], [Socket], [Procedure], [Think] or [ActionFunc].
type Action interface {
	// compile looks for mistakes, and makes the step ready.
	compile(c *compilation, to *planned) error
}

// A caller makes a step's calls.
type caller interface {
	call(ctx context.Context, c *Call) error
}

// An ActionFunc is an Action of your own. [Run] calls it once for each call of each session, from many
// goroutines at once; it returns when the answer is complete. An error ends the session as failed,
// and counts under its [KindOf].
type ActionFunc func(ctx context.Context, c *Call) error

func (f ActionFunc) compile(_ *compilation, to *planned) error {
	to.caller = f
	return nil
}

func (f ActionFunc) call(ctx context.Context, c *Call) error { return f(ctx, c) }

// Each makes a call for each element of a list.
type Each struct {
	Item     string // what the element is called in the call
	List     string // the name of the list
	First    int    // at most so many; 0 is all
	Parallel bool   // all at once, and not one after the other
}

// Retry calls again. The zero value never does.
type Retry struct {
	Times int           // after the first call
	Wait  time.Duration // before each
}

// Think is a user who thinks: a pause that is drawn from a lognormal distribution. It is no
// request, and counts for the session alone.
type Think struct {
	Median time.Duration // more than 0
	P95    time.Duration // 0 is Median: always the same
}

// z95 is how many standard deviations the 95th percentile of a normal distribution is from its
// mean.
const z95 = 1.6448536269514722

func (t Think) draw(s *Session) time.Duration {
	if t.P95 == 0 || t.P95 == t.Median {
		return t.Median
	}
	sigma := math.Log(float64(t.P95)/float64(t.Median)) / z95
	return time.Duration(float64(t.Median) * math.Exp(sigma*s.Rand().NormFloat64()))
}

func (t Think) compile(c *compilation, to *planned) error {
	if t.Median <= 0 || t.P95 != 0 && t.P95 < t.Median || max(t.Median, t.P95) > mostDuration {
		return at(c.where+".think", "thinking of median %v and P95 %v: give a median of more than 0s, and a p95 that is not less", t.Median, t.P95)
	}
	to.think = t
	return nil
}

// A compilation is the state of Scenario.compile.
type compilation struct {
	scenario *Scenario
	where    string
	known    map[string]bool // the names that have a value, or may have one
	basic    string          // the Authorization of the target's URL, if it has one
}

// A plan is a scenario that was found to be valid.
type plan struct {
	Scenario
	steps        []planned // the session
	scheme, host string    // of the target, as in its URL
	address      string    // the target's host and port
	base         string    // the target's path
	basic        string    // the Authorization of the target's URL
}

// A planned is a step that is ready.
type planned struct {
	Step
	caller       // nil if it thinks
	think  Think // and makes no call
}

// compile validates the scenario and makes its steps ready.
func (s Scenario) compile() (*plan, error) {
	s = s.withDefaults()
	target, err := s.validate()
	if err != nil {
		return nil, err
	}
	c := compilation{scenario: &s, known: map[string]bool{}, basic: basic(target.User)}
	for _, d := range s.Data {
		if !isName(d.Name) || c.known[d.Name] {
			return nil, at("data."+d.Name, "%q: give each its own name of letters, digits, - and _", d.Name)
		}
		c.known[d.Name] = true
	}
	names := map[string]bool{}
	var steps []planned
	for i, step := range s.Session {
		c.where = fmt.Sprintf("session[%d]", i)
		steps = append(steps, planned{Step: step})
		if err := c.step(&steps[i]); err != nil {
			return nil, err
		}
		if steps[i].caller == nil {
			continue
		}
		if step.Name == "" || step.Name == sessionName || names[step.Name] {
			return nil, at(c.where+".name", "%q: give each step a name of its own, other than %q", step.Name, sessionName)
		}
		names[step.Name] = true
	}
	if err := s.validateConditions(names); err != nil {
		return nil, err
	}
	return &plan{Scenario: s, steps: steps, address: hostPort(target), scheme: target.Scheme, host: target.Host, base: strings.TrimSuffix(target.EscapedPath(), "/"), basic: c.basic}, nil
}

// basic returns the Authorization that stands before the host of a URL, as curl sends it.
func basic(user *url.Userinfo) string {
	if user == nil {
		return ""
	}
	password, _ := user.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func (c *compilation) step(s *planned) error {
	where := c.where
	for field, name := range map[string]string{"when": s.When, "unless": s.Unless} {
		if name != "" {
			if err := c.knows(where+"."+field, name); err != nil {
				return err
			}
		}
	}
	if s.Retry.Times < 0 || s.Retry.Times > 1000 || s.Retry.Wait < 0 || s.Retry.Wait > mostDuration {
		return at(where+".retry", "%d times with a wait of %v: give 1 to 1000 times and a wait from 0s", s.Retry.Times, s.Retry.Wait)
	}
	if e := s.Each; e != nil {
		if err := c.knows(where+".each", e.List); err != nil {
			return err
		}
		if e.First < 0 {
			return at(where+".each.first", "the first %d: give 1 or more", e.First)
		}
		if !isName(e.Item) || c.known[e.Item] {
			return at(where+".each", "%q: give the element a name that nothing else has", e.Item)
		}
		c.known[e.Item] = true
		defer delete(c.known, e.Item)
	}
	for _, name := range s.Gives {
		c.known[name] = true
	}
	if s.Do == nil {
		return at(where, "it does nothing: give it get, post, websocket, grpc or think")
	}
	return s.Do.compile(c, s)
}

// knows returns an error that lists the known names if this is none of them.
func (c *compilation) knows(where, name string) error {
	if c.known[name] {
		return nil
	}
	return at(where, "nothing gives ${%s}: known here are %s", name, listed(c.known))
}

// template parses a text and wants all of its names to be known.
func (c *compilation) template(field, text string) (template, error) {
	return c.templateAt(c.where+field, text)
}

func (c *compilation) templateAt(where, text string) (template, error) {
	t, err := parseTemplate(text)
	if err != nil {
		return t, at(where, "%v", err)
	}
	return t, c.allKnown(where, t.names())
}

func (c *compilation) tree(field string, v any) (tree, error) {
	t, err := parseTree(v)
	if err != nil {
		return t, at(c.where+field, "%v", err)
	}
	return t, c.allKnown(c.where+field, t.names())
}

func (c *compilation) allKnown(where string, names []string) error {
	for _, name := range names {
		if err := c.knows(where, name); err != nil {
			return err
		}
	}
	return nil
}

// listed returns the names in order, or that there are none.
func listed(names map[string]bool) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

package sessionlog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A step is the states of one kind that come as the first, second, ... of it in a session.
type step struct {
	name   string
	calls  [][]*Request // of each session; nil for those that do not have it
	place  float64      // mean, in a session
	had    int          // sessions that have it
	gaps   []time.Duration
	counts []int // how many calls each has
	sample *Request

	when, unless string
	variables    []*variable
	each         string // the list whose items it asks for
}

// rare is the share of the sessions below which a step is left out.
const rare = 0.005

// steps returns the steps of the sessions in order, and what was left out of them.
func (f *Features) steps() (steps []*step, left []string) {
	type key struct {
		kind string
		nth  int
	}
	byKey := map[key]*step{}
	for i, session := range f.sessions {
		for place, state := range session {
			k := key{state.kind, state.nth}
			s := byKey[k]
			if s == nil {
				s = &step{name: state.kind, calls: make([][]*Request, len(f.sessions))}
				if state.nth > 0 {
					s.name += " " + strconv.Itoa(state.nth+1)
				}
				byKey[k] = s
			}
			s.calls[i] = state.calls
			s.place += float64(place)
			s.had++
			s.counts = append(s.counts, len(state.calls))
			if place > 0 {
				s.gaps = append(s.gaps, state.gap)
			}
		}
	}
	for _, s := range byKey {
		s.place /= float64(s.had)
		s.sample = sampleOf(s.calls)
		switch {
		case float64(s.had) < rare*float64(len(f.sessions)):
			left = append(left, s.name+": only "+strconv.Itoa(s.had)+" sessions have it")
		case s.sample.Protocol != grpc && s.sample.Protocol != webSocket && !slices.Contains(methods, s.sample.Method):
			left = append(left, s.name+": no step has the method "+strconv.Quote(s.sample.Method))
		case !strings.HasPrefix(s.sample.Path, "/"):
			left = append(left, s.name+": the log has no path of it")
		default:
			steps = append(steps, s)
		}
	}
	slices.Sort(left)
	slices.SortFunc(steps, func(a, b *step) int {
		return cmp.Or(cmp.Compare(a.place, b.place), strings.Compare(a.name, b.name))
	})
	return steps, left
}

var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}

// sampleOf returns the first request that did not fail and whose body is known, as far as there is
// one.
func sampleOf(calls [][]*Request) *Request {
	var best *Request
	rank := -1
	for _, requests := range calls {
		for _, r := range requests {
			n := 0
			if !r.Failed {
				n += 2
			}
			if r.Body != "" || r.Hex != "" || r.Sent == 0 {
				n++
			}
			if n > rank {
				best, rank = r, n
			}
		}
	}
	return best
}

// times is how many calls the step makes at once, as the median.
func (s *step) times() int { return sortedQuantile(slices.Clone(s.counts), 0.5) }

// same is the share of the sessions in which two steps must agree to have one condition.
const same = 0.98

// conditions says which sessions have which step. It returns the share of each name.
func conditions(steps []*step, sessions int, name func(string) string) (names []string, shares map[string]float64) {
	shares = map[string]float64{}
	var named []*step
	for _, s := range steps {
		if float64(s.had) >= same*float64(sessions) {
			continue
		}
		for _, o := range named {
			agree := 0
			for i := range s.calls {
				if (s.calls[i] == nil) == (o.calls[i] == nil) {
					agree++
				}
			}
			if share := float64(agree) / float64(sessions); share >= same {
				s.when = o.when
			} else if share <= 1-same {
				s.unless = o.when
			}
		}
		if s.when == "" && s.unless == "" {
			s.when = name("has " + s.name)
			named = append(named, s)
			names = append(names, s.when)
			shares[s.when] = float64(s.had) / float64(sessions)
		}
	}
	return names, shares
}

// A datum is what a session draws under a name.
type datum struct {
	name     string
	values   [][]string // of each session
	distinct []string   // set by settle
	times    int        // more than 1: it is a list
	text     bool       // a text, also where it looks like a number
}

// matches reports whether a variable has the same value in every session that has both.
func (d *datum) matches(v *variable) bool {
	both, different := 0, map[string]bool{}
	for i, values := range v.values {
		if len(values) == 0 || len(d.values[i]) == 0 {
			continue
		}
		if values[0] != d.values[i][0] {
			return false
		}
		both++
		different[values[0]] = true
	}
	return both > 0 && len(different) > 1
}

// add takes over the values of a variable.
func (d *datum) add(v *variable) {
	v.data = d
	d.text = d.text || v.text
	for i, values := range v.values {
		if len(d.values[i]) == 0 || d.times > 1 {
			d.values[i] = append(d.values[i], values...)
		}
	}
}

// data finds the variables of all steps, and gives those that are the same one name.
func data(steps []*step, name func(string) string) []*datum {
	var all []*datum
	for _, s := range steps {
		s.variables = variables(s.calls, s.sample)
		times := s.times()
		for _, v := range s.variables {
			if times > 1 && v.several {
				s.item(v, times, &all, name)
				continue
			}
			i := slices.IndexFunc(all, func(d *datum) bool { return d.times == 1 && d.matches(v) })
			if i < 0 {
				i = len(all)
				all = append(all, &datum{name: name(v.called(s)), values: make([][]string, len(v.values)), times: 1})
			}
			all[i].add(v)
		}
		if times > 1 && s.each == "" { // it asks for the same several times
			turns := &datum{name: name(s.name + " turns"), times: times}
			for i := range times {
				turns.distinct = append(turns.distinct, strconv.Itoa(i+1))
			}
			all = append(all, turns)
			s.each = turns.name
		}
	}
	for _, d := range all {
		d.settle()
	}
	return all
}

// item makes a variable the item of the step's list. A step has one list: a second variable that
// differs between the calls of a session stays as the sample has it.
func (s *step) item(v *variable, times int, all *[]*datum, name func(string) string) {
	if s.each != "" {
		return
	}
	d := &datum{name: name(v.called(s) + "s"), values: make([][]string, len(v.values)), times: times}
	d.add(v)
	v.item = true
	*all = append(*all, d)
	s.each = d.name
}

// called is what the value of a variable is called.
func (v *variable) called(s *step) string {
	if v.name != "" {
		return v.name
	}
	return s.name + " id"
}

func (d *datum) settle() {
	if d.distinct != nil {
		return
	}
	for _, values := range d.values {
		d.distinct = append(d.distinct, values...)
	}
	slices.Sort(d.distinct)
	d.distinct = slices.Compact(d.distinct)
}

// sparse is how many whole numbers there may be in a range for each that the log has. Of a range
// with more, most would be nobody's.
const sparse = 1000

// integers returns the range of a datum that is whole numbers.
func (d *datum) integers() (low, high int64, ok bool) {
	if d.text || !whole(d.distinct) {
		return 0, 0, false
	}
	for i, v := range d.distinct {
		n, _ := strconv.ParseInt(v, 10, 64)
		if i == 0 {
			low, high = n, n
		}
		low, high = min(low, n), max(high, n)
	}
	return low, high, high-low < sparse*int64(len(d.distinct))
}

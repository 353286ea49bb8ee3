//go:build dewpond_explore

package main

// The search runs a scenario again and again, each time with another schedule,
// until every interleaving has been covered. Interleavings that differ only in the
// order of independent accesses are the same to the engine, so one of each kind is
// enough: dynamic partial-order reduction (C. Flanagan and P. Godefroid, POPL
// 2005), with sleep sets (P. Godefroid, 1996).

// A frame is one position of the schedule that is being worked on.
type frame struct {
	enabled   uint // threads that could step here
	backtrack uint // that must be tried here
	done      uint // that have been
	sleep     uint // that need not: what they would do was covered before
	chosen    int
}

type search struct {
	scenario   scenario
	frames     []frame
	executions int
	pruned     int // executions that turned out to be covered
	steps      int
}

// A finding is the first execution that went wrong.
type finding struct {
	what     string
	schedule string
}

// explore runs the scenario through all interleavings, or until one goes wrong, or
// limit executions (0: no limit). complete says whether it saw all.
func (s *search) explore(limit int, progress func(executions int)) (found *finding, complete bool) {
	for {
		w := newWorld(s.scenario)
		covered := s.execute(w)
		s.executions++
		s.steps += len(w.run.trace)
		if covered {
			s.pruned++
		} else {
			w.check()
		}
		if what := w.run.failure; what != "" {
			return &finding{what, w.run.schedule()}, false
		}
		w.run.end()
		if !s.next() {
			return nil, true
		}
		if limit > 0 && s.executions >= limit {
			return nil, false
		}
		progress(s.executions)
	}
}

// execute replays the frames' choices and then goes on to the end. It returns true
// if everything that could have followed was covered before.
func (s *search) execute(w *world) (covered bool) {
	r := w.run
	replay := len(s.frames)
	var sleep uint
	for depth := 0; r.failure == ""; depth++ {
		enabled := r.enabled()
		if enabled == 0 {
			for p, t := range r.threads {
				if !t.done {
					r.fail("deadlock: thread %d waits for ever", p)
				}
			}
			return false
		}
		if depth >= replay {
			s.frames = append(s.frames, frame{enabled: enabled, sleep: sleep})
		}
		if depth >= replay-1 {
			s.findRaces(r, depth)
		}
		f := &s.frames[depth]
		if depth >= replay {
			awake := enabled &^ sleep
			if awake == 0 {
				s.frames = s.frames[:depth]
				return true
			}
			f.chosen = lowest(awake)
			if n := len(r.trace); n > 0 && awake>>r.trace[n-1].thread&1 == 1 {
				f.chosen = r.trace[n-1].thread // stay with who ran last
			}
			f.backtrack |= 1 << f.chosen
		}
		sleep = 0
		for p, t := range r.threads {
			if (f.sleep|f.done)>>p&1 == 1 && p != f.chosen && !t.done && !t.pending.dependent(r.threads[f.chosen].pending) {
				sleep |= 1 << p
			}
		}
		if len(r.trace) > 5000 {
			r.fail("no end after %d steps", len(r.trace))
			return false
		}
		r.step(f.chosen)
	}
	return false
}

// findRaces looks for each thread's next access at the last earlier step that it
// depends on and that did not have to come before it: there, the thread must be
// tried instead.
func (s *search) findRaces(r *run, depth int) {
	for p, t := range r.threads {
		if t.done {
			continue
		}
		for i := depth - 1; i >= 0; i-- {
			e := r.trace[i]
			if e.thread == p || !e.access.dependent(t.pending) || e.index <= t.clock[e.thread] {
				continue
			}
			if f := &s.frames[i]; f.enabled>>p&1 == 1 {
				f.backtrack |= 1 << p
			} else {
				f.backtrack |= f.enabled
			}
			break
		}
	}
}

// next goes back to the last position where something is left to try.
func (s *search) next() bool {
	for len(s.frames) > 0 {
		f := &s.frames[len(s.frames)-1]
		f.done |= 1 << f.chosen
		if left := f.backtrack &^ f.done &^ f.sleep; left != 0 {
			f.chosen = lowest(left)
			return true
		}
		s.frames = s.frames[:len(s.frames)-1]
	}
	return false
}

//go:build !dewpond_explore

package late

// Finish calls step until it returns false, and goes on after a call that panics or that ends
// the goroutine by [runtime.Goexit], as a test's FailNow does. So step must get further each
// time before it calls what may do that. Finish panics as the first call did.
func Finish(step func() (more bool)) {
	var first any
	for {
		r, ended := try(step)
		if first == nil {
			first = r
		}
		if ended {
			break
		}
	}
	if first != nil {
		panic(first)
	}
}

// try calls step until it returns false or panics.
func try(step func() (more bool)) (panicked any, ended bool) {
	defer func() {
		if ended {
			return
		}
		if panicked = recover(); panicked == nil {
			Finish(step) // in Goexit, after which nothing but deferred calls runs
		}
	}()
	for step() {
	}
	return nil, true
}

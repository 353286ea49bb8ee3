//go:build dewpond_portable && !dewpond_explore

package percpu

// why says why this is the portable engine.
const why = "built with dewpond_portable"

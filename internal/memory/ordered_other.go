//go:build !((amd64 || 386) && gc && !race)

package memory

// OrderedStores is false: no argument is known for these processors and compilers.
const OrderedStores = false

//go:build !((amd64 || 386) && gc && !race)

package memory

// OrderedStores: not that anybody here knows.
const OrderedStores = false

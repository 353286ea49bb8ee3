package standin

import (
	"cmp"
	"slices"
	"sync"

	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// A database holds in maps what a real one holds in tables.
type database struct {
	mu       sync.RWMutex // held for one statement
	users    map[int64]store.User
	regions  map[string][]int64 // by region, ascending: a user stays in one
	popular  map[string][]int64
	messages []store.Message // by id, which is the place + 1
	once     map[[2]int64]int64
	photos   map[int64][]byte
}

func newDatabase() *database {
	d := &database{
		users: map[int64]store.User{}, regions: map[string][]int64{}, popular: map[string][]int64{},
		once: map[[2]int64]int64{}, photos: map[int64][]byte{},
	}
	for uid := int64(1); uid <= store.Users; uid++ {
		u := store.Seeded(uid)
		d.users[uid] = u
		d.regions[u.Region] = append(d.regions[u.Region], uid)
	}
	for region, uids := range d.regions {
		popular := slices.Clone(uids)
		slices.SortStableFunc(popular, func(a, b int64) int {
			return cmp.Compare(d.users[b].Popularity, d.users[a].Popularity)
		})
		d.popular[region] = popular
	}
	return d
}

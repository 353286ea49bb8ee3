package store

import "math/rand/v2"

// Users is how many users every database begins with. Their uids are 1 to Users.
const Users = 20_000

// The regions that users live in.
const (
	East    = "cn-east"
	West    = "us-west"
	central = "eu-central"
)

// RegionOf is the region of a user: a uid is given out there, and its last digit says where.
func RegionOf(uid int64) string {
	switch uid % 10 {
	case 0, 1, 2, 3, 4:
		return East
	case 5, 6, 7:
		return West
	}
	return central
}

// Seeded returns a user as every database begins with, the same everywhere. One user in 20 is so
// choosy that nobody will do.
func Seeded(uid int64) User {
	r := rand.New(rand.NewPCG(20_260_101, uint64(uid)))
	u := User{UID: uid, Region: RegionOf(uid), Name: name(r), Age: 18 + r.Int32N(42), Version: 1}
	for range 6 {
		u.Interests |= 1 << r.Int32N(24)
	}
	u.MinAge, u.MaxAge = max(18, u.Age-8), u.Age+8
	u.Popularity = int32(1e6 / (1 + r.ExpFloat64()*1000))
	if uid%20 == 0 {
		u.MinAge, u.MaxAge = 100, 100
	}
	return u
}

var syllables = []string{"ma", "rin", "ko", "le", "tha", "vis", "on", "bel", "da", "ri", "su", "no", "ek", "li", "ar", "wen"}

// name makes up a name of three words.
func name(r *rand.Rand) string {
	var b []byte
	for word := range 3 {
		if word > 0 {
			b = append(b, ' ')
		}
		start := len(b)
		for range 3 + r.IntN(3) {
			b = append(b, syllables[r.IntN(len(syllables))]...)
		}
		b[start] -= 'a' - 'A'
	}
	return string(b)
}

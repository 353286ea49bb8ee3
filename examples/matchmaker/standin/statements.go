package standin

import (
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// A statement is one that the stand-in knows, with what a real server says of it.
type statement struct {
	args    []uint32 // types
	columns []column
	tag     string // of what it has done; SELECT's is followed by the number of rows
	run     func(d *database, args []any) (rows [][]any, fault *fault)
}

type column struct {
	name string
	oid  uint32
}

// A fault is an error as a server sends it.
type fault struct{ code, message string }

const (
	int4, int8, text, bytea = pgtype.Int4OID, pgtype.Int8OID, pgtype.TextOID, pgtype.ByteaOID
)

var userColumns = []column{
	{"uid", int8}, {"name", text}, {"age", int4}, {"region", text}, {"interests", int8},
	{"min_age", int4}, {"max_age", int4}, {"popularity", int4}, {"version", int8},
}

func userRow(u store.User) []any {
	return []any{u.UID, u.Name, u.Age, u.Region, u.Interests, u.MinAge, u.MaxAge, u.Popularity, u.Version}
}

// statements are all that the service asks.
var statements = map[string]statement{
	store.SelectVersion: {nil, []column{{"version", int4}}, "SELECT", func(*database, []any) ([][]any, *fault) {
		return [][]any{{int32(store.SchemaVersion)}}, nil
	}},
	store.SelectUser:       {[]uint32{int8}, userColumns, "SELECT", (*database).user},
	store.UpdateUser:       {[]uint32{int8, text, int4, int8, int4, int4}, userColumns, "UPDATE", (*database).updateUser},
	store.SelectCandidates: {[]uint32{text, int4, int4, int8, int8}, []column{{"uid", int8}, {"name", text}, {"age", int4}, {"interests", int8}}, "SELECT", (*database).candidates},
	store.SelectPopular:    {[]uint32{text, int8}, []column{{"uid", int8}}, "SELECT", (*database).mostPopular},
	store.InsertMessage:    {[]uint32{int8, int8, int8, int8, text}, []column{{"id", int8}}, "INSERT 0", (*database).insertMessage},
	store.SelectMessages: {[]uint32{int8, int8, int8}, []column{
		{"id", int8}, {"sender", int8}, {"recipient", int8}, {"seq", int8}, {"nonce", int8}, {"body", text},
	}, "SELECT", (*database).between},
	store.UpsertPhoto: {[]uint32{int8, bytea}, nil, "INSERT 0", (*database).upsertPhoto},
	store.SelectPhoto: {[]uint32{int8}, []column{{"jpeg", bytea}}, "SELECT", (*database).photo},
}

func (d *database) user(args []any) ([][]any, *fault) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	u, ok := d.users[args[0].(int64)]
	if !ok {
		return nil, nil
	}
	return [][]any{userRow(u)}, nil
}

func (d *database) updateUser(args []any) ([][]any, *fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u, ok := d.users[args[0].(int64)]
	if !ok {
		return nil, nil
	}
	u.Name, u.Age, u.Interests = args[1].(string), args[2].(int32), args[3].(int64)
	u.MinAge, u.MaxAge = args[4].(int32), args[5].(int32)
	u.Version++
	d.users[u.UID] = u
	return [][]any{userRow(u)}, nil
}

func (d *database) candidates(args []any) (rows [][]any, _ *fault) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	uids := d.regions[args[0].(string)]
	youngest, oldest, most := args[1].(int32), args[2].(int32), args[4].(int64)
	from, found := slices.BinarySearch(uids, args[3].(int64))
	if found {
		from++
	}
	for _, uid := range uids[from:] {
		if int64(len(rows)) == most {
			break
		}
		if u := d.users[uid]; u.Age >= youngest && u.Age <= oldest {
			rows = append(rows, []any{u.UID, u.Name, u.Age, u.Interests})
		}
	}
	return rows, nil
}

func (d *database) mostPopular(args []any) (rows [][]any, _ *fault) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	uids := d.popular[args[0].(string)]
	for _, uid := range uids[:min(int64(len(uids)), args[1].(int64))] {
		rows = append(rows, []any{uid})
	}
	return rows, nil
}

func (d *database) insertMessage(args []any) ([][]any, *fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := store.Message{From: args[0].(int64), To: args[1].(int64), Seq: args[2].(int64), Nonce: args[3].(int64), Text: args[4].(string)}
	for _, uid := range []int64{m.From, m.To} {
		if _, ok := d.users[uid]; !ok {
			return nil, &fault{"23503", "insert or update on table \"messages\" violates a foreign key constraint"}
		}
	}
	key := [2]int64{m.From, m.Nonce}
	if id, ok := d.once[key]; ok && m.Nonce != 0 {
		return [][]any{{id}}, nil
	}
	m.ID = int64(len(d.messages)) + 1
	d.messages = append(d.messages, m)
	if m.Nonce != 0 {
		d.once[key] = m.ID
	}
	return [][]any{{m.ID}}, nil
}

func (d *database) between(args []any) (rows [][]any, _ *fault) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	a, b, most := args[0].(int64), args[1].(int64), args[2].(int64)
	for _, m := range slices.Backward(d.messages) {
		if int64(len(rows)) == most {
			break
		}
		if m.From == a && m.To == b || m.From == b && m.To == a {
			rows = append(rows, []any{m.ID, m.From, m.To, m.Seq, m.Nonce, m.Text})
		}
	}
	return rows, nil
}

func (d *database) upsertPhoto(args []any) ([][]any, *fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	uid := args[0].(int64)
	if _, ok := d.users[uid]; !ok {
		return nil, &fault{"23503", "insert or update on table \"photos\" violates a foreign key constraint"}
	}
	d.photos[uid] = args[1].([]byte)
	return nil, nil
}

func (d *database) photo(args []any) ([][]any, *fault) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	jpeg, ok := d.photos[args[0].(int64)]
	if !ok {
		return nil, nil
	}
	return [][]any{{jpeg}}, nil
}

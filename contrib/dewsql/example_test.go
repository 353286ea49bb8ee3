package dewsql_test

import (
	"database/sql"
	"fmt"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewsql"
)

func Example() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "rows"})
	reader := dewsql.New(pool) // for each statement

	read := func(db *sql.DB) error {
		rows, err := db.Query("SELECT id, symbol FROM orders")
		if err != nil {
			return err
		}
		defer rows.Close()
		for more := true; more; {
			batch, err := reader.Read(rows, 1000)
			if err != nil {
				return err
			}
			for i := range batch.Len() {
				row := batch.Row(i)
				fmt.Printf("%s: %s\n", row[0], row[1])
			}
			more = batch.Len() > 0
			batch.Close()
		}
		return nil
	}
	_ = read
}

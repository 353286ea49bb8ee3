// Command poolvet finds misuse of pools in Go code: of sync.Pool, of dewpond's pools, and
// of what wraps them.
//
//	poolvet ./...                               by itself
//	go vet -vettool=$(which poolvet) ./...      as a part of go vet
//
// poolvet -h lists the checks.
package main

import (
	"os"

	"github.com/dewpond/dewpond/poolvet/internal/driver"
)

func main() { os.Exit(driver.Main(os.Args[1:])) }

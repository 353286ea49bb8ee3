package guardpage

import (
	"fmt"
	"os"
	"sync"

	"github.com/dewpond/dewpond/misuse"
)

// tallied is the file that DEWPOND_TALLY names, which several processes append to.
var tallied = sync.OnceValue(func() *os.File {
	f, err := os.OpenFile(os.Getenv("DEWPOND_TALLY"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	return f
})

func tallySample() { fmt.Fprintln(tallied(), "sample") }

func tallyUse(v misuse.Violation) { fmt.Fprintf(tallied(), "use\n%v\n", v) }

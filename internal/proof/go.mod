module github.com/dewpond/dewpond/internal/proof

go 1.26

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/dewpond/dewpond v0.0.0
	go.uber.org/goleak v1.3.0
	pgregory.net/rapid v1.3.0
)

replace github.com/dewpond/dewpond => ../..

module github.com/dewpond/dewpond/contrib/dewarrow

go 1.26.0

require github.com/dewpond/dewpond v0.0.0

require (
	github.com/apache/arrow-go/v18 v18.8.0
	golang.org/x/sys v0.47.0 // indirect
)

replace github.com/dewpond/dewpond => ../..

module github.com/dewpond/dewpond/contrib/dewproto

go 1.26.0

require (
	github.com/dewpond/dewpond v0.0.0
	google.golang.org/protobuf v1.36.12
)

replace github.com/dewpond/dewpond => ../..

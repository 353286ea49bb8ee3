module github.com/dewpond/dewpond/contrib/dewstatsviz

go 1.26.0

require (
	github.com/arl/statsviz v0.8.2
	github.com/dewpond/dewpond v0.0.0
	github.com/gorilla/websocket v1.5.3
)

replace github.com/dewpond/dewpond => ../..

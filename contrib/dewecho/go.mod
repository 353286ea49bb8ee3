module github.com/dewpond/dewpond/contrib/dewecho

go 1.26.0

require (
	github.com/dewpond/dewpond v0.0.0
	github.com/dewpond/dewpond/contrib/dewhttp v0.0.0
)

require github.com/labstack/echo/v5 v5.3.1

replace (
	github.com/dewpond/dewpond => ../..
	github.com/dewpond/dewpond/contrib/dewhttp => ../../contrib/dewhttp
)

module github.com/dewpond/dewpond

go 1.24.0

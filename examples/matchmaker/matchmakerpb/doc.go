// Package matchmakerpb is generated from matchmaker.proto, with protoc and the plugins
// google.golang.org/protobuf/cmd/protoc-gen-go and google.golang.org/grpc/cmd/protoc-gen-go-grpc.
package matchmakerpb

//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative matchmaker.proto

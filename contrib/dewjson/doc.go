// Package dewjson encodes JSON into blocks of a pool and decodes it from them. What it
// encodes is a [Body], whose bytes are valid until its owner gives it back. It uses
// encoding/json, and for MarshalV2 and UnmarshalV2 encoding/json/v2, which Go 1.26 has with
// GOEXPERIMENT=jsonv2.
package dewjson

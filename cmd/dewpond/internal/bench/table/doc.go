// Package table arranges a document in tables, the same ones for every format. layout.go has their
// order.
package table

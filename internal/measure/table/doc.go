// Package table arranges a document in tables, for text and HTML alike. layout.go has their
// order.
package table

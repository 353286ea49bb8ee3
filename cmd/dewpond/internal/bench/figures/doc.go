// Package figures finds the figures of a document by their names, in the order in which reports have
// them.
package figures

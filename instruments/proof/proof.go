// Package proof tests the engine where it is delicate. Its README says how to read the
// findings. The explorer itself is the command explore, built with the tag
// dewpond_explore; this package runs it, on the engine as it is and on mutants.
package proof

// Package experiment is the frame of the lab: what an experiment is, what it measures, and how
// its figures become a verdict on what a publication claims.
//
// An [Experiment] has cases, which take turns, each round in a process of its own. A case sets
// figures on its [Run]. All of them are a [Measured], from which each [Claim] is judged by a pure
// function, so that a test can hand it figures that are made up.
package experiment

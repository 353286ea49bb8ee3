// Package digest summarizes measured rounds as a [bench.Document]:
//
//   - series.go groups the rounds by contender, with each round's own numbers (rate,
//     percentiles, costs of an operation);
//   - percentile.go decides which percentiles have enough samples to be shown;
//   - paired.go pairs contenders round by round, for package summary's medians with their
//     confidence intervals.
package digest

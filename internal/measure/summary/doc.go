// Package summary summarizes measured rounds as a [result.Document]:
//
//   - series.go groups the rounds by contender, with each round's own numbers (rate,
//     percentiles, costs of an operation);
//   - percentile.go decides which percentiles have enough samples to be shown;
//   - interval.go pairs contenders round by round, and computes medians with confidence
//     intervals;
//   - trend.go fits a line through samples over time.
package summary

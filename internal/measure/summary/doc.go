// Package summary folds measured rounds into a result.Document:
//
//   - series.go groups the rounds by contender, with each round's own numbers (rate,
//     percentiles, costs of an operation);
//   - percentile.go decides which percentiles have enough samples to be said;
//   - interval.go pairs contenders round by round, for a median with the interval that
//     it deserves;
//   - trend.go fits a line through samples over time.
package summary

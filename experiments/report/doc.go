// Package report turns finished runs into what a reader wants to see: tables
// beside the paper's numbers, and figures.
//
// Accuracies are in percent here, as the paper prints them; results hold
// fractions of 1. The best epoch is chosen on target labels, which a user does
// not have, so every table shows the last epoch beside it.
package report
